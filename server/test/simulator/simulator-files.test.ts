import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { newPartnerSide } from '../../src/simulator/world.ts'
import { simulatorWorld } from '../support/channels/simulator.ts'

const w = await simulatorWorld({ number: { partner: newPartnerSide() } })
const { simulator } = w
const { number, url } = simulator
const bearer = { authorization: `Bearer ${number.accessToken}` }
const partnerKey = { 'd360-api-key': number.partner?.apiKey ?? '' }
const fault = (body: object) => w.call('POST', '/simulator/faults', body)

interface Form {
  bytes?: Buffer
  type?: string
  fields?: Record<string, string>
  headers?: Record<string, string>
  path?: string
}

async function upload({ bytes = Buffer.from('%PDF-1.4 words'), type = 'application/pdf', ...form }: Form = {}) {
  const { fields = { messaging_product: 'whatsapp', type }, headers = bearer } = form
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.set(name, value)
  body.set('file', new Blob([new Uint8Array(bytes)], { type }), 'a "strange" ../name.pdf')
  const path = form.path ?? `/v25.0/${number.numberId}/media`
  const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  return { status: answer.status, body: (await answer.json()) as any }
}

async function fetchBytes(address: string, headers: Record<string, string> = bearer) {
  const answer = await fetch(address, { headers })
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    bytes: Buffer.from(await answer.arrayBuffer()),
  }
}

const advance = (advanceMs: number) => w.call('POST', '/simulator/clock', { advanceMs })

test('a file that is given is told of for five minutes, to the bearer alone, and is gone when removed or after 30 days', async () => {
  const bytes = Buffer.from('%PDF-1.4 a receipt')
  const { status, body } = await upload({ bytes })
  assert.deepEqual([status, Object.keys(body)], [200, ['id']])
  const { body: told } = await w.graph('GET', body.id)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  assert.deepEqual(
    [told.id, told.mime_type, told.sha256, told.file_size, told.messaging_product],
    [body.id, 'application/pdf', sha256, bytes.length, 'whatsapp'],
  )
  assert.deepEqual(await fetchBytes(told.url), { status: 200, type: 'application/pdf', bytes })
  assert.equal((await fetchBytes(told.url, {})).status, 401)
  assert.equal((await fetchBytes(told.url.replace(/hash=.*/, 'hash=none'))).status, 404)
  await advance(4 * 60_000)
  assert.equal((await fetchBytes(told.url)).status, 200)
  await advance(61_000)
  assert.equal((await fetchBytes(told.url)).status, 404)
  assert.equal((await w.graph('GET', `${body.id}?phone_number_id=999`)).body.error.error_subcode, 33)
  assert.deepEqual((await w.graph('DELETE', body.id)).body, { success: true })
  const gone = await w.graph('GET', body.id)
  assert.deepEqual([gone.status, gone.body.error.code, gone.body.error.error_subcode], [400, 100, 33])
  const { body: kept } = await upload()
  await advance(30 * 86_400_000 - 1000)
  assert.equal((await w.graph('GET', kept.id)).status, 200)
  await advance(1000)
  assert.equal((await w.graph('GET', kept.id)).body.error.error_subcode, 33)
})

const png = { type: 'image/png' }
const refusals: [string, Form, number, RegExp][] = [
  ['without the product', { fields: { type: 'application/pdf' } }, 100, /messaging_product is required/],
  ['of no type that it knows', { type: 'application/zip' }, 100, /one of the following types.*'application\/zip'/],
  ['that is empty', { bytes: Buffer.alloc(0) }, 131053, /upload/],
  ['of more than 5 MB as a picture', { ...png, bytes: Buffer.alloc(5 * 1024 * 1024 + 1) }, 131053, /upload/],
  ['of more than 500 kB as a sticker', { type: 'image/webp', bytes: Buffer.alloc(512_001) }, 131053, /upload/],
  ['with a wrong token', { headers: { authorization: 'Bearer wrong' } }, 190, /token/],
]
test('a file is refused with the code that says why', async () => {
  for (const [what, form, code, words] of refusals) {
    const { status, body } = await upload(form)
    assert.deepEqual([status, body.error.code], [code === 190 ? 401 : 400, code], what)
    assert.match(body.error.message, words)
  }
})

test('what is no form, or ends early, is refused with 100', async () => {
  const path = `/v25.0/${number.numberId}/media`
  for (const [type, body] of [
    ['application/json', '{}'],
    ['multipart/form-data', 'x'],
    ['multipart/form-data; boundary=x', '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc'],
    ['multipart/form-data; boundary=x', '--xyz'],
  ] as const) {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers: { ...bearer, 'content-type': type }, body })
    assert.deepEqual([answer.status, ((await answer.json()) as { error: { code: number } }).error.code], [400, 100])
  }
})

test('a partner takes files under its key and leaves the platform’s address in its answer', async () => {
  const { status, body } = await upload({ path: '/media', headers: partnerKey })
  assert.equal(status, 200)
  const answer = await fetch(`${url}/${body.id}`, { headers: partnerKey })
  const told = (await answer.json()) as { url: string }
  const address = new URL(told.url)
  assert.equal(address.host, 'lookaside.fbsbx.com')
  const { status: fetched } = await fetchBytes(`${url}${address.pathname}${address.search}`, partnerKey)
  assert.equal(fetched, 200)
  assert.equal((await fetch(`${url}/${body.id}`, { headers: { 'd360-api-key': 'wrong' } })).status, 401)
  assert.equal((await fetch(`${url}/${body.id}`, { method: 'DELETE', headers: partnerKey })).status, 200)
  assert.equal((await fetch(`${url}/${body.id}`, { headers: partnerKey })).status, 400)
})

const bytes = Buffer.from('0123456789'.repeat(50))
const whole = { status: 200, type: 'application/pdf', bytes }

test('the address of a file can be told wrongly: no good, unknown, or with another size, type and hash', async () => {
  const { body } = await upload({ bytes })
  const right = (await w.graph('GET', body.id)).body
  const told = async (effect: string) => {
    assert.equal((await fault({ effect, on: 'media' })).status, 201)
    return (await w.graph('GET', body.id)).body
  }
  assert.equal((await fetchBytes((await told('expired')).url)).status, 404)
  assert.equal((await told('not_found')).error.code, 100)
  assert.notEqual((await told('wrong_size')).file_size, right.file_size)
  assert.equal((await told('wrong_type')).mime_type, 'text/html')
  assert.notEqual((await told('wrong_hash')).sha256, right.sha256)
  assert.equal((await told('refuse')).error.code, 131000)
  assert.equal((await w.graph('GET', body.id)).body.sha256, right.sha256)
})

test('a file can come wrongly: not at all, less, of another type, changed, or slowly', async () => {
  const { body } = await upload({ bytes })
  const { url: address } = (await w.graph('GET', body.id)).body
  const come = async (effect: string, more: object = {}) => {
    assert.equal((await fault({ effect, ...more })).body.on, 'file')
    return fetchBytes(address)
  }
  for (const effect of ['expired', 'not_found']) assert.equal((await come(effect)).status, 404)
  assert.deepEqual(await come('wrong_size'), { ...whole, bytes: bytes.subarray(0, bytes.length / 2) })
  assert.match((await come('wrong_type')).type ?? '', /^text\/html/)
  const changed = (await come('wrong_hash')).bytes
  assert.deepEqual([changed.length, changed.equals(bytes)], [bytes.length, false])
  assert.deepEqual(await come('slow', { afterMs: 50 }), whole)
  assert.equal((await come('server_error', { on: 'file' })).status, 500)
  await fault({ effect: 'reset', on: 'file' })
  await assert.rejects(fetchBytes(address))
  assert.deepEqual(await fetchBytes(address), whole)
})

test('an endless file ends when whoever asked goes away', async () => {
  const { body } = await upload({ bytes })
  const { url: address } = (await w.graph('GET', body.id)).body
  await fault({ effect: 'endless' })
  const leaving = new AbortController()
  const answer = await fetch(address, { headers: bearer, signal: leaving.signal })
  assert.equal(answer.headers.get('content-length'), null)
  let size = 0
  for await (const chunk of answer.body ?? []) {
    size += chunk.length
    if (size > 3_000_000) break
  }
  leaving.abort()
  assert.ok(size > 3_000_000)
})

test('an upload can be refused, and a fault of files is none of calls', async () => {
  await fault({ effect: 'refuse', on: 'upload', code: 131000 })
  assert.equal((await upload()).body.error.code, 131000)
  assert.equal((await upload()).status, 200)
  assert.equal((await fault({ effect: 'endless', on: 'send' })).status, 400)
  await fault({ effect: 'expired', on: 'any', times: null })
  const zoe = await w.customer()
  assert.equal((await w.text(zoe.phone, 'x')).status, 200)
  await w.call('DELETE', '/simulator/faults')
})
