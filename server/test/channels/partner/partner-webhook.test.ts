import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { StoredPartner } from '../../../src/channels/connection/connection.ts'
import type { NewPartner } from '../../../src/channels/partner/settings.ts'
import { type ChannelWorld, channelWorld } from '../../support/channels/channel-world.ts'
import { platformServer } from '../../support/channels/platform-server.ts'
import { bytesOf, callback, text, value } from '../../support/channels/waba-payloads.ts'

const partner = await platformServer()
after(() => partner.close())

const signingSecret = 'a-signing-secret-of-26-cha'
const open = () => channelWorld(partner.baseUrl)

async function connect(w: ChannelWorld, input: Partial<NewPartner> = {}): Promise<StoredPartner> {
  const one = await w.connectPartner(input)
  assert.ok(one.channel === 'partner')
  return one
}

const post = (w: ChannelWorld, { id }: { id: string }, body: Buffer, headers: Record<string, string>) =>
  w.app.inject({ method: 'POST', url: `/channels/partner/${id}/webhook`, headers, payload: body })
const shown = ({ settings }: StoredPartner) => ({ 'x-parley-token': settings.webhookToken })
const wrote = (numberId: string, words: string) => callback('messages', { messages: [text(words)] }, numberId)
const textsOf = (w: ChannelWorld) =>
  w.received.map(({ connection, events }) => [
    connection.id,
    ...events.map((event) => (event.type === 'message' ? event.text : event.type)),
  ])
const hexOf = (secret: string, body: Buffer) => createHmac('sha256', secret).update(body).digest('hex')
const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

const proofs: [what: string, headers: (one: StoredPartner, body: Buffer) => Record<string, string>, status: number][] =
  [
    ['the token', shown, 200],
    ['no proof', () => ({}), 401],
    ['another token', () => ({ 'x-parley-token': 'x'.repeat(43) }), 401],
    ['an empty token', () => ({ 'x-parley-token': '' }), 401],
    ['the key in place of the token', (one) => ({ 'x-parley-token': one.settings.apiKey }), 401],
    ['the token as a password', (one) => ({ authorization: basic('parley', one.settings.webhookToken) }), 200],
    ['another password', () => ({ authorization: basic('parley', 'secret') }), 401],
    ['the token as a user', (one) => ({ authorization: basic(one.settings.webhookToken, '') }), 401],
    ['a signature where nothing is signed', (_, body) => ({ 'x-360dialog-signature': hexOf('', body) }), 401],
  ]

test('a callback is authenticated by its token', async () => {
  const w = await open()
  const one = await connect(w)
  const body = bytesOf(wrote(one.numberId, 'Olá'))
  for (const [what, headers, status] of proofs) {
    w.received = []
    assert.equal((await post(w, one, body, headers(one, body))).statusCode, status, what)
    assert.deepEqual(textsOf(w), status === 200 ? [[one.id, 'Olá']] : [], what)
  }
})

const signatures: [what: string, header: (body: Buffer) => string | undefined, status: number][] = [
  ['bare', (body) => hexOf(signingSecret, body), 200],
  ['with its kind', (body) => `sha256=${hexOf(signingSecret, body)}`, 200],
  ['in capitals', (body) => hexOf(signingSecret, body).toUpperCase(), 200],
  ['with another secret', (body) => hexOf('another-secret', body), 401],
  ['over other bytes', () => hexOf(signingSecret, Buffer.from('{}')), 401],
  ['cut short', (body) => hexOf(signingSecret, body).slice(2), 401],
  ['missing', () => undefined, 401],
]

test('with a signing secret, a callback needs a valid signature', async () => {
  const w = await open()
  const one = await connect(w, { signingSecret })
  const body = bytesOf(wrote(one.numberId, 'Olá'))
  for (const [what, header, status] of signatures) {
    w.received = []
    const signature = header(body)
    const headers = { ...shown(one), ...(signature === undefined ? {} : { 'x-360dialog-signature': signature }) }
    assert.equal((await post(w, one, body, headers)).statusCode, status, what)
    assert.equal(w.received.length, status === 200 ? 1 : 0, what)
  }
})

test('a callback never affects another connection of the workspace or channel', async () => {
  const [w, other] = [await open(), await open()]
  const [one, sibling, elsewhere] = [await connect(w), await connect(w), await connect(other)]
  const official = await w.connect()
  for (const { numberId } of [sibling, elsewhere, official]) {
    assert.equal((await post(w, one, bytesOf(wrote(numberId, 'Olá')), shown(one))).statusCode, 200)
  }
  assert.deepEqual(w.received, [])
  assert.equal(w.lines.filter((line) => line.includes('not connected')).length, 3)
})

test('the URL of another channel, an unknown or a removed connection is 404', async () => {
  const w = await open()
  const [one, official] = [await connect(w), await w.connect()]
  const body = bytesOf(wrote(one.numberId, 'Olá'))
  assert.equal((await post(w, official, body, shown(one))).statusCode, 404)
  assert.equal((await post(w, { id: 'nobody' }, body, shown(one))).statusCode, 404)
  await w.call('DELETE', `/${one.id}`)
  assert.equal((await post(w, one, body, shown(one))).statusCode, 404)
})

test("the partner's own envelope and the lists of the older API are parsed", async () => {
  const w = await open()
  const one = await connect(w)
  const inner = value({ messages: [text('in an envelope')] }, one.numberId)
  const older = { contacts: [], messages: [text('older')] }
  const account = { id: 'evt', event: 'account_update', data: { event: 'PARTNER_REMOVED' } }
  for (const body of [{ id: 'evt', event: 'messages', data: inner }, older, account]) {
    assert.equal((await post(w, one, bytesOf(body), shown(one))).statusCode, 200)
  }
  assert.deepEqual(textsOf(w), [
    [one.id, 'in an envelope'],
    [one.id, 'older'],
    [one.id, 'connection_state'],
  ])
})

test('an invalid callback is 200 and changes nothing', async () => {
  const w = await open()
  const one = await connect(w)
  for (const body of ['', 'null', '[]', '7', '{', '{"object":1}', '{"event":"messages","data":[]}']) {
    assert.equal((await post(w, one, Buffer.from(body), shown(one))).statusCode, 200, body)
  }
  assert.deepEqual(w.received, [])
})

const samples = join(process.env.PAYLOAD_SAMPLES ?? '', 'partner')
const told: [file: string, event: object][] = [
  ['360dialog-history-event.json', { type: 'history', direction: 'inbound', status: 'read', text: 'Thanks!' }],
  ['360dialog-legacy-onprem-inbound.json', { type: 'message', kind: 'text', text: 'Hello this is an answer' }],
]
for (const [file, expected] of told) {
  test(`the sample ${file} is parsed`, { skip: !existsSync(join(samples, file)) }, async () => {
    const w = await open()
    const one = await connect(w, { numberId: '106540352242922' })
    const body = readFileSync(join(samples, file))
    assert.equal((await post(w, one, body, shown(one))).statusCode, 200)
    assert.partialDeepStrictEqual(w.received[0]?.events[0], expected)
    await w.call('DELETE', `/${one.id}`)
  })
}
