import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { revokeApiKey } from '../../../src/auth/api-keys/change-key.ts'
import { makeKeyValue } from '../../../src/auth/api-keys/queries.ts'
import { manualClock } from '../../../src/base/clock.ts'
import type { App } from '../../../src/base/route.ts'
import { testDatabase } from '../../support/database.ts'
import { bearer, guardedApp, newKey, noon } from '../../support/guarded-app.ts'
import { waitForNotifications } from '../../support/wait-for-notifications.ts'
import { exchange, listen } from '../../support/wire/raw-http.ts'

const { db } = await testDatabase()
const clock = manualClock(noon)
const { app } = await guardedApp(db, { clock, trustedProxies: ['127.0.0.1'] })

after(() => app.close())

function get(url: string, headers: Record<string, string>) {
  return app.inject({ url, headers })
}

async function assertRejected(url: string, headers: Record<string, string>, statusMessage: string): Promise<void> {
  const answer = await get(url, headers)
  assert.equal(answer.statusCode, 401)
  assert.deepEqual(answer.json(), { statusCode: 401, statusMessage })
  assert.equal(answer.headers['www-authenticate'], 'Bearer')
}

const missing = 'API key missing or not valid'
const issued = (await newKey(db, clock)).value

const strangers: [credential: string, headers: Record<string, string>][] = [
  ['none', {}],
  ['an unknown key', bearer(makeKeyValue())],
  ['a mistyped key', bearer(issued.replace(/.$/, (last) => (last === '0' ? '1' : '0')))],
  ['a key without the scheme', { authorization: issued }],
  ['a key in another scheme', { authorization: `Basic ${issued}` }],
  ['an empty credential', { authorization: 'Bearer ' }],
  ['two words', { authorization: `Bearer ${issued} ${issued}` }],
  ['a very long credential', bearer('x'.repeat(10_000))],
]

for (const [credential, headers] of strangers) {
  test(`${credential}: the same response for everything that is not a valid key`, () =>
    assertRejected('/leads', headers, missing))
}

test('a key is accepted with any case of the scheme and any number of spaces', async () => {
  const { key, value } = await newKey(db, clock, { phoneVisibility: 'masked', scopes: ['leads.read'], name: 'Agent' })
  for (const authorization of [`Bearer ${value}`, `bearer ${value}`, `BEARER   ${value}`]) {
    const answer = await get('/leads', { authorization })
    assert.equal(answer.statusCode, 200)
    assert.deepEqual(answer.json(), {
      workspaceId: key.workspaceId,
      keyId: key.id,
      keyName: 'Agent',
      scopes: ['leads.read'],
      connectionIds: [],
      phoneVisibility: 'masked',
      sendLimits: { unanswered: null, daily: null },
      agentSettings: {
        ...{ quietSeconds: null, maxParts: 1, showTyping: false, approval: null },
        ...{ toolsOff: [], instructionsVersion: 0 },
      },
      workspace: { defaultCountry: null, leadsEnabled: true, inboxEnabled: true, inboxAvailable: true, hours: null },
    })
  }
})

test('two Authorization headers are refused, even if one is valid', async () => {
  const { value } = await newKey(db, clock)
  const port = await listen(app as App)
  const statusOf = async (headers: string) => {
    const [answer] = await exchange(port, `GET /leads HTTP/1.1\r\nHost: test\r\nConnection: close\r\n${headers}\r\n`)
    return answer?.statusCode
  }
  const header = `Authorization: Bearer ${value}\r\n`
  assert.equal(await statusOf(header), 200)
  assert.equal(await statusOf(header + header.replace('Authorization', 'AUTHORIZATION')), 401)
})

test('a revoked key gets a 401 that says so', async () => {
  const { key, value } = await newKey(db, clock)
  await db.tx((tx) => revokeApiKey(tx, key.workspaceId, key.id, clock.now()))
  await assertRejected('/leads', bearer(value), 'API key revoked')
})

test('a key expires at the exact millisecond, also while cached', async () => {
  const time = manualClock(noon)
  const { app: own } = await guardedApp(db, { clock: time })
  const { value } = await newKey(db, time, { expiresAt: new Date(noon.getTime() + 1000) })
  time.advance(999)
  assert.equal((await own.inject({ url: '/leads', headers: bearer(value) })).statusCode, 200)
  time.advance(1)
  const answer = await own.inject({ url: '/leads', headers: bearer(value) })
  assert.equal(answer.statusCode, 401)
  assert.equal(answer.json().statusMessage, 'API key expired')
})

test('an address outside the allowlist is refused, one inside is accepted', async () => {
  const { value } = await newKey(db, clock, { allowlist: ['203.0.113.0/24', '2001:db8::/32'] })
  const from = (address: string) => ({ ...bearer(value), 'x-forwarded-for': address })
  for (const address of ['203.0.113.9', '::ffff:203.0.113.9', '2001:db8::5', '6.6.6.6, 203.0.113.9']) {
    assert.equal((await get('/leads', from(address))).statusCode, 200, address)
  }
  for (const address of ['198.51.100.1', '203.0.113.9, 198.51.100.1', '2001:db9::5', 'unknown', '']) {
    await assertRejected('/leads', from(address), 'API key not allowed from this address')
  }
})

test('a missing scope is named; any one of several is sufficient', async () => {
  const { value: reader } = await newKey(db, clock, { scopes: ['leads.read'] })
  await assertRejected('/inbox', bearer(reader), 'API key lacks scope inbox.read')
  await assertRejected('/upsert', bearer(reader), 'API key lacks scope leads.write or leads.bulk')
  for (const scope of ['leads.write', 'leads.bulk']) {
    const { value } = await newKey(db, clock, { scopes: [scope] })
    assert.equal((await get('/upsert', bearer(value))).statusCode, 200)
    await assertRejected('/leads', bearer(value), 'API key lacks scope leads.read')
  }
})

test('an unknown scope in the database grants nothing', async () => {
  const { key, value } = await newKey(db, clock, { scopes: ['inbox.read'] })
  await db.sql`update api_keys set scopes = '{leads.*,leads.read.all,*}' where id = ${key.id}`
  await assertRejected('/leads', bearer(value), 'API key lacks scope leads.read')
})

test('problems of the key itself are reported before missing scopes', async () => {
  const { key, value } = await newKey(db, clock, { scopes: ['leads.read'], allowlist: ['203.0.113.1'] })
  await assertRejected('/inbox', bearer(value), 'API key not allowed from this address')
  await db.tx((tx) => revokeApiKey(tx, key.workspaceId, key.id, clock.now()))
  const { app: fresh } = await guardedApp(db, { clock })
  const answer = await fresh.inject({ url: '/inbox', headers: bearer(value) })
  assert.equal(answer.json().statusMessage, 'API key revoked')
})

const plans = [
  ['/leads', 'leads_enabled', 403, 'The plan of this workspace does not include leads', undefined],
  ['/inbox', 'inbox_enabled', 403, 'The plan of this workspace does not include the inbox', undefined],
  [
    '/inbox',
    'inbox_available',
    503,
    'The inbox is not available for this workspace at the moment',
    'CHAT_INBOX_UNAVAILABLE',
  ],
] as const

for (const [url, column, statusCode, statusMessage, code] of plans) {
  test(`${column} off: ${statusCode} only on ${url}`, async () => {
    const { key, value } = await newKey(db, clock)
    await db.sql`update workspaces set ${db.sql.set({ [column]: false })} where id = ${key.workspaceId}`
    const answer = await get(url, bearer(value))
    assert.deepEqual(answer.json(), { statusCode, statusMessage, ...(code ? { data: { code } } : {}) })
    const other = url === '/leads' ? '/inbox' : '/leads'
    assert.equal((await get(other, bearer(value))).statusCode, 200)
  })
}

test('the order of refusals is 401, 403, 429, 503', async () => {
  const { app: own } = await guardedApp(db, { clock, limits: { leadsPerMinute: 1, inboxPerMinute: 1 } })
  const { key, value } = await newKey(db, clock, { scopes: ['inbox.read'] })
  await db.sql`update workspaces set leads_enabled = false, inbox_available = false where id = ${key.workspaceId}`
  const status = async (url: string) => (await own.inject({ url, headers: bearer(value) })).statusCode
  assert.equal(await status('/leads'), 401)
  assert.equal(await status('/inbox'), 503)
  assert.equal(await status('/inbox'), 429)
  await db.sql`update workspaces set inbox_enabled = false where id = ${key.workspaceId}`
  await db.sql`select pg_notify('workspaces', ${key.workspaceId})`
  await waitForNotifications(db)
  assert.equal(await status('/inbox'), 403)
})

test('a route that only identifies the caller accepts any key and ignores the plan', async () => {
  const { key, value } = await newKey(db, clock, { scopes: ['inbox.write'] })
  await db.sql`update workspaces set leads_enabled = false, inbox_enabled = false where id = ${key.workspaceId}`
  assert.equal((await get('/any', bearer(value))).json().keyId, key.id)
  await assertRejected('/any', {}, missing)
})
