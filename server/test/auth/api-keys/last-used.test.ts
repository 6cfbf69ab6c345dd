import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cacheableKey } from '../../../src/auth/api-keys/key-cache.ts'
import { createLastCalls } from '../../../src/auth/api-keys/last-calls.ts'
import { hashKeyValue, selectApiKey, selectKeysByHash } from '../../../src/auth/api-keys/queries.ts'
import { manualClock } from '../../../src/base/clock.ts'
import { testDatabase } from '../../support/database.ts'
import { newKey, noon } from '../../support/guarded-app.ts'

const { db } = await testDatabase()

async function usedKey() {
  const clock = manualClock(noon)
  const { key, value } = await newKey(db, clock)
  const [row] = await selectKeysByHash(db.sql, [hashKeyValue(value)])
  assert.ok(row)
  const lastUsed = createLastCalls(db, clock)
  const readSeconds = async () => {
    const at = (await selectApiKey(db.sql, key.workspaceId, key.id))?.lastUsedAt
    return at ? (at.getTime() - noon.getTime()) / 1000 : null
  }
  return { clock, lastUsed, caller: cacheableKey(row).caller, readSeconds }
}

test('the first use is written soon, later ones once a minute', async () => {
  const { clock, lastUsed, caller, readSeconds } = await usedKey()
  lastUsed.recordUse(caller)
  assert.equal(await readSeconds(), null)
  await lastUsed.flush()
  assert.equal(await readSeconds(), 0)
  clock.advance(59_000)
  lastUsed.recordUse(caller)
  await lastUsed.flush()
  assert.equal(await readSeconds(), 0)
  clock.advance(1000)
  lastUsed.recordUse(caller)
  await lastUsed.flush()
  assert.equal(await readSeconds(), 60)
  await lastUsed.close()
})

test('two nodes together write once a minute', async () => {
  const { clock, lastUsed, caller, readSeconds } = await usedKey()
  const elsewhere = createLastCalls(db, clock)
  lastUsed.recordUse(caller)
  await lastUsed.flush()
  clock.advance(30_000)
  elsewhere.recordUse(caller)
  await elsewhere.flush()
  assert.equal(await readSeconds(), 0)
  await Promise.all([lastUsed.close(), elsewhere.close()])
})

test('pending uses are written on closing', async () => {
  const { lastUsed, caller, readSeconds } = await usedKey()
  lastUsed.recordUse(caller)
  await lastUsed.close()
  assert.equal(await readSeconds(), 0)
})
