import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rebuildSparseIndexes } from '../../src/base/rebuild-indexes.ts'
import { testDatabase } from '../support/database.ts'

const index = 'login_attempts_last_at'
const limits = { minIndexBytes: 100_000, maxTableBytes: 1024 ** 3, maxWaitMs: 60_000 }

test('an index of nearly empty pages is rebuilt, and one that is dense is not', async () => {
  const { db } = await testDatabase()
  const { sql } = db
  const sizeOf = async () => Number((await sql`select pg_relation_size(${index}::regclass) as bytes`)[0]?.bytes)
  await sql`
    insert into login_attempts (key, failures, last_at, blocked_until)
    select uuid_send(gen_random_uuid()), 0, timestamptz '2000-01-01' + n * interval '1 minute', now()
    from generate_series(1, 10000) n`
  await sql.unsafe('vacuum analyze login_attempts')
  const dense = await sizeOf()
  assert.equal(await rebuildSparseIndexes(db, limits), 0)

  await sql`delete from login_attempts where extract(minute from last_at) <> 0`
  await sql.unsafe('vacuum analyze login_attempts')
  assert.equal(await sizeOf(), dense)
  assert.equal(await rebuildSparseIndexes(db, { ...limits, maxTableBytes: 1000 }), 0)
  assert.equal(await rebuildSparseIndexes(db, limits), 1)
  assert.ok((await sizeOf()) < dense / 10)
  const found = await sql`select indisvalid from pg_index where indexrelid = ${index}::regclass`
  assert.deepEqual([...found], [{ indisvalid: true }])
  await sql`delete from login_attempts where last_at < '2001-01-01'`
})

test('what an interrupted rebuild left is dropped', async () => {
  const { db } = await testDatabase()
  const left = 'login_attempts_last_at_ccnew1'
  await db.sql`
    insert into login_attempts (key, failures, last_at, blocked_until)
    values ('a', 1, '2000-01-01', now()), ('b', 1, '2000-01-01', now())`
  await assert.rejects(db.sql.unsafe(`create unique index concurrently ${left} on login_attempts (last_at)`))
  const exists = async () => (await db.sql`select to_regclass(${left}) is not null as is`)[0]?.is
  assert.equal(await exists(), true)
  await rebuildSparseIndexes(db, limits)
  assert.equal(await exists(), false)
  await db.sql`delete from login_attempts where last_at < '2001-01-01'`
})

test('nothing is done while a transaction is open for which it would wait', async () => {
  const { db } = await testDatabase()
  const left = 'login_attempts_last_at_ccold'
  await db.sql`
    insert into login_attempts (key, failures, last_at, blocked_until)
    values ('a', 1, '2000-01-01', now()), ('b', 1, '2000-01-01', now())`
  await assert.rejects(db.sql.unsafe(`create unique index concurrently ${left} on login_attempts (last_at)`))
  const exists = async () => (await db.sql`select to_regclass(${left}) is not null as is`)[0]?.is
  const [opened, checked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const open = db.tx(async (tx) => {
    await tx`select 1`
    opened.resolve()
    await checked.promise
  })
  await opened.promise
  await rebuildSparseIndexes(db, { ...limits, maxWaitMs: 0 })
  assert.equal(await exists(), true)
  checked.resolve()
  await open
  await rebuildSparseIndexes(db, limits)
  assert.equal(await exists(), false)
  await db.sql`delete from login_attempts where last_at < '2001-01-01'`
})
