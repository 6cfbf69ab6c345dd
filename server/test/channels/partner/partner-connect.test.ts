import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { syncDueTemplates } from '../../../src/channels/templates/sync-templates.ts'
import { type ChannelWorld, channelWorld, partnerKey } from '../../support/channels/channel-world.ts'
import { type PlatformServer, platformServer, sendJson } from '../../support/channels/platform-server.ts'
import { testDatabase } from '../../support/database.ts'

const database = await testDatabase()
const partner = await platformServer()
after(() => partner.close())

beforeEach(async () => {
  // The tests of a file share its database.
  await database.db.sql`update connections set templates_due_at = null`
  partner.requests = []
  partner.answer = (_, response) => sendJson(response, 200, {})
})

const input = (more: object = {}) => ({
  channel: 'partner',
  profile: '360dialog',
  name: 'Partner',
  numberId: `2${process.hrtime.bigint()}`,
  apiKey: partnerKey,
  baseUrl: partner.baseUrl,
  ...more,
})
const made = async (w: ChannelWorld) => (await w.call('POST', '', input())).json()
const askedOf = ({ requests }: PlatformServer) => requests.map(({ method, url }) => `${method} ${url}`)
const stateOf = ({ state, stateReason }: { state: string; stateReason: string | null }) => [state, stateReason]
const resume = async (w: ChannelWorld, id: string) => (await w.call('POST', `/${id}/resume`)).json().connection

test('a number is checked by its key and connected, and the webhook is registered with its headers', async () => {
  const w = await channelWorld()
  const made = await w.call('POST', '', input({ signingSecret: 'a-signing-secret-of-26-cha' }))
  assert.equal(made.statusCode, 201)
  const { connection, webhook } = made.json()
  assert.deepEqual(stateOf(connection), ['active', null])
  assert.equal(webhook, null)
  assert.deepEqual(askedOf(partner), ['GET /v1/configs/phone_number', 'POST /v1/configs/webhook'])
  for (const { headers } of partner.requests) assert.equal(headers['d360-api-key'], partnerKey)
  const { url, headers } = partner.requests[1]?.body ?? {}
  assert.equal(url, `https://parley.example/channels/partner/${connection.id}/webhook`)
  assert.match(headers['x-parley-token'], /^[\w-]{43}$/)
  const { profile, baseUrl, apiKeyLast4, signingSecretLast4, version, appSecretLast4, webhookUrl } = connection
  assert.deepEqual([profile, baseUrl, webhookUrl], ['360dialog', partner.baseUrl, url])
  assert.deepEqual([apiKeyLast4, signingSecretLast4, version, appSecretLast4], ['char', '-cha', null, null])
})

test('secrets appear in no response, log line or stored plaintext', async () => {
  const w = await channelWorld()
  const signingSecret = 'a-signing-secret-of-26-cha'
  const made = await w.call('POST', '', input({ signingSecret }))
  const { id } = made.json().connection
  const token = partner.requests.at(-1)?.body.headers['x-parley-token']
  partner.answer = (_, response) => sendJson(response, 401, { meta: { developer_message: `Invalid ${partnerKey}` } })
  const shown = [made.body, (await w.call('GET')).body, (await w.call('POST', `/${id}/resume`)).body]
  const [row] = await database.db.sql<{ settings: Buffer }[]>`select settings from connections where id = ${id}`
  const everything = [...shown, ...w.lines, row?.settings.toString('latin1')].join()
  for (const secret of [partnerKey, signingSecret, token]) assert.ok(!everything.includes(secret))
})

const refusals: [what: string, status: number, body: object, reason: string][] = [
  ['an unknown key', 401, { meta: { developer_message: 'Invalid api_key' } }, 'platform_error_invalid_api_key'],
  ['an unknown key, said otherwise', 401, {}, 'platform_error_http_401'],
  ['a blocked number', 403, { message: 'Channel is blocked' }, 'platform_error_blocked'],
  ['an unpaid bill', 400, { detail: 'Payment method missing' }, 'platform_error_payment_required'],
  ['an error of the platform', 400, { error: { code: 131031 } }, 'platform_error_131031'],
  ['too many calls', 429, { error: { code: 130429 } }, 'unreachable'],
  ['a platform that is away', 502, {}, 'unreachable'],
]

test('a number that its partner rejects is saved as unavailable, with a reason, and not registered', async () => {
  const w = await channelWorld()
  for (const [what, status, body, reason] of refusals) {
    partner.requests = []
    partner.answer = (_, response) => sendJson(response, status, body)
    const { connection } = await made(w)
    assert.deepEqual(stateOf(connection), ['unavailable', reason], what)
    assert.deepEqual(askedOf(partner), ['GET /v1/configs/phone_number'], what)
    partner.answer = (_, response) => sendJson(response, 200, {})
    assert.deepEqual(stateOf(await resume(w, connection.id)), ['active', null], what)
    assert.equal(partner.requests.at(-1)?.url, '/v1/configs/webhook')
  }
})

test('for a partner without the number endpoint, only the registration is checked', async () => {
  const w = await channelWorld()
  for (const status of [404, 405]) {
    partner.answer = ({ url }, response) => sendJson(response, url.endsWith('phone_number') ? status : 200, {})
    assert.deepEqual(stateOf((await made(w)).connection), ['active', null])
    partner.answer = ({ url }, response) => sendJson(response, url.endsWith('phone_number') ? status : 401, {})
    const { connection } = await made(w)
    assert.deepEqual(stateOf(connection), ['unavailable', 'webhook_not_registered'])
  }
})

const failsToRegister: PlatformServer['answer'] = ({ url }, response) =>
  sendJson(response, url.endsWith('webhook') ? 500 : 200, {})

test('a number whose check or registration failed recovers at the next template sync', async () => {
  const away: PlatformServer['answer'] = (_, response) => sendJson(response, 502, {})
  for (const [answer, reason] of [
    [failsToRegister, 'webhook_not_registered'],
    [away, 'unreachable'],
  ] as const) {
    const w = await channelWorld(partner.baseUrl)
    partner.answer = answer
    const { id } = await w.connectPartner()
    await syncDueTemplates(w.deps)
    const { state, stateReason } = (await w.find(id)) ?? {}
    assert.deepEqual([state, stateReason], ['unavailable', reason])
    assert.deepEqual(stateOf(await resume(w, id)), ['unavailable', reason])
    partner.answer = (_, response) => sendJson(response, 200, {})
    w.clock.advance(10 * 60_000)
    await syncDueTemplates(w.deps)
    assert.equal((await w.find(id))?.state, 'active')
  }
})

test('a change of key or number registers again; a change of name does not', async () => {
  const w = await channelWorld(partner.baseUrl)
  const { id } = await w.connectPartner()
  const token = partner.requests.at(-1)?.body.headers['x-parley-token']
  partner.requests = []
  await w.call('PATCH', `/${id}`, { name: 'Shop' })
  assert.deepEqual(askedOf(partner), [])
  assert.equal((await w.call('PATCH', `/${id}`, { apiKey: 'another-key-of-the-number' })).statusCode, 200)
  assert.deepEqual(askedOf(partner), ['GET /v1/configs/phone_number', 'POST /v1/configs/webhook'])
  for (const { headers } of partner.requests) assert.equal(headers['d360-api-key'], 'another-key-of-the-number')
  assert.equal(partner.requests.at(-1)?.body.headers['x-parley-token'], token)
  const cleared = await w.call('PATCH', `/${id}`, { signingSecret: null })
  assert.equal(cleared.json().connection.signingSecretLast4, null)
  const foreign = await w.call('PATCH', `/${id}`, { verifyToken: 'a-verify-token' })
  assert.deepEqual([foreign.statusCode, foreign.json().data.issues[0].path], [400, 'verifyToken'])
})

test('changing to another server requires the key again and creates a new webhook token', async () => {
  const w = await channelWorld(partner.baseUrl)
  const { id } = await w.connectPartner()
  const token = partner.requests.at(-1)?.body.headers['x-parley-token']
  partner.requests = []
  const baseUrl = partner.baseUrl.replace('127.0.0.1', 'localhost')
  const refused = await w.call('PATCH', `/${id}`, { baseUrl })
  assert.deepEqual([refused.statusCode, refused.json().data.issues[0].path], [400, 'apiKey'])
  assert.deepEqual(askedOf(partner), [])
  assert.equal((await w.call('PATCH', `/${id}`, { baseUrl, apiKey: 'a-key-for-the-other-one' })).statusCode, 200)
  for (const { headers } of partner.requests) assert.equal(headers['d360-api-key'], 'a-key-for-the-other-one')
  assert.notEqual(partner.requests.at(-1)?.body.headers['x-parley-token'], token)
})

test("the key decides a partner's number, whatever number id was entered", async () => {
  const [w, squatter] = [await channelWorld(), await channelWorld()]
  partner.answer = ({ headers }, response) =>
    sendJson(response, 200, { phone_number: headers['d360-api-key'] === partnerKey ? '5581911' : '5581922' })
  const body = input()
  assert.equal((await squatter.call('POST', '', { ...body, apiKey: 'a-key-of-the-squatter' })).statusCode, 201)
  assert.equal((await w.call('POST', '', body)).statusCode, 201)
  assert.equal((await squatter.call('POST', '', input())).statusCode, 409)
})

test('connecting a number that is already connected does not divert its callbacks', async () => {
  const [w, other] = [await channelWorld(), await channelWorld()]
  const body = input()
  assert.equal((await w.call('POST', '', body)).statusCode, 201)
  partner.requests = []
  assert.equal((await other.call('POST', '', body)).statusCode, 409)
  assert.deepEqual(askedOf(partner), ['GET /v1/configs/phone_number'])
})

test('a public partner is not given a URL that it cannot reach', async () => {
  const reachable = ['https://parley.example', 'https://parley.example/chat']
  const hidden = ['http://127.0.0.1:3000', 'http://localhost:3000', 'https://10.1.2.3', 'http://parley.example']
  for (const publicUrl of [...reachable, ...hidden, 'https://parley.internal']) {
    const w = await channelWorld(undefined, publicUrl)
    const { partner: adapter } = w.deps.adapters
    const one = await w.connectPartner({ baseUrl: partner.baseUrl })
    // A simulated partner on this machine can reach local addresses.
    assert.equal(one.state, 'active', publicUrl)
    if (one.channel !== 'partner' || reachable.includes(publicUrl)) continue
    const real = { ...one, settings: { ...one.settings, baseUrl: 'https://waba-v2.360dialog.io' } }
    assert.equal(await adapter.registerWebhook?.(real), 'public_url_not_reachable', publicUrl)
  }
})

after(() => partner.close())

type Listed = Record<string, unknown>
const template = (name: string, more: Listed = {}): Listed => ({
  id: `${name}WT`,
  name,
  language: 'en',
  status: 'approved',
  category: 'UTILITY',
  components: [{ type: 'BODY', text: 'Hi {{1}}' }],
  ...more,
})
const asked = () => partner.requests.filter(({ url }) => url.startsWith('/v1/configs/templates')).map(({ url }) => url)

/** A partner that pages by offset, with or without a total. */
function serve(all: Listed[], says: (page: Listed[], offset: number) => object): void {
  partner.requests = []
  partner.answer = ({ url }, response) => {
    if (!url.startsWith('/v1/configs/templates')) return sendJson(response, 200, {})
    const query = new URL(url, 'http://x').searchParams
    const offset = Number(query.get('offset') ?? query.get('after'))
    sendJson(response, 200, says(all.slice(offset, offset + Number(query.get('limit'))), offset))
  }
}

async function listed() {
  const w = await channelWorld(partner.baseUrl)
  const { id } = await w.connectPartner()
  const answer = await w.call('POST', `/${id}/templates/sync`)
  assert.equal(answer.statusCode, 200)
  return answer.json().templates as Listed[]
}

// Statuses are upper or lower case.
const statuses = ['approved', 'APPROVED', 'submitted', 'rejected', 'paused']
const many = Array.from({ length: 230 }, (_, n) =>
  template(`t${String(n).padStart(3, '0')}`, { status: statuses[n] ?? 'approved' }),
)
const offsets = [0, 100, 200].map((offset) => `/v1/configs/templates?limit=100&offset=${offset}`)

const ends: [what: string, says: (page: Listed[]) => object, pages: number][] = [
  ['all pages are read by offset up to the total', (page) => ({ total: many.length, waba_templates: page }), 3],
  ['without a total, a page that is not full is the last', (page) => ({ waba_templates: page }), 3],
  ['a total that is too large does not go on for ever', (page) => ({ total: 1e9, waba_templates: page }), 4],
]
for (const [what, says, pages] of ends) {
  test(what, async () => {
    serve(many, says)
    const told = await listed()
    assert.deepEqual(
      told.slice(0, 5).map(({ status, sendable }) => `${status} ${sendable}`),
      ['APPROVED true', 'APPROVED true', 'SUBMITTED false', 'REJECTED false', 'PAUSED false'],
    )
    assert.equal(told.length, 230)
    assert.deepEqual(asked().slice(0, 3), offsets)
    assert.equal(asked().length, pages)
  })
}

test('pages with a cursor, as on the official platform, are followed', async () => {
  serve(many, (page, offset) => {
    const after = String(offset + page.length)
    return { data: page, paging: { cursors: { after }, ...(offset < 200 ? { next: 'https://elsewhere' } : {}) } }
  })
  assert.equal((await listed()).length, 230)
  assert.deepEqual(
    asked().map((url) => url.split('&')[1]),
    ['offset=0', 'after=100', 'after=200'],
  )
})

test('a rejected key during a template sync makes the number unavailable; an error or missing permission does not', async () => {
  serve([], () => ({}))
  const w = await channelWorld(partner.baseUrl)
  const { id } = await w.connectPartner()
  partner.answer = (_, response) => sendJson(response, 502, {})
  const away = await w.call('POST', `/${id}/templates/sync`)
  assert.deepEqual([away.statusCode, away.json().data], [502, { code: 'http_502' }])
  partner.answer = (_, response) => sendJson(response, 403, {})
  assert.equal((await w.call('POST', `/${id}/templates/sync`)).statusCode, 502)
  assert.equal((await w.find(id))?.state, 'active')
  partner.answer = (_, response) => sendJson(response, 401, {})
  assert.equal((await w.call('POST', `/${id}/templates/sync`)).statusCode, 502)
  const { state, stateReason } = (await w.find(id)) ?? {}
  assert.deepEqual([state, stateReason], ['unavailable', 'platform_error_http_401'])
})
