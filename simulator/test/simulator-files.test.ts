import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Loose } from '../../server/test/support/channels/rigs.ts'
import { simulatorWorld } from '../../server/test/support/channels/simulator.ts'

const w = await simulatorWorld()
const { simulator } = w
const { number, url } = simulator
const bearer = { authorization: `Bearer ${number.accessToken}` }
const fault = (body: object) => w.call('POST', '/simulator/faults', body)
const advance = (advanceMs: number) => w.call('POST', '/simulator/clock', { advanceMs })

interface Form {
  bytes?: Buffer
  type?: string
  fields?: Record<string, string>
  headers?: Record<string, string>
}

async function upload({ bytes = Buffer.from('%PDF-1.4 words'), type = 'application/pdf', ...form }: Form = {}) {
  const { fields = { messaging_product: 'whatsapp', type }, headers = bearer } = form
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.set(name, value)
  body.set('file', new Blob([new Uint8Array(bytes)], { type }), 'a "strange" ../name.pdf')
  const path = `/v25.0/${number.numberId}/media`
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body })
  return { status: answer.status, body: (await answer.json()) as Loose }
}

async function fetchBytes(address: string, headers: Record<string, string> = bearer) {
  const answer = await fetch(address, { headers })
  const type = answer.headers.get('content-type')
  return { status: answer.status, type, bytes: Buffer.from(await answer.arrayBuffer()) }
}

test('the address of an upload is valid for five minutes, needs the token, and the file expires after 30 days', async () => {
  const bytes = Buffer.from('%PDF-1.4 a receipt')
  const { id } = (await upload({ bytes })).body
  const { body: told } = await w.graph('GET', id)
  assert.partialDeepStrictEqual(told, { id, mime_type: 'application/pdf', file_size: bytes.length })
  assert.deepEqual(await fetchBytes(told.url), { status: 200, type: 'application/pdf', bytes })
  assert.equal((await fetchBytes(told.url, {})).status, 401)
  await advance(5 * 60_000 + 1000)
  assert.equal((await fetchBytes(told.url)).status, 404)
  await advance(30 * 86_400_000)
  assert.equal((await w.graph('GET', id)).body.error.error_subcode, 33)
})

const refusals: [what: string, form: Form, code: number][] = [
  ['without the product', { fields: { type: 'application/pdf' } }, 100],
  ['of no type that it knows', { type: 'application/zip' }, 100],
  ['that is empty', { bytes: Buffer.alloc(0) }, 131053],
  ['of more than 5 MB as a picture', { type: 'image/png', bytes: Buffer.alloc(5 * 1024 * 1024 + 1) }, 131053],
  ['of more than 500 kB as a sticker', { type: 'image/webp', bytes: Buffer.alloc(512_001) }, 131053],
  ['with a wrong token', { headers: { authorization: 'Bearer wrong' } }, 190],
]
test('an invalid file is refused with a code for the reason, and an invalid or truncated form with 100', async () => {
  for (const [what, form, code] of refusals) {
    const { status, body } = await upload(form)
    assert.deepEqual([status, body.error.code], [code === 190 ? 401 : 400, code], what)
  }
  for (const [type, body] of [
    ['application/json', '{}'],
    ['multipart/form-data', 'x'],
    ['multipart/form-data; boundary=x', '--xyz'],
  ] as const) {
    const path = `${url}/v25.0/${number.numberId}/media`
    const answer = await fetch(path, { method: 'POST', headers: { ...bearer, 'content-type': type }, body })
    assert.deepEqual([answer.status, ((await answer.json()) as Loose).error.code], [400, 100])
  }
})

test('faults of files affect metadata and bytes, and each fault is used up', async () => {
  const bytes = Buffer.from('0123456789'.repeat(50))
  const whole = { status: 200, type: 'application/pdf', bytes }
  const { body } = await upload({ bytes })
  const right = (await w.graph('GET', body.id)).body
  const told = async (effect: string) => {
    await fault({ effect, on: 'media' })
    return (await w.graph('GET', body.id)).body
  }
  assert.equal((await fetchBytes((await told('expired')).url)).status, 404)
  assert.equal((await told('not_found')).error.code, 100)
  assert.notEqual((await told('wrong_size')).file_size, right.file_size)
  assert.equal((await told('wrong_type')).mime_type, 'text/html')
  assert.notEqual((await told('wrong_hash')).sha256, right.sha256)
  const come = async (effect: string, more: object = {}) => {
    await fault({ effect, on: 'file', ...more })
    return fetchBytes(right.url)
  }
  assert.equal((await come('not_found')).status, 404)
  assert.equal((await come('wrong_size')).bytes.length, bytes.length / 2)
  assert.match((await come('wrong_type')).type ?? '', /^text\/html/)
  assert.ok(!(await come('wrong_hash')).bytes.equals(bytes))
  assert.deepEqual(await come('slow', { afterMs: 50 }), whole)
  await assert.rejects(come('reset'))
  assert.deepEqual(await fetchBytes(right.url), whole)

  await fault({ effect: 'endless' })
  const leaving = new AbortController()
  const answer = await fetch(right.url, { headers: bearer, signal: leaving.signal })
  let size = 0
  for await (const chunk of answer.body ?? []) {
    size += chunk.length
    if (size > 3_000_000) break
  }
  leaving.abort()
  assert.ok(size > 3_000_000)
})

async function told(id: string, body: object) {
  w.received.length = 0
  const { body: said } = await w.says(id, body)
  await simulator.settled()
  return { id: said.id, message: w.changes()[0].value.messages[0] }
}

async function fetched(mediaId: string) {
  const { body } = await w.graph('GET', mediaId)
  return { told: body, ...(await fetchBytes(body.url)) }
}

const signatures: [kind: string, type: string, signature: RegExp][] = [
  ['image', 'image', /^\xff\xd8\xff/],
  ['video', 'video', /^....ftyp/s],
  ['voice', 'audio', /^OggS/],
  ['audio', 'audio', /^OggS/],
  ['document', 'document', /^%PDF-1/],
  ['sticker', 'sticker', /^RIFF....WEBP/s],
]
test('each kind of customer file can be downloaded by its id and matches its metadata', async () => {
  const zoe = await w.customer()
  for (const [kind, type, signature] of signatures) {
    const content = (await told(zoe.id, { kind })).message[type]
    const { told: where, bytes } = await fetched(content.id)
    assert.match(bytes.toString('latin1'), signature)
    assert.equal(content.sha256, createHash('sha256').update(bytes).digest('base64'))
    assert.deepEqual([where.mime_type, where.file_size], [content.mime_type, bytes.length])
    if (type === 'audio') assert.equal(content.voice, kind === 'voice')
    const shown = (await w.chat(zoe.id)).at(-1)
    assert.deepEqual([shown.file.kind, shown.file.id], [kind, content.id])
  }
  const picture = await told(zoe.id, { kind: 'image', text: 'Lok' })
  const { edit } = (await told(zoe.id, { kind: 'edit', text: 'Look', about: picture.id })).message
  assert.deepEqual([edit.message.image.caption, edit.message.image.id], ['Look', picture.message.image.id])
  const made = await w.call('POST', '/simulator/files/made', { name: 'pdf', fileName: 'offer.pdf' })
  await w.call('POST', `/simulator/customers/${zoe.id}/echo`, { fileId: made.body.fileId, kind: 'document' })
  await simulator.settled()
  const { document } = w.changes().at(-1).value.message_echoes[0]
  assert.deepEqual([document.id, document.filename], [made.body.fileId, 'offer.pdf'])
  assert.equal((await w.call('POST', `/simulator/customers/${zoe.id}/echo`, {})).status, 422)
})

test('an uploaded file keeps its type, name and caption, is served in ranges, and is never shown inline if executable', async () => {
  const zoe = await w.customer()
  const bytes = Buffer.from('a;b\n1;2\n')
  const { body } = await w.uploadFile(bytes, { type: 'text/csv', name: 'Größen ✓.csv' })
  const { message } = await told(zoe.id, { kind: 'document', fileId: body.fileId, text: 'All sizes' })
  const { filename, caption, mime_type: mimeType, id } = message.document
  assert.deepEqual([filename, caption, mimeType], ['Größen ✓.csv', 'All sizes', 'text/csv'])
  assert.deepEqual((await fetched(id)).bytes, bytes)
  const shown = (fileId: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/simulator/files/${fileId}`, { headers })
  const named = (await shown(body.fileId)).headers.get('content-disposition')
  assert.match(named ?? '', /^attachment; filename\*=UTF-8''Gr%C3%B6/)
  for (const type of ['text/html', 'image/svg+xml', 'application/pdf', 'image/jpegx']) {
    const script = await w.uploadFile(Buffer.from('<script>alert(1)</script>'), { type })
    const { headers } = await shown(script.body.fileId)
    assert.match(headers.get('content-disposition') ?? '', /^attachment/, type)
    assert.match(headers.get('content-security-policy') ?? '', /sandbox/)
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
  }
  const sound = await w.uploadFile(Buffer.from('0123456789'), { type: 'audio/mpeg' })
  for (const [range, status, text] of [
    ['bytes=2-4', 206, '234'],
    ['bytes=7-', 206, '789'],
    ['bytes=0-99', 206, '0123456789'],
    ['bytes=20-', 200, '0123456789'],
    ['lines=1-2', 200, '0123456789'],
  ] as const) {
    const part = await shown(sound.body.fileId, { range })
    assert.deepEqual([part.status, await part.text()], [status, text], range)
  }
  assert.equal((await w.call('POST', '/simulator/files?type=image/png', {})).status, 422)
  assert.equal((await w.says(zoe.id, { kind: 'image', fileId: '1' })).status, 422)
  assert.equal((await shown('1')).status, 404)
})
