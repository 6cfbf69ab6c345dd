import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { revokeApiKey, rotateApiKey } from '../../../src/auth/api-keys/change-key.ts'
import { type CachedKey, cacheableKey, createKeyCache } from '../../../src/auth/api-keys/key-cache.ts'
import { makeKeyValue } from '../../../src/auth/api-keys/queries.ts'
import { manualClock } from '../../../src/base/clock.ts'
import { openNode, testDatabase } from '../../support/database.ts'
import { bearer, guardedApp, newKey, noon } from '../../support/guarded-app.ts'
import { databaseByProxy } from '../../support/postgres/cutting-proxy.ts'
import { waitForNotifications } from '../../support/wait-for-notifications.ts'

const { db, options } = await testDatabase()
const otherDb = openNode({ ...options, maxConnections: 2 })
after(() => otherDb.close())
// The clock stands still, so nothing below is owed to an entry that has grown old.
const clock = manualClock(noon)
const here = await guardedApp(db, { clock })
const there = await guardedApp(otherDb, { clock })

const status = async (node: typeof here, value: string) =>
  (await node.app.inject({ url: '/leads', headers: bearer(value) })).statusCode

test('a revoked key stops immediately on its node, and by notification on others', async () => {
  const { key, value } = await newKey(db, clock)
  assert.deepEqual([await status(here, value), await status(there, value)], [200, 200])
  await db.tx((tx) => revokeApiKey(tx, key.workspaceId, key.id, clock.now()))
  here.guard.forgetKey(key.id)
  assert.equal(await status(here, value), 401)
  await waitForNotifications(otherDb)
  assert.equal(await status(there, value), 401)
})

test('a changed workspace is invalidated on every node', async () => {
  const { key, value } = await newKey(db, clock)
  assert.deepEqual([await status(here, value), await status(there, value)], [200, 200])
  await db.tx(async (tx) => {
    await tx`update workspaces set leads_enabled = false where id = ${key.workspaceId}`
    await tx`select pg_notify('workspaces', ${key.workspaceId})`
  })
  await Promise.all([waitForNotifications(db), waitForNotifications(otherDb)])
  assert.deepEqual([await status(here, value), await status(there, value)], [403, 403])
})

test('the value before a rotation stops immediately or at the given time; the new one works immediately', async () => {
  const { key, value: first } = await newKey(db, clock)
  const rotate = async (until: Date | null) => {
    const rotated = await db.tx((tx) => rotateApiKey(tx, key.workspaceId, key.id, until, clock.now()))
    here.guard.forgetKey(key.id)
    return rotated.value
  }
  const second = await rotate(null)
  assert.deepEqual([await status(here, first), await status(here, second)], [401, 200])
  const third = await rotate(new Date(noon.getTime() + 60_000))
  assert.deepEqual([await status(here, second), await status(here, third)], [200, 200])
  clock.advance(60_000)
  assert.deepEqual([await status(here, second), await status(here, third)], [401, 200])
  clock.set(noon)
})

function fakeKey(keyId: string): CachedKey {
  return cacheableKey({
    workspaceId: 'workspace',
    id: keyId,
    name: 'Test',
    scopes: ['leads.read'],
    connectionIds: [],
    phoneVisibility: 'full',
    allowlist: [],
    unansweredSends: null,
    dailySends: null,
    quietSeconds: null,
    maxParts: null,
    showTyping: false,
    agentMaxParts: 1,
    oauthClient: null,
    isSandbox: false,
    approval: null,
    toolsOff: [],
    instructionsVersion: 0,
    expiresAt: null,
    revokedAt: null,
    validUntil: null,
    defaultCountry: null,
    leadsEnabled: true,
    inboxEnabled: true,
    inboxAvailable: true,
    hours: null,
  })
}

test('a key is read again after 4 s, so that revocation works within 5 s without a notification', async () => {
  const time = manualClock(noon)
  let reads = 0
  const cache = createKeyCache(time, async () => {
    reads++
    return fakeKey('a')
  })
  await cache.find('h')
  time.advance(3999)
  await cache.find('h')
  assert.equal(reads, 1)
  time.advance(1)
  await cache.find('h')
  assert.equal(reads, 2)
  time.advance(-3_600_000)
  await cache.find('h')
  assert.equal(reads, 3, 'a clock set back does not keep a key alive')
})

test('a read that started before the key was revoked is neither shared nor cached', async () => {
  const answers: ((key: CachedKey) => void)[] = []
  const cache = createKeyCache(clock, () => new Promise((resolve) => answers.push(resolve)))
  const before = cache.find('h')
  cache.invalidateKey('a')
  const afterwards = cache.find('h')
  assert.equal(answers.length, 2)
  answers[0]?.(fakeKey('before'))
  answers[1]?.(fakeKey('afterwards'))
  assert.equal((await before)?.caller.keyId, 'before')
  assert.equal((await afterwards)?.caller.keyId, 'afterwards')
  const kept = await cache.find('h')
  assert.equal(kept?.caller.keyId, 'afterwards')
})

test('unknown keys do not evict known ones', async () => {
  let reads = 0
  const cache = createKeyCache(clock, async (keyHash) => {
    reads++
    return keyHash === 'known' ? fakeKey('a') : null
  })
  await cache.find('known')
  for (let invented = 0; invented < 2_000; invented++) await cache.find(`unknown ${invented}`)
  const readsBefore = reads
  await cache.find('known')
  assert.equal(reads, readsBefore)
})

test('unknown keys are looked up in batches: a hundred need a few statements, and a new key works immediately', async () => {
  let statements = 0
  const counting = openNode({
    ...options,
    maxConnections: 2,
    onStatement: ({ text }) => void (text.includes('api_keys') && statements++),
  })
  after(() => counting.close())
  const node = await guardedApp(counting, { clock })
  const invented = Array.from({ length: 300 }, () => status(node, makeKeyValue()))
  const { value } = await newKey(db, clock)
  assert.equal(await status(node, value), 200)
  assert.deepEqual([...new Set(await Promise.all(invented))], [401])
  assert.ok(statements <= 8, `${statements} statements`)
})

test('a key revoked while a node had no LISTEN connection stops there after the reconnect', async () => {
  const { proxy, options: byProxy } = await databaseByProxy(options)
  const [lost, heard] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const onListening = (isHearing: boolean) => (isHearing ? heard : lost).resolve()
  const deafDb = openNode({ ...byProxy, maxConnections: 2, onListening })
  after(() => deafDb.close())
  const deaf = await guardedApp(deafDb, { clock })
  const { key, value } = await newKey(db, clock)
  assert.equal(await status(deaf, value), 200)
  proxy.cutAfter(0)
  proxy.cutAll()
  await lost.promise
  await db.tx((tx) => revokeApiKey(tx, key.workspaceId, key.id, clock.now()))
  assert.equal(await status(deaf, value), 200)
  proxy.cutAfter(null)
  await heard.promise
  assert.equal(await status(deaf, value), 401)
})
