import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { manualClock } from '../../../src/base/clock.ts'
import type { Db } from '../../../src/base/db.ts'
import { newId } from '../../../src/base/id.ts'
import { SealBroken, type SealPlace, UnknownKeyVersion } from '../../../src/base/sealing/seal.ts'
import { insertSecret, listSecrets } from '../../../src/base/sealing/secrets.ts'
import { forgetErased, instanceScope, openVault, type Vault } from '../../../src/base/sealing/vault.ts'
import { testDatabase } from '../../support/database.ts'

const start = new Date('2026-03-01T12:00:00Z')
const place: SealPlace = { table: 'leads', row: instanceScope, column: 'personal' }

test('a scope has keys once its secrets are committed, and two vaults have the same ones', async () => {
  const { db, vault, masterKey } = await world()
  const scope = await newScope(db, vault)
  const sealed = (await vault.keyring(scope)).seal(place, 'Ana')
  const elsewhere = openVault(db, { current: masterKey }, manualClock(start))
  assert.equal((await elsewhere.keyring(scope)).openText(place, sealed), 'Ana')
})

test('a scope without secrets has no keyring, and gets one as soon as it has secrets', async () => {
  const { db, vault } = await world()
  const scope = newId(start)
  await assert.rejects(vault.keyring(scope), /no current data secret/)
  await db.tx((tx) => vault.createSecrets(tx, scope))
  assert.equal((await vault.keyring(scope)).dataVersion, 1)
})

test('secrets are random for each scope and purpose, and stored only wrapped', async () => {
  const { db, vault } = await world()
  const rows = [
    ...(await listSecrets(db.sql, await newScope(db, vault))),
    ...(await listSecrets(db.sql, await newScope(db, vault))),
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

test('secrets that exist are never replaced', async () => {
  const { db, vault } = await world()
  const scope = await newScope(db, vault)
  const before = await listSecrets(db.sql, scope)
  await Promise.all([1, 2, 3].map(() => db.tx((tx) => vault.createSecrets(tx, scope))))
  assert.deepEqual(await listSecrets(db.sql, scope), before)
})

test('a wrapped secret copied to another scope, purpose or version does not open', async () => {
  const { db, vault } = await world()
  const [scope, victim] = [await newScope(db, vault), await newScope(db, vault)]
  const [data] = await listSecrets(db.sql, scope)
  assert.ok(data)
  const copies = [
    db.sql`update secrets set wrapped = ${data.wrapped} where scope_id = ${victim} and purpose = 'data'`,
    db.sql`update secrets set wrapped = ${data.wrapped} where scope_id = ${scope} and purpose = 'index'`,
  ]
  await Promise.all(copies)
  await assert.rejects(vault.keyring(victim), /data secret 1 of scope .* does not open/)
  await assert.rejects(vault.keyring(scope), /index secret 1 of scope .* does not open/)

  const third = await newScope(db, vault)
  await db.sql`update secrets set version = 2 where scope_id = ${third} and purpose = 'data'`
  await assert.rejects(vault.keyring(third), /data secret 2 of scope .* does not open/)
})

test('what a previous master key wrapped opens, and without it the error names the missing key', async () => {
  const { db, vault, masterKey } = await world()
  const scope = await newScope(db, vault)
  const sealed = (await vault.keyring(scope)).seal(place, 'Ana')
  const current = randomBytes(32)
  const successor = openVault(db, { current, previous: [masterKey] }, manualClock(start))
  assert.equal((await successor.keyring(scope)).openText(place, sealed), 'Ana')
  const stranger = openVault(db, { current }, manualClock(start))
  await assert.rejects(stranger.keyring(scope), /wrapped by master key [0-9a-f]{8}: give it/)
})

test('keys are read from the database once in 10 seconds, or after they were forgotten', async () => {
  const { db, vault, clock } = await world()
  const scope = await newScope(db, vault)
  const first = await vault.keyring(scope)
  clock.advance(9_999)
  assert.equal(await vault.keyring(scope), first)
  clock.advance(1)
  const second = await vault.keyring(scope)
  assert.notEqual(second, first)
  vault.forget(scope)
  assert.notEqual(await vault.keyring(scope), second)
})

test('a value under a version made meanwhile opens by one reload', async () => {
  const { db, vault, masterKey } = await world()
  const scope = await newScope(db, vault)
  await vault.keyring(scope)

  await db.sql`update secrets set current = false where scope_id = ${scope} and purpose = 'data'`
  await db.tx((tx) =>
    insertSecret(tx, { scopeId: scope, purpose: 'data', version: 2, current: true }, masterKey, start),
  )
  const ahead = openVault(db, { current: masterKey }, manualClock(start))
  const sealed = (await ahead.keyring(scope)).seal(place, 'Ana')

  assert.equal(await vault.withKeyring(scope, (keyring) => keyring.openText(place, sealed)), 'Ana')
  assert.equal((await vault.keyring(scope)).dataVersion, 2)

  let attempts = 0
  const unknown = Buffer.from(sealed)
  unknown.writeUInt32BE(9, 1)
  const open = vault.withKeyring(scope, (keyring) => {
    attempts++
    return keyring.openText(place, unknown)
  })
  // To nobody is it a key that may be there a moment later.
  await assert.rejects(open, (error) => error instanceof SealBroken && !(error instanceof UnknownKeyVersion))
  assert.equal(attempts, 2)
})

test('the instance has secrets after the start, and a wrong master key is found out at the start', async () => {
  const { db, vault } = await world()
  const scopes = db.sql<{ count: number }[]>`select count(*) from secrets where scope_id = ${instanceScope}`
  // Other tests of the database share the instance's secrets, and wrapped them with keys of their own.
  await db.sql`delete from secrets where scope_id = ${instanceScope}`
  await Promise.all([vault.ensureInstanceSecrets(), vault.ensureInstanceSecrets()])
  assert.deepEqual([...(await scopes)], [{ count: 3 }])
  const stranger = openVault(db, { current: randomBytes(32) }, manualClock(start))
  await assert.rejects(stranger.ensureInstanceSecrets(), /wrapped by master key/)
})

async function world() {
  const { db } = await testDatabase()
  const masterKey = randomBytes(32)
  const clock = manualClock(start)
  return { db, clock, masterKey, vault: openVault(db, { current: masterKey }, clock) }
}

async function newScope(db: Db, vault: Vault): Promise<string> {
  const scope = newId(start)
  await db.tx((tx) => vault.createSecrets(tx, scope))
  return scope
}

test('what was opened is remembered over new keys, and dropped once an erasure has committed', async () => {
  const { db, vault, clock } = await world()
  const scope = await newScope(db, vault)
  let reads = 0
  const columns = {
    ...{ table: place.table, columns: [place.column, 'other'] },
    read: (...plain: (string | null)[]) => {
      reads++
      return plain
    },
  }
  const sealed = `${(await vault.keyring(scope)).seal(place, 'Ana').toString('base64')} `
  const recall = async () => (await vault.keyring(scope)).recall(columns, place.row, sealed)

  assert.deepEqual([await recall(), await recall(), reads], [['Ana', null], ['Ana', null], 1])
  clock.advance(10_000)
  await recall()
  assert.equal(reads, 1)
  await db.tx(async (tx) => forgetErased(tx, scope))
  await recall()
  assert.equal(reads, 2)
  vault.forget(scope)
  await recall()
  assert.equal(reads, 3)
})

test('a value that was moved to another row is not recalled there', async () => {
  const { db, vault } = await world()
  const scope = await newScope(db, vault)
  const keyring = await vault.keyring(scope)
  const columns = { table: place.table, columns: [place.column], read: (plain: string | null) => plain }
  const sealed = keyring.seal(place, 'Ana').toString('base64')
  assert.equal(keyring.recall(columns, place.row, sealed), 'Ana')
  assert.throws(() => keyring.recall(columns, newId(start), sealed), /does not open/)
})
