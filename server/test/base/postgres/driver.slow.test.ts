import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Db, openDb } from '../../../src/base/db.ts'
import { startEmbeddedPostgres } from '../../../src/base/embedded/embedded-postgres.ts'
import { bypassPooler, emptyDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { newFolder } from '../../support/folder.ts'
import { databaseByProxy } from '../../support/postgres/cutting-proxy.ts'
import { until } from '../../support/until.ts'

bypassPooler('it cuts and kills the very sessions that the driver has')

const kills = Number(process.env.KILL_ROUNDS ?? 4)

test(`a busy pool survives ${kills} kills of its database: nothing hangs, no connection is lost, and it closes at once`, async () => {
  const folder = await newFolder()
  let back = Promise.withResolvers<void>()
  const server = await startEmbeddedPostgres({ folder, log: () => {}, onRestart: () => back.resolve() })
  const pool = openDb({ ...server, maxConnections: 6 })
  await pool.sql`create table written (n int)`

  const done = Array.from({ length: 12 }, () => 0)
  let stopped = false
  const workers = done.map(async (_, worker) => {
    while (!stopped) {
      const ok = await (worker % 2 ? inTransaction(pool) : pool.sql`select ${worker}::int`).then(
        () => true,
        () => false,
      )
      if (ok) done[worker] = (done[worker] ?? 0) + 1
      else await nextTurn()
    }
  })
  const everyoneWorked = async () => {
    const before = [...done]
    while (done.some((count, worker) => count <= (before[worker] ?? 0))) await nextTurn()
  }
  for (let kill = 0; kill < kills; kill++) {
    await everyoneWorked()
    back = Promise.withResolvers()
    process.kill(server.pid, 'SIGKILL')
    await back.promise
  }
  await everyoneWorked()
  stopped = true
  await Promise.all(workers)

  const closedAt = performance.now()
  await pool.close()
  assert.ok(performance.now() - closedAt < 4_000)
  await server.stop()
})

function inTransaction(pool: Db): Promise<unknown> {
  return pool.tx(async (tx) => {
    await tx`insert into written (n) values (1)`
    await nextTurn()
    await tx`select 1`
  })
}

test('the database cancels a statement when its client process is gone', async () => {
  const { db, options } = await emptyDatabase()
  const { proxy, options: proxied } = await databaseByProxy(options)
  const pool = openDb({ ...proxied, applicationName: 'to be gone' })
  atEnd(() => pool.close())
  const asked = pool.statement((tx) => tx`select pg_sleep(600)`)
  asked.catch(() => undefined)
  const running = async () =>
    (await db.sql`select 1 from pg_stat_activity where application_name = 'to be gone' and state = 'active'`).length
  await until(async () => (await running()) === 1, 'the statement at the database')
  proxy.cutAll()
  await assert.rejects(asked, { code: 'CONNECTION_LOST' })
  await until(async () => (await running()) === 0, 'its end at the database')
})
