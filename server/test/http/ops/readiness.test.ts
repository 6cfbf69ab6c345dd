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
  const isReady = createReadiness(db, { maxWaitMs: 200 })
  const isAtIt = async () => {
    const sessions = await db.sql`
      select
      from pg_stat_activity
      where datname = current_database()
        and query like '%insert into process_writes%'
        and state = 'active'
        and pid <> pg_backend_pid()`
    return sessions.length > 0
  }
  const [locked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = db.tx(async (tx) => {
    await tx`lock table process_writes in share mode`
    locked.resolve()
    await held.promise
  })
  await locked.promise
  await assert.rejects(isReady())
  await until(async () => !(await isAtIt()), 'the end of its session')
  held.resolve()
  await holding
  // The server forgets a session before its client has heard so, and until then no other write begins.
  const answers = async () =>
    isReady().then(
      () => true,
      () => false,
    )
  await until(answers, 'a process that is ready again')
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
