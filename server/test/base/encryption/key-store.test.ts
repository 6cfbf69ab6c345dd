import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { manualClock } from '../../../src/base/clock.ts'
import type { Db } from '../../../src/base/db.ts'
import { DecryptionError, type EncryptionContext, UnknownKeyVersion } from '../../../src/base/encryption/encrypt.ts'
import { instanceScope, type KeyStore, openKeyStore, publishErasure } from '../../../src/base/encryption/key-store.ts'
import { insertSecret, listSecrets } from '../../../src/base/encryption/secrets.ts'
import { newId } from '../../../src/base/id.ts'
import { testDatabase } from '../../support/database.ts'

const start = new Date('2026-03-01T12:00:00Z')
const place: EncryptionContext = { table: 'leads', row: instanceScope, column: 'personal' }

test('a scope has keys once its secrets are committed, and two key stores load the same ones', async () => {
  const { db, keyStore, masterKey } = await world()
  const scope = await newScope(db, keyStore)
  const sealed = (await keyStore.keyring(scope)).encrypt(place, 'Ana')
  const elsewhere = openKeyStore(db, { current: masterKey }, manualClock(start))
  assert.equal((await elsewhere.keyring(scope)).decryptText(place, sealed), 'Ana')
})

test('a scope without secrets has no keyring until secrets are created', async () => {
  const { db, keyStore } = await world()
  const scope = newId(start)
  await assert.rejects(keyStore.keyring(scope), /no current data secret/)
  await db.tx((tx) => keyStore.createSecrets(tx, scope))
  assert.equal((await keyStore.keyring(scope)).dataVersion, 1)
})

test('secrets are random for each scope and purpose, and stored only wrapped', async () => {
  const { db, keyStore } = await world()
  const rows = [
    ...(await listSecrets(db.sql, await newScope(db, keyStore))),
    ...(await listSecrets(db.sql, await newScope(db, keyStore))),
  ]
  assert.deepEqual(
    rows.map(({ purpose, version, current }) => [purpose, version, current]),
    [
      ['data', 1, true],
      ['index', 1, true],
      ['stable', 1, true],
      ['data', 1, true],
      ['index', 1, true],
      ['stable', 1, true],
    ],
  )
  assert.equal(new Set(rows.map((row) => row.wrapped.toString('hex'))).size, 6)
  assert.ok(rows.every((row) => row.wrapped.length === 12 + 32 + 16))
})

test('existing secrets are never replaced', async () => {
  const { db, keyStore } = await world()
  const scope = await newScope(db, keyStore)
  const before = await listSecrets(db.sql, scope)
  await Promise.all([1, 2, 3].map(() => db.tx((tx) => keyStore.createSecrets(tx, scope))))
  assert.deepEqual(await listSecrets(db.sql, scope), before)
})

test('a wrapped secret copied to another scope, purpose or version cannot be decrypted', async () => {
  const { db, keyStore } = await world()
  const [scope, victim] = [await newScope(db, keyStore), await newScope(db, keyStore)]
  const [data] = await listSecrets(db.sql, scope)
  assert.ok(data)
  const copies = [
    db.sql`update secrets set wrapped = ${data.wrapped} where scope_id = ${victim} and purpose = 'data'`,
    db.sql`update secrets set wrapped = ${data.wrapped} where scope_id = ${scope} and purpose = 'index'`,
  ]
  await Promise.all(copies)
  await assert.rejects(keyStore.keyring(victim), /Cannot decrypt data secret 1 of scope/)
  await assert.rejects(keyStore.keyring(scope), /Cannot decrypt index secret 1 of scope/)

  const third = await newScope(db, keyStore)
  await db.sql`update secrets set version = 2 where scope_id = ${third} and purpose = 'data'`
  await assert.rejects(keyStore.keyring(third), /Cannot decrypt data secret 2 of scope/)
})

test('a previous master key unwraps its secrets, and without it the error names the missing key', async () => {
  const { db, keyStore, masterKey } = await world()
  const scope = await newScope(db, keyStore)
  const sealed = (await keyStore.keyring(scope)).encrypt(place, 'Ana')
  const current = randomBytes(32)
  const successor = openKeyStore(db, { current, previous: [masterKey] }, manualClock(start))
  assert.equal((await successor.keyring(scope)).decryptText(place, sealed), 'Ana')
  const stranger = openKeyStore(db, { current }, manualClock(start))
  await assert.rejects(stranger.keyring(scope), /wrapped by master key [0-9a-f]{8}: set it/)
})

test('keys are loaded once per 10 seconds, or after they were forgotten', async () => {
  const { db, keyStore, clock } = await world()
  const scope = await newScope(db, keyStore)
  const first = await keyStore.keyring(scope)
  clock.advance(9_999)
  assert.equal(await keyStore.keyring(scope), first)
  clock.advance(1)
  const second = await keyStore.keyring(scope)
  assert.notEqual(second, first)
  keyStore.forget(scope)
  assert.notEqual(await keyStore.keyring(scope), second)
})

test('a value under a new key version is decrypted after one reload', async () => {
  const { db, keyStore, masterKey } = await world()
  const scope = await newScope(db, keyStore)
  await keyStore.keyring(scope)

  await db.sql`update secrets set current = false where scope_id = ${scope} and purpose = 'data'`
  await db.tx((tx) =>
    insertSecret(tx, { scopeId: scope, purpose: 'data', version: 2, current: true }, masterKey, start),
  )
  const ahead = openKeyStore(db, { current: masterKey }, manualClock(start))
  const sealed = (await ahead.keyring(scope)).encrypt(place, 'Ana')

  assert.equal(await keyStore.withKeyring(scope, (keyring) => keyring.decryptText(place, sealed)), 'Ana')
  assert.equal((await keyStore.keyring(scope)).dataVersion, 2)

  let attempts = 0
  const unknown = Buffer.from(sealed)
  unknown.writeUInt32BE(9, 1)
  const open = keyStore.withKeyring(scope, (keyring) => {
    attempts++
    return keyring.decryptText(place, unknown)
  })
  // No longer counts as a key that may appear a moment later.
  await assert.rejects(open, (error) => error instanceof DecryptionError && !(error instanceof UnknownKeyVersion))
  assert.equal(attempts, 2)
})

test('the instance has secrets after the start, and a wrong master key fails the start', async () => {
  const { db, keyStore } = await world()
  const scopes = db.sql<{ count: number }[]>`select count(*) from secrets where scope_id = ${instanceScope}`
  // Other tests share the instance's secrets, and wrapped them with their own keys.
  await db.sql`delete from secrets where scope_id = ${instanceScope}`
  await Promise.all([keyStore.ensureInstanceSecrets(), keyStore.ensureInstanceSecrets()])
  assert.deepEqual([...(await scopes)], [{ count: 3 }])
  const stranger = openKeyStore(db, { current: randomBytes(32) }, manualClock(start))
  await assert.rejects(stranger.ensureInstanceSecrets(), /wrapped by master key/)
})

async function world() {
  const { db } = await testDatabase()
  const masterKey = randomBytes(32)
  const clock = manualClock(start)
  return { db, clock, masterKey, keyStore: openKeyStore(db, { current: masterKey }, clock) }
}

async function newScope(db: Db, keyStore: KeyStore): Promise<string> {
  const scope = newId(start)
  await db.tx((tx) => keyStore.createSecrets(tx, scope))
  return scope
}

test('cached plaintexts survive a key reload and are dropped when an erasure commits', async () => {
  const { db, keyStore, clock } = await world()
  const scope = await newScope(db, keyStore)
  let reads = 0
  const columns = {
    ...{ table: place.table, columns: [place.column, 'other'] },
    read: (...plain: (string | null)[]) => {
      reads++
      return plain
    },
  }
  const sealed = `${(await keyStore.keyring(scope)).encrypt(place, 'Ana').toString('base64')} `
  const recall = async () => (await keyStore.keyring(scope)).decryptCached(columns, place.row, sealed)

  assert.deepEqual([await recall(), await recall(), reads], [['Ana', null], ['Ana', null], 1])
  clock.advance(10_000)
  await recall()
  assert.equal(reads, 1)
  await db.tx(async (tx) => publishErasure(tx, scope))
  await recall()
  assert.equal(reads, 2)
  keyStore.forget(scope)
  await recall()
  assert.equal(reads, 3)
})

test('a value that was moved to another row is not served from the cache', async () => {
  const { db, keyStore } = await world()
  const scope = await newScope(db, keyStore)
  const keyring = await keyStore.keyring(scope)
  const columns = { table: place.table, columns: [place.column], read: (plain: string | null) => plain }
  const sealed = keyring.encrypt(place, 'Ana').toString('base64')
  assert.equal(keyring.decryptCached(columns, place.row, sealed), 'Ana')
  assert.throws(() => keyring.decryptCached(columns, newId(start), sealed), /Cannot decrypt/)
})
