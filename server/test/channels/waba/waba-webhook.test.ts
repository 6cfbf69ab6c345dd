import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredConnection } from '../../../src/channels/connection/connection.ts'
import { appSecret, type ChannelWorld, channelWorld } from '../../support/channels/channel-world.ts'
import {
  bytesOf,
  callback,
  change,
  customerPhone,
  message,
  payload,
  signatureOf,
  text,
  value,
} from '../../support/channels/waba-payloads.ts'

const pathOf = ({ id }: Pick<StoredConnection, 'id'>) => `/channels/waba/${id}/webhook`

interface Sending {
  secret?: string
  signature?: string | undefined
  type?: string
}

function post(
  w: ChannelWorld,
  to: Pick<StoredConnection, 'id'>,
  body: Buffer,
  { secret = appSecret, ...more }: Sending = {},
) {
  const signature = 'signature' in more ? more.signature : signatureOf(secret, body)
  const headers = {
    'content-type': more.type ?? 'application/json',
    ...(signature === undefined ? {} : { 'x-hub-signature-256': signature }),
  }
  return w.app.inject({ method: 'POST', url: pathOf(to), headers, payload: body })
}

const wrote = (to: StoredConnection, words: string) =>
  change('messages', value({ messages: [text(words)] }, to.numberId))
const textsOf = (w: ChannelWorld) =>
  w.received.map(({ connection, events }) => [
    connection.id,
    ...events.map((event) => (event.type === 'message' ? event.text : event.type)),
  ])

test('the handshake returns the challenge for the right token', async () => {
  const w = await channelWorld()
  const one = await w.connect({ verifyToken: 'right-token' })
  const ask = (query: string) => w.app.inject({ method: 'GET', url: `${pathOf(one)}?${query}` })
  const right = await ask('hub.mode=subscribe&hub.challenge=115%3Cb%3E&hub.verify_token=right-token')
  assert.deepEqual(
    [right.statusCode, right.body, right.headers['content-type']],
    [200, '115<b>', 'text/plain; charset=utf-8'],
  )
  for (const query of [
    'hub.mode=subscribe&hub.challenge=1&hub.verify_token=wrong',
    'hub.mode=subscribe&hub.challenge=1',
    'hub.mode=unsubscribe&hub.challenge=1&hub.verify_token=right-token',
    'hub[mode]=subscribe&hub[challenge]=1&hub[verify_token]=right-token',
    '',
  ]) {
    assert.equal((await ask(query)).statusCode, 403, query)
  }
})

test('a callback with a valid signature is stored and answered 200', async () => {
  const w = await channelWorld()
  const one = await w.connect()
  const answer = await post(w, one, bytesOf(payload(wrote(one, 'olá 😀'))))
  assert.equal(answer.statusCode, 200)
  assert.deepEqual(textsOf(w), [[one.id, 'olá 😀']])
  assert.deepEqual((await w.find(one.id))?.lastEventInAt, w.clock.now())
})

test('an echo marks the number as used on a phone', async () => {
  const w = await channelWorld()
  const one = await w.connect()
  const typed = message('text', { body: 'Hello' }, { to: customerPhone })
  assert.equal((await w.find(one.id))?.isOnPhone, false)
  await post(w, one, bytesOf(callback('smb_message_echoes', { message_echoes: [typed] }, one.numberId)))
  assert.equal((await w.find(one.id))?.isOnPhone, true)
})

test('any content type is accepted, because the signature authenticates the body', async () => {
  const w = await channelWorld()
  const one = await w.connect()
  for (const type of ['text/plain', 'application/json; charset=utf-8', 'application/x-www-form-urlencoded']) {
    assert.equal((await post(w, one, bytesOf(payload(wrote(one, type))), { type })).statusCode, 200)
  }
  assert.equal(w.received.length, 3)
})

test('a missing, malformed or wrong signature is 401; nothing is stored or logged', async () => {
  const w = await channelWorld()
  const one = await w.connect()
  const body = bytesOf(payload(wrote(one, 'a-secret-word')))
  const again = signatureOf(appSecret, Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1)))
  for (const signature of [undefined, '', 'sha256=xyz', again, signatureOf('another', body)]) {
    assert.equal((await post(w, one, body, { signature })).statusCode, 401)
  }
  assert.deepEqual(w.received, [])
  assert.ok(w.lines.some((line) => line.includes('rejected callback: invalid signature') && line.includes(one.id)))
  assert.ok(!w.lines.join().includes('a-secret-word'))
})

test('an unknown or removed connection is 404, also in the handshake', async () => {
  const w = await channelWorld()
  const one = await w.connect()
  const body = bytesOf(payload(wrote(one, 'Hi')))
  await w.call('DELETE', `/${one.id}`)
  for (const id of [one.id, '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e', 'nobody']) {
    assert.equal((await post(w, { id }, body)).statusCode, 404)
    assert.equal((await w.app.inject({ url: `${pathOf({ id })}?hub.mode=subscribe` })).statusCode, 404)
  }
})

test('one callback serves every number of the workspace whose app signed it, and no other', async () => {
  const [w, elsewhere] = [await channelWorld(), await channelWorld()]
  const [a, b] = [await w.connect(), await w.connect()]
  const otherApp = await w.connect({ appSecret: 'another-app-secret' })
  const foreign = await elsewhere.connect()
  const body = payload(wrote(a, '1'), wrote(b, '2'), wrote(otherApp, '3'), wrote(foreign, '4'), wrote(a, '5'))
  assert.equal((await post(w, a, bytesOf(body))).statusCode, 200)
  assert.deepEqual(textsOf(w), [
    [a.id, '1', '5'],
    [b.id, '2'],
  ])
  assert.deepEqual(elsewhere.received, [])
  assert.ok(w.lines.some((line) => line.includes('a number that is not connected') && line.includes('"count":2')))
})

test('an account event reaches each of its connections', async () => {
  const w = await channelWorld()
  const accountId = `55${Date.now()}`
  const [a, b] = [await w.connect({ accountId }), await w.connect({ accountId })]
  await w.connect({ accountId: '1' })
  const removed = change('account_update', { event: 'PARTNER_REMOVED', waba_info: { waba_id: accountId } })
  assert.equal((await post(w, a, bytesOf(payload(removed)))).statusCode, 200)
  assert.deepEqual(textsOf(w), [
    [a.id, 'connection_state'],
    [b.id, 'connection_state'],
  ])
})

const empty: [what: string, body: Buffer][] = [
  ['another product', bytesOf({ object: 'page', entry: [{}] })],
  ['an unknown field', bytesOf(payload(change('some_future_field', { a: 1 })))],
  ['an unknown number', bytesOf(callback('messages', { messages: [text('x')] }, '999'))],
  ['no entries', bytesOf({ object: 'whatsapp_business_account', entry: [] })],
  ['no JSON', Buffer.from('{"object":')],
  ['no bytes', Buffer.alloc(0)],
  ['bytes that are no UTF-8', Buffer.from([0xff, 0xfe, 0x00])],
]

test('a signed callback without relevant items is 200 and stores nothing', async () => {
  const w = await channelWorld()
  const one = await w.connect()
  for (const [what, body] of empty) assert.equal((await post(w, one, body)).statusCode, 200, what)
  assert.deepEqual(w.received, [])
})

test('200 is sent only after everything is committed; otherwise 503 with Retry-After', async () => {
  const w = await channelWorld()
  const one = await w.connect()
  const body = bytesOf(payload(wrote(one, 'Hi')))
  w.onReceive = () => Promise.reject(new Error('the database is away'))
  const answer = await post(w, one, body)
  assert.deepEqual([answer.statusCode, answer.headers['retry-after']], [503, '5'])
  const order: string[] = []
  w.onReceive = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    order.push('committed')
  }
  assert.equal((await post(w, one, body)).statusCode, 200)
  order.push('answered')
  assert.deepEqual(order, ['committed', 'answered'])
})

test('a body of 3 MB is accepted, a larger one is 413', async () => {
  const w = await channelWorld()
  const one = await w.connect()
  const large = bytesOf(payload(wrote(one, 'x'.repeat(3_000_000))))
  assert.equal((await post(w, one, large)).statusCode, 200)
  assert.equal((await post(w, one, Buffer.alloc(3 * 1024 * 1024 + 1, 32))).statusCode, 413)
})
