import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReadinessCheck, serveHealth } from '../../../src/http/monitoring/health.ts'
import { everyStatementOf, testDatabase } from '../../support/database.ts'
import { testServer } from '../../support/http.ts'

const { db } = await testDatabase()

test('frequent checks share one write per 5 s', async () => {
  let nowMs = 0
  const isReady = createReadinessCheck(db, { nowMs: () => nowMs })
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

test('a hanging write makes the process unready and its session is terminated', async () => {
  let writing: Promise<unknown> = Promise.resolve()
  const tx: typeof db.tx = (work) => {
    const written = db.tx(work)
    writing = written
    return written
  }
  const isReady = createReadinessCheck({ ...db, tx }, { maxWaitMs: 200 })
  const [locked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = db.tx(async (other) => {
    await other`lock table process_writes in share mode`
    locked.resolve()
    await held.promise
  })
  await locked.promise
  await assert.rejects(isReady())
  await assert.rejects(writing, 'the server has ended the session')
  held.resolve()
  await holding
  await isReady()
})

test('rows of ended processes are deleted', async () => {
  await db.sql`insert into process_writes values (gen_random_uuid(), now() - interval '2 hours')`
  await createReadinessCheck(db)()
  const [row] = await db.sql<{ count: number }[]>`
    select count(*)::integer as count
    from process_writes
    where written_at < now() - interval '1 hour'`
  assert.equal(row?.count, 0)
})

test('liveness ignores the database, readiness requires it', async () => {
  const rows: [name: string, ask: () => Promise<unknown>, ready: number][] = [
    ['answers', async () => 1, 200],
    ['fails', async () => Promise.reject(new Error('gone')), 503],
  ]
  for (const [name, ask, ready] of rows) {
    const { app } = testServer()
    serveHealth(app, ask)
    assert.deepEqual((await app.inject('/healthz')).json(), { status: 'ok' })
    assert.equal((await app.inject({ method: 'HEAD', url: '/healthz' })).statusCode, 200)
    const answer = await app.inject('/readyz')
    assert.equal(answer.statusCode, ready, name)
    if (ready === 503) assert.deepEqual(answer.json().data, { code: 'DATABASE_UNAVAILABLE' })
  }
})

test('invalid health requests are rejected like any other', async () => {
  const { app } = testServer()
  serveHealth(app, async () => 1)
  for (const path of ['/healthz', '/readyz']) {
    assert.equal((await app.inject(`${path}?a=1&a=2`)).statusCode, 400, path)
  }
})
