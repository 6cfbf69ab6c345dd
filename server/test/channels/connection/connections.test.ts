import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { openOutgoing } from '../../../src/base/outgoing/guarded-fetch.ts'
import { storeActivity } from '../../../src/channels/health/activity.ts'
import { acknowledgedUntil, needsAcknowledgement } from '../../../src/channels/health/health.ts'
import { applyPlatformSignal, applyRefusal } from '../../../src/channels/health/platform-signals.ts'
import { newestAudit } from '../../support/audit.ts'
import { type ChannelWorld, channelWorld } from '../../support/channels/channel-world.ts'
import { platformServer, sendJson } from '../../support/channels/platform-server.ts'
import { testDatabase } from '../../support/database.ts'
import { openTestOutgoing } from '../../support/outgoing/outgoing.ts'

const database = await testDatabase()
const platform = await platformServer()
after(() => platform.close())

const input = {
  channel: 'waba',
  name: 'Sales',
  numberId: '106540',
  accountId: '102290',
  accessToken: 'an-access-token-of-24-chars',
  appSecret: 'an-app-secret-of-20!',
}
const fresh = (more: object = {}) => ({ ...input, numberId: `1${process.hrtime.bigint()}`, ...more })
/** Connects a number at the platform. */
const made = async (w: ChannelWorld) => (await w.call('POST', '', fresh({ baseUrl: platform.baseUrl }))).json()

/** Every route of one connection. */
const routes: [method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object][] = [
  ['GET', ''],
  ['PATCH', '', { version: 'v24.0' }],
  ['DELETE', ''],
  ...['pause', 'resume', 'acknowledge', 'templates/sync'].map((verb): ['POST', string] => ['POST', `/${verb}`]),
  ['GET', '/templates'],
]

test('a connection can be created, read, changed, paused, resumed and removed', async () => {
  const w = await channelWorld()
  const made = await w.call('POST', '', fresh())
  assert.equal(made.statusCode, 201)
  const { connection, webhook } = made.json()
  assert.deepEqual(
    [connection.state, connection.baseUrl, connection.version],
    ['active', 'https://graph.facebook.com', 'v27.0'],
  )
  assert.equal(webhook.url, `https://parley.example/channels/waba/${connection.id}/webhook`)
  assert.match(webhook.verifyToken, /^[\w-]{43}$/)
  assert.deepEqual((await w.call('GET', `/${connection.id}`, undefined, 'member')).json(), { connection })
  assert.deepEqual((await w.call('GET', '', undefined, 'member')).json(), {
    connections: [connection],
    simulatorUrl: null,
  })

  w.clock.advance(1_000)
  const renamed = (await w.call('PATCH', `/${connection.id}`, { name: ' Support ', accountId: null })).json().connection
  assert.deepEqual(
    [renamed.name, renamed.accountId, renamed.stateChangedAt],
    ['Support', null, connection.stateChangedAt],
  )
  assert.equal((await w.call('POST', `/${connection.id}/pause`)).json().connection.state, 'paused')
  assert.equal((await w.call('POST', `/${connection.id}/resume`)).json().connection.state, 'active')
  assert.equal((await w.call('DELETE', `/${connection.id}`)).statusCode, 200)
  for (const [method, path, body] of routes) {
    assert.equal((await w.call(method, `/${connection.id}${path}`, body)).statusCode, 404, `${method} ${path}`)
  }
  const actions = ['added', 'changed', 'paused', 'resumed', 'removed']
  const audited = await newestAudit(database.db.sql, w.workspaceId, 9)
  assert.deepEqual(
    audited.map(({ action }) => action).reverse(),
    actions.map((action) => `connection.${action}`),
  )
})

test('secrets are stored encrypted, shown only by their last four characters, and deleted with the connection', async () => {
  const w = await channelWorld()
  const made = await w.call('POST', '', fresh({ verifyToken: 'a-verify-token' }))
  const { connection } = made.json()
  const everything = JSON.stringify([
    connection,
    (await w.call('GET')).json(),
    (await w.call('PATCH', `/${connection.id}`, { appSecret: 'short-12', verifyToken: 'another-one' })).json(),
    w.lines,
  ])
  for (const secret of [input.accessToken, input.appSecret, 'a-verify-token', 'short-12', 'another-one']) {
    assert.ok(!everything.includes(secret), secret)
  }
  assert.deepEqual([connection.accessTokenLast4, connection.appSecretLast4], ['hars', '-20!'])
  assert.equal((await w.call('GET', `/${connection.id}`)).json().connection.appSecretLast4, '')
  const settings = async () => {
    const [row] = await database.db.sql<{ settings: Buffer }[]>`
      select settings from connections where workspace_id = ${w.workspaceId}`
    return row?.settings ?? Buffer.alloc(0)
  }
  assert.ok(!(await settings()).includes('token'))
  await w.call('DELETE', `/${connection.id}`)
  const place = { table: 'connections', row: connection.id, column: 'settings' }
  const left = (await w.keyStore.keyring(w.workspaceId)).decryptText(place, await settings())
  assert.deepEqual(JSON.parse(left), {})
})

test('a number can be connected once per installation, and again after removal', async () => {
  const [w, other] = [await channelWorld(), await channelWorld()]
  const body = fresh()
  const first = (await w.call('POST', '', body)).json().connection
  const taken = await other.call('POST', '', body)
  assert.deepEqual([taken.statusCode, taken.json().data], [409, { field: 'numberId' }])
  const mine = await other.connect()
  assert.equal((await other.call('PATCH', `/${mine.id}`, { numberId: body.numberId })).statusCode, 409)
  await w.call('DELETE', `/${first.id}`)
  assert.equal((await other.call('POST', '', body)).statusCode, 201)
})

test('a connection of another workspace is not found', async () => {
  const [w, other] = [await channelWorld(), await channelWorld()]
  const { id } = await other.connect()
  for (const [method, path, body] of routes) {
    assert.equal((await w.call(method, `/${id}${path}`, body)).statusCode, 404, `${method} ${path}`)
  }
  assert.deepEqual((await w.call('GET')).json(), { connections: [], simulatorUrl: null })
})

test('members can read connections and confirm risks; only admins can change them', async () => {
  const w = await channelWorld()
  const { id } = await w.connect()
  assert.equal((await w.call('POST', '', input, 'member')).statusCode, 403)
  for (const [method, path, body] of routes) {
    const { statusCode } = await w.call(method, `/${id}${path}`, body, 'member')
    assert.equal(statusCode, method === 'GET' ? 200 : path === '/acknowledge' ? 409 : 403, `${method} ${path}`)
  }
})

const bad: [what: string, body: object, path: string][] = [
  ['http to elsewhere', { baseUrl: 'http://graph.example.com' }, 'baseUrl'],
  ['an address of the private network', { baseUrl: 'https://10.0.0.7' }, 'baseUrl'],
  ['an address with a query', { baseUrl: 'https://graph.example.com/?x=1' }, 'baseUrl'],
  ['an address with a user', { baseUrl: 'https://a:b@graph.example.com' }, 'baseUrl'],
  ['no address', { baseUrl: 'graph' }, 'baseUrl'],
  ['a version that is none', { version: '25' }, 'version'],
  ['a path in the number', { numberId: '1/2' }, 'numberId'],
  ['a token with a line break', { accessToken: 'abcdefgh\r\nx: y' }, 'accessToken'],
  ['a blank name', { name: ' ' }, 'name'],
  ['an unknown field', { colour: 'red' }, 'colour'],
]

test('invalid fields of a connection are 400 on create and change', async () => {
  const w = await channelWorld()
  const { id } = await w.connect()
  for (const [what, body, path] of bad) {
    for (const answer of [await w.call('POST', '', fresh(body)), await w.call('PATCH', `/${id}`, body)]) {
      assert.deepEqual([answer.statusCode, answer.json().data.issues[0].path], [400, path], what)
    }
  }
})

const issues = (answer: { json(): { data: { issues: { path: string }[] } } }) =>
  answer.json().data.issues.map(({ path }) => path)

const partner = { channel: 'partner', profile: '360dialog', name: 'Partner', numberId: '1', apiKey: 'a-key-of-its-own' }
const mistakes: [what: string, body: object, paths: string[]][] = [
  ['no channel', { name: 'x' }, ['channel']],
  ['a channel that there is not', { channel: 'pigeon', name: 'x' }, ['channel']],
  ['a channel that is no text', { channel: 7 }, ['channel', 'channel']],
  ['an official number without secrets', { channel: 'waba', name: 'x', numberId: '1' }, ['accessToken', 'appSecret']],
  ['a partner without a key', { ...partner, apiKey: undefined }, ['apiKey']],
  ['a partner that is not known', { ...partner, profile: 'carrier' }, ['profile']],
  ['a partner with an official secret', { ...partner, appSecret: 'an-app-secret' }, ['appSecret']],
  ['a partner on the private network', { ...partner, baseUrl: 'https://10.0.0.7' }, ['baseUrl']],
  ['a session with a number', { channel: 'unofficial', name: 'x', numberId: '1' }, ['numberId']],
  ['a session without a name', { channel: 'unofficial' }, ['name']],
  ['a session on the private network', { channel: 'unofficial', name: 'x', baseUrl: 'https://10.0.0.7' }, ['baseUrl']],
]

test('a field that is invalid for the channel is 400 and names only that field', async () => {
  const w = await channelWorld()
  for (const [what, body, paths] of mistakes) {
    const answer = await w.call('POST', '', body)
    assert.equal(answer.statusCode, 400, what)
    assert.deepEqual(issues(answer), paths, what)
  }
})

test('a session starts unpaired, with its own id as number, without secrets or webhook', async () => {
  const w = await channelWorld()
  const made = await w.call('POST', '', { channel: 'unofficial', name: ' Phone ' })
  assert.equal(made.statusCode, 201)
  const { connection, webhook } = made.json()
  assert.equal(webhook, null)
  const { id, name, numberId, state, stateReason, baseUrl, accessTokenLast4, apiKeyLast4, webhookUrl } = connection
  assert.deepEqual([name, numberId, state, stateReason], ['Phone', id, 'unavailable', 'never_paired'])
  assert.deepEqual([baseUrl, accessTokenLast4, apiKeyLast4, webhookUrl], [null, null, null, null])
  assert.equal((await w.call('PATCH', `/${id}`, { name: 'Shop' })).json().connection.name, 'Shop')
  assert.deepEqual(issues(await w.call('PATCH', `/${id}`, { name: 'x', accountId: '12' })), ['accountId'])
  assert.equal((await w.call('POST', `/${id}/pause`)).json().connection.state, 'paused')
  const resumed = (await w.call('POST', `/${id}/resume`)).json().connection
  assert.deepEqual([resumed.state, resumed.stateReason], ['unavailable', 'never_paired'])
  assert.deepEqual((await w.call('POST', `/${id}/templates/sync`)).json(), { templates: [] })
  const [row] = await database.db.sql`select templates_due_at from connections where id = ${id}`
  assert.equal(row?.templates_due_at, null)
  assert.equal((await w.call('DELETE', `/${id}`)).statusCode, 200)
})

test('an empty change and a bad id are 400, an unknown one 404', async () => {
  const w = await channelWorld()
  assert.equal((await w.call('PATCH', `/${(await w.connect()).id}`, {})).statusCode, 400)
  assert.equal((await w.call('GET', '/nobody')).statusCode, 400)
  assert.equal((await w.call('GET', `/${randomUUID()}`)).statusCode, 404)
})

test('a platform on this machine is accepted only if the operator allows it', async () => {
  const w = await channelWorld()
  w.deps.outgoing = openOutgoing({ allowCidrs: [] })
  assert.equal((await w.call('POST', '', fresh({ baseUrl: 'http://127.0.0.1:9' }))).statusCode, 400)
  w.deps.outgoing = openTestOutgoing()
  const taken = await w.call('POST', '', fresh({ baseUrl: 'http://127.0.0.1:9/' }))
  assert.deepEqual([taken.statusCode, taken.json().connection.baseUrl], [201, 'http://127.0.0.1:9'])
})

test('a number that the platform does not confirm is unavailable until it does', async () => {
  const w = await channelWorld(platform.baseUrl)
  platform.answer = (_, response) => sendJson(response, 401, { error: { code: 190, error_subcode: 463 } })
  const { connection } = await made(w)
  assert.deepEqual([connection.state, connection.stateReason], ['unavailable', 'platform_error_190'])
  assert.deepEqual((await w.call('POST', `/${connection.id}/resume`)).json().connection.state, 'unavailable')
  platform.answer = (asked, response) =>
    sendJson(response, asked.headers.authorization === 'Bearer a-better-token' ? 200 : 401, { id: '1' })
  const change = { accessToken: 'a-better-token' }
  const changed = (await w.call('PATCH', `/${connection.id}`, change)).json().connection
  assert.deepEqual([changed.state, changed.stateReason], ['active', null])
  const asked = platform.requests.at(-1)
  assert.deepEqual(asked?.url.startsWith(`/v27.0/${connection.numberId}?fields=`), true)

  await w.call('POST', `/${connection.id}/pause`)
  const paused = await w.call('PATCH', `/${connection.id}`, { accessToken: 'a-worse-token' })
  assert.equal(paused.json().connection.state, 'paused')
})

test('with mustAnswer, a number is not saved when the platform rejects it or does not respond', async () => {
  const w = await channelWorld(platform.baseUrl)
  const refuse: [status: number, body: object, reason: string][] = [
    [401, { error: { code: 190 } }, 'platform_error_190'],
    [503, {}, 'unreachable'],
  ]
  for (const [status, answer, reason] of refuse) {
    platform.answer = (_, response) => sendJson(response, status, answer)
    const refused = await w.call('POST', '', fresh({ baseUrl: platform.baseUrl, mustAnswer: true }))
    assert.deepEqual([refused.statusCode, refused.json().data], [422, { code: 'CHECK_FAILED', reason }])
  }
  assert.deepEqual((await w.call('GET')).json().connections, [])
  platform.answer = (_, response) => sendJson(response, 200, { id: '1' })
  const made = await w.call('POST', '', fresh({ baseUrl: platform.baseUrl, mustAnswer: true }))
  assert.deepEqual([made.statusCode, made.json().connection.state], [201, 'active'])
})

test('the platform reports the visible number and phone use; both are cleared when the number changes', async () => {
  const w = await channelWorld(platform.baseUrl)
  platform.answer = (_, response) => sendJson(response, 200, { id: '1', display_phone_number: '+55 11 95550-1101' })
  const { connection } = await made(w)
  assert.equal(connection.phone, '5511955501101')
  assert.equal((await w.find(connection.id))?.isOnPhone, false)
  platform.answer = (_, response) =>
    sendJson(response, 200, { id: '1', is_on_biz_app: true, platform_type: 'CLOUD_API' })
  assert.equal((await w.find((await made(w)).connection.id))?.isOnPhone, true)
  platform.answer = (_, response) => sendJson(response, 503, {})
  const kept = (await w.call('POST', `/${connection.id}/resume`)).json().connection
  assert.equal(kept.phone, '5511955501101')
  const { numberId } = fresh()
  const other = (await w.call('PATCH', `/${connection.id}`, { numberId })).json().connection
  assert.equal(other.phone, null)
})

test('account events make a connection unavailable and available, but never end a pause', async () => {
  const w = await channelWorld()
  const one = await w.connect()
  const stateOf = async () => {
    const { state, stateReason } = (await w.find(one.id)) ?? {}
    return [state, stateReason]
  }
  const told = (available: boolean, reason: string) =>
    applyPlatformSignal(w.deps, one, { type: 'connection_state', available, reason })
  await told(false, 'partner_removed')
  assert.deepEqual(await stateOf(), ['unavailable', 'partner_removed'])
  await told(true, 'account_reconnected')
  assert.deepEqual(await stateOf(), ['active', null])
  await applyRefusal(w.deps, one, 'none', '131026')
  assert.deepEqual(await stateOf(), ['active', null])
  await applyRefusal(w.deps, one, 'connection_unavailable', '131042')
  assert.deepEqual(await stateOf(), ['unavailable', 'platform_error_131042'])
  await w.call('POST', `/${one.id}/pause`)
  await told(true, 'account_reconnected')
  await told(false, 'partner_removed')
  assert.deepEqual(await stateOf(), ['paused', null])
})

test('the time of the last event is stored at most once a minute', async () => {
  const w = await channelWorld()
  const { id } = await w.connect()
  const note = (direction: 'in' | 'out') =>
    database.db.tx((tx) => storeActivity(tx, { workspaceId: w.workspaceId, id }, direction, w.clock.now()))
  const first = w.clock.now()
  await note('in')
  w.clock.advance(59_999)
  await note('in')
  assert.deepEqual((await w.find(id))?.lastEventInAt, first)
  assert.equal((await w.find(id))?.lastEventOutAt, null)
  w.clock.advance(1)
  await note('in')
  await note('out')
  const { lastEventInAt, lastEventOutAt } = (await w.find(id)) ?? {}
  assert.deepEqual([lastEventInAt, lastEventOutAt], [w.clock.now(), w.clock.now()])
})

test('a risk confirmation is valid for 90 days; official channels need none', () => {
  const [day, confirmed] = [86_400_000, new Date('2026-03-01T12:00:00.000Z')]
  for (const [channel, acknowledgedAt, afterMs, needed] of [
    ['unofficial', null, 0, true],
    ['unofficial', confirmed, 90 * day - 1, false],
    ['unofficial', confirmed, 90 * day, true],
    ['waba', null, 0, false],
    ['partner', null, 0, false],
  ] as const) {
    const now = new Date(confirmed.getTime() + afterMs)
    assert.equal(needsAcknowledgement({ channel, acknowledgedAt }, now), needed, `${channel} ${afterMs}`)
    const until = acknowledgedUntil({ channel, acknowledgedAt })
    assert.equal(until !== null, channel === 'unofficial' && acknowledgedAt !== null)
  }
})
