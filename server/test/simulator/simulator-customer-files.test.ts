import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { simulatorWorld } from '../support/channels/simulator.ts'

const w = await simulatorWorld()
const { simulator } = w
const { number } = simulator
const say = (id: string, body: object) => w.call('POST', `/simulator/customers/${id}/messages`, body)
const chatOf = async (id: string) => (await w.call('GET', `/simulator/customers/${id}`)).body.messages

async function told(id: string, body: object) {
  w.received.length = 0
  const { status, body: said } = await say(id, body)
  assert.equal(status, 201, JSON.stringify(said))
  await simulator.settled()
  return { id: said.id, message: w.changes()[0].value.messages[0] }
}

async function fetched(mediaId: string) {
  const { body } = await w.graph('GET', mediaId)
  const answer = await fetch(body.url, { headers: { authorization: `Bearer ${number.accessToken}` } })
  return { told: body, bytes: Buffer.from(await answer.arrayBuffer()) }
}

const bring = async (bytes: Buffer, query: Record<string, string>) => {
  const answer = await fetch(`${simulator.url}/simulator/files?${new URLSearchParams(query)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: new Uint8Array(bytes),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, string> }
}

const signatures: [string, string, RegExp][] = [
  ['image', 'image', /^\xff\xd8\xff/],
  ['video', 'video', /^....ftyp/s],
  ['voice', 'audio', /^OggS/],
  ['audio', 'audio', /^OggS/],
  ['document', 'document', /^%PDF-1/],
  ['sticker', 'sticker', /^RIFF....WEBP/s],
]
test('each kind of file can be fetched by its id, and is what was told', async () => {
  const zoe = await w.customer()
  for (const [kind, type, signature] of signatures) {
    const content = (await told(zoe.id, { kind })).message[type]
    const { told: where, bytes } = await fetched(content.id)
    assert.match(bytes.toString('latin1'), signature)
    assert.equal(content.sha256, createHash('sha256').update(bytes).digest('base64'))
    assert.deepEqual([where.mime_type, where.file_size], [content.mime_type, bytes.length])
    if (type === 'audio') assert.equal(content.voice, kind === 'voice')
    if (kind === 'document') assert.equal(content.filename, 'receipt.pdf')
    const shown = (await chatOf(zoe.id)).at(-1)
    assert.deepEqual([shown.file.kind, shown.file.id], [kind, content.id])
  }
})

test('a file from a disk goes with its own type, name and words', async () => {
  const zoe = await w.customer()
  const bytes = Buffer.from('a;b\n1;2\n')
  const { body } = await bring(bytes, { type: 'text/csv', name: 'Größen ✓.csv' })
  const { message } = await told(zoe.id, { kind: 'document', fileId: body.fileId, text: 'All sizes' })
  const { filename, caption, mime_type: mimeType, id } = message.document
  assert.deepEqual([filename, caption, mimeType], ['Größen ✓.csv', 'All sizes', 'text/csv'])
  assert.deepEqual((await fetched(id)).bytes, bytes)
  const shown = await fetch(`${simulator.url}/simulator/files/${body.fileId}`)
  assert.match(shown.headers.get('content-disposition') ?? '', /^attachment; filename\*=UTF-8''Gr%C3%B6/)
  assert.deepEqual(
    [shown.headers.get('content-type'), shown.headers.get('x-content-type-options')],
    ['application/octet-stream', 'nosniff'],
  )
})

test('what a page could run is saved and never shown, whatever type it says', async () => {
  for (const type of ['text/html', 'image/svg+xml', 'application/pdf', 'image/jpegx']) {
    const { body } = await bring(Buffer.from('<script>alert(1)</script>'), { type })
    const { headers } = await fetch(`${simulator.url}/simulator/files/${body.fileId}`)
    assert.match(headers.get('content-disposition') ?? '', /^attachment/, type)
    assert.match(headers.get('content-security-policy') ?? '', /sandbox/)
  }
})

test('a part of a file can be had, so that a sound can be wound', async () => {
  const { body } = await bring(Buffer.from('0123456789'), { type: 'audio/mpeg' })
  const part = async (range: string) => {
    const answer = await fetch(`${simulator.url}/simulator/files/${body.fileId}`, { headers: { range } })
    return [answer.status, answer.headers.get('content-range'), await answer.text()]
  }
  assert.deepEqual(await part('bytes=2-4'), [206, 'bytes 2-4/10', '234'])
  assert.deepEqual(await part('bytes=7-'), [206, 'bytes 7-9/10', '789'])
  assert.deepEqual(await part('bytes=0-99'), [206, 'bytes 0-9/10', '0123456789'])
  for (const odd of ['bytes=20-', 'bytes=-3', 'lines=1-2']) assert.deepEqual(await part(odd), [200, null, '0123456789'])
})

test('only bytes are taken for a file, and an unknown file is not sent', async () => {
  assert.equal((await w.call('POST', '/simulator/files?type=image/png', {})).status, 422)
  const zoe = await w.customer()
  assert.equal((await say(zoe.id, { kind: 'image', fileId: '1' })).status, 422)
  assert.equal((await w.call('GET', '/simulator/files/1')).status, 404)
})

test('the words below a picture are edited with the picture', async () => {
  const zoe = await w.customer()
  const picture = await told(zoe.id, { kind: 'image', text: 'Lok' })
  const { edit } = (await told(zoe.id, { kind: 'edit', text: 'Look', about: picture.id })).message
  const { id, sha256 } = picture.message.image
  assert.deepEqual([edit.message.type, edit.message.image.caption], ['image', 'Look'])
  assert.deepEqual([edit.message.image.id, edit.message.image.sha256], [id, sha256])
  const shown = (await chatOf(zoe.id)).at(-1)
  assert.deepEqual([shown.caption, shown.text, shown.isEdited], ['Look', '📷 Photo · Look', true])
})

test('what the business sends from its own phone can be a file', async () => {
  const zoe = await w.customer()
  const made = await w.call('POST', '/simulator/files/made', { name: 'pdf', fileName: 'offer.pdf' })
  await w.call('POST', `/simulator/customers/${zoe.id}/echo`, { fileId: made.body.fileId, kind: 'document' })
  await simulator.settled()
  const [echo] = w.changes()[0].value.message_echoes
  assert.deepEqual([echo.type, echo.document.id, echo.document.filename], ['document', made.body.fileId, 'offer.pdf'])
  assert.equal((await w.call('POST', `/simulator/customers/${zoe.id}/echo`, {})).status, 422)
})
