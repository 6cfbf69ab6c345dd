import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReadiness } from '../../../src/http/ops/readiness.ts'
import { everyStatementOf, testDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const { db } = await testDatabase()

test('whoever asks often shares one write in 5 s', async () => {
  let nowMs = 0
  const isReady = createReadiness(db, { nowMs: () => nowMs })
  const writesOf = async (times: number) => {
    const sent = await everyStatementOf(async () => {
      for (let n = 0; n < times; n++) await Promise.all([isReady(), isReady()])
    })
    return sent.filter(({ text }) => text.includes('insert into process_writes')).length
  }
  assert.equal(await writesOf(3), 1)
  nowMs += 4_999
  assert.equal(await writesOf(1), 0)
  nowMs += 1
  assert.equal(await writesOf(2), 1)
})

test('while a write does not come to its end the process is not ready, no session is left at it, and then it is', async () => {
  const isReady = createReadiness(db, { maxWaitMs: 300 })
  const sessions = () => db.sql`
    select
    from pg_stat_activity
    where datname = current_database()
      and query like '%insert into process_writes%'
      and state = 'active'
      and pid <> pg_backend_pid()`
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holding = db.tx(async (tx) => {
    await tx`lock table process_writes in share mode`
    locked.resolve()
    await held
  })
  await locked.promise
  const waiting = assert.rejects(isReady())
  await until(async () => (await sessions()).length === 1, 'a write that waits')
  await waiting
  await until(async () => (await sessions()).length === 0, 'the end of its session')
  release()
  await holding
  // The server forgets a session before its client has heard so, and until then no other write begins.
  await until(
    () =>
      isReady().then(
        () => true,
        () => false,
      ),
    'a process that is ready again',
  )
})

test('rows of processes that have gone are removed', async () => {
  await db.sql`insert into process_writes values (gen_random_uuid(), now() - interval '2 hours')`
  await createReadiness(db)()
  const [row] = await db.sql<{ count: number }[]>`
    select count(*)::integer as count
    from process_writes
    where written_at < now() - interval '1 hour'`
  assert.equal(row?.count, 0)
})
