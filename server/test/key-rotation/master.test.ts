import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { manualClock } from '../../src/base/clock.ts'
import { type KeyStore, type MasterKeys, openKeyStore } from '../../src/base/encryption/key-store.ts'
import {
  loadOrCreateMasterKeyFile,
  masterKeyId,
  readPreviousMasterKeyFiles,
  replaceMasterKeyFile,
} from '../../src/base/encryption/secrets.ts'
import { newId } from '../../src/base/id.ts'
import { rotateMasterKey } from '../../src/key-rotation/rotation-routes.ts'
import { testDatabase } from '../support/database.ts'
import { newFolder } from '../support/folder.ts'

const clock = manualClock(new Date('2026-03-01T12:00:00Z'))
const place = { table: 'leads', row: newId(clock.now()), column: 'notes' }
const by = { type: 'token', id: newId(clock.now()) } as const

test('after a rotation only the new master key decrypts existing data', async () => {
  const { keyStore: before, db } = await installation({ current: Buffer.alloc(32, 1) })
  const scopes = await addScopes(before, 3)
  const sealed = (await before.keyring(scopes[0] ?? '')).encrypt(place, 'Ana')
  const both = openKeyStore(db, { current: Buffer.alloc(32, 2), previous: [Buffer.alloc(32, 1)] }, clock)
  assert.equal(await both.rewrapSecrets(), 9)
  assert.equal(await both.rewrapSecrets(), 0)

  const after = openKeyStore(db, { current: Buffer.alloc(32, 2) }, clock)
  assert.equal((await after.keyring(scopes[0] ?? '')).decryptText(place, sealed), 'Ana')
  const late = openKeyStore(db, { current: Buffer.alloc(32, 1) }, clock)
  await assert.rejects(late.keyring(scopes[0] ?? ''), /wrapped by master key/)
})

test('two concurrent runs wrap each secret once', async () => {
  const { keyStore, db } = await installation({ current: Buffer.alloc(32, 3) })
  // More secrets than are wrapped at once.
  await addScopes(keyStore, 180)
  const keys = { current: Buffer.alloc(32, 4), previous: [Buffer.alloc(32, 3)] }
  const counts = await Promise.all([1, 2].map(() => openKeyStore(db, keys, clock).rewrapSecrets()))
  assert.equal((counts[0] ?? 0) + (counts[1] ?? 0), 540)
})

test('a key in a file is replaced: the previous one is kept next to it, and the next start decrypts everything', async () => {
  const masterKeyFile = join(await newFolder(), 'master.key')
  const { keyStore, db } = await installation({ current: loadOrCreateMasterKeyFile(masterKeyFile) })
  const [scope = ''] = await addScopes(keyStore, 2)
  const sealed = (await keyStore.keyring(scope)).encrypt(place, 'Ana')
  const told: Buffer[] = []
  const masterKeyReplaced = (key: Buffer) => void told.push(key)
  const deps = { db, keyStore, clock, masterKeyFile, masterKeyReplaced, sharesDatabase: false }

  const first = await rotateMasterKey(deps, by)
  assert.equal(first.rewrapped, 6)
  const key = loadOrCreateMasterKeyFile(masterKeyFile)
  assert.equal(masterKeyId(key), first.masterKeyId)
  assert.deepEqual(told, [key])
  const [fresh] = await addScopes(keyStore, 1)
  const next = openKeyStore(db, { current: key }, clock)
  assert.equal((await next.keyring(scope)).decryptText(place, sealed), 'Ana')
  await next.keyring(fresh ?? '')

  await rotateMasterKey(deps, by)
  assert.equal(readPreviousMasterKeyFiles(masterKeyFile).length, 2)
})

test('a run killed after the file was replaced is continued: no third key is created', async () => {
  const masterKeyFile = join(await newFolder(), 'master.key')
  const { keyStore, db } = await installation({ current: loadOrCreateMasterKeyFile(masterKeyFile) })
  await addScopes(keyStore, 2)
  const { masterKey } = replaceMasterKeyFile(masterKeyFile)
  const current = loadOrCreateMasterKeyFile(masterKeyFile)
  assert.deepEqual(current, masterKey)
  const restarted = openKeyStore(db, { current, previous: readPreviousMasterKeyFiles(masterKeyFile) }, clock)
  const done = await rotateMasterKey(
    { db, keyStore: restarted, clock, masterKeyFile, masterKeyReplaced: () => assert.fail(), sharesDatabase: false },
    by,
  )
  assert.deepEqual(done, { masterKeyId: masterKeyId(masterKey), rewrapped: 6, previousFile: null })
})

test('a key file is not replaced while other nodes may have their own; temporary files are not read as keys', async () => {
  const folder = await newFolder()
  const masterKeyFile = join(folder, 'master.key')
  const { keyStore, db } = await installation({ current: loadOrCreateMasterKeyFile(masterKeyFile) })
  const refused = rotateMasterKey(
    { db, keyStore, clock, masterKeyFile, masterKeyReplaced: () => assert.fail(), sharesDatabase: true },
    by,
  )
  await assert.rejects(refused, /PARLEY_MASTER_KEY/)
  writeFileSync(join(folder, 'master.key.0123456789ab'), 'half a key')
  assert.deepEqual(readPreviousMasterKeyFiles(masterKeyFile), [])
  assert.deepEqual(readdirSync(folder).sort(), ['master.key', 'master.key.0123456789ab'])
})

/** An installation without a secret. */
async function installation(keys: MasterKeys) {
  const { db } = await testDatabase()
  await db.sql`delete from secrets`
  return { db, keyStore: openKeyStore(db, keys, clock) }
}

async function addScopes(keyStore: KeyStore, count: number): Promise<string[]> {
  const { db } = await testDatabase()
  const scopes = Array.from({ length: count }, () => newId(clock.now()))
  await Promise.all(scopes.map((scope) => db.tx((tx) => keyStore.createSecrets(tx, scope))))
  return scopes
}
