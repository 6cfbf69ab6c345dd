import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Db, openDb } from '../../src/base/db.ts'
import { startEmbeddedPostgres } from '../../src/base/embedded-postgres.ts'
import { emptyDatabase } from '../support/database.ts'

test('a transaction whose connection died cannot write into the one that uses the connection next', async () => {
  const { db, options } = await emptyDatabase()
  await db.sql`create table notes (text text not null)`
  const pool = openDb({ ...options, maxConnections: 1 })
  const bothWrote = Promise.withResolvers<void>()
  const secondBegan = Promise.withResolvers<void>()

  let lateWrite: Promise<unknown> = Promise.resolve()
  const first = pool.tx(async (tx) => {
    const [row] = await tx`select pg_backend_pid() as pid`
    await db.sql`select pg_terminate_backend(${row?.pid})`
    await secondBegan.promise
    lateWrite = Promise.resolve(tx`insert into notes (text) values ('late')`).finally(() => bothWrote.resolve())
    await lateWrite
  })
  const second = pool.tx(async (tx) => {
    await tx`insert into notes (text) values ('second')`
    secondBegan.resolve()
    await bothWrote.promise.catch(() => undefined)
  })
  const [firstEnd, secondEnd] = await Promise.allSettled([first, second])
  await assert.rejects(lateWrite)
  assert.deepEqual([firstEnd.status, secondEnd.status], ['rejected', 'fulfilled'])
  assert.deepEqual(
    (await db.sql`select text from notes`).map((row) => row.text),
    ['second'],
  )
  await pool.close()
})

test('a connection that dies while the driver learns the types of the database ends nothing', async () => {
  // As much of a PostgreSQL as it takes to be asked for the types: it greets, and hangs up at the first question.
  const greeting = Buffer.from('5200000008000000005a0000000549', 'hex')
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(greeting)
      socket.once('data', () => socket.resetAndDestroy())
    })
    socket.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const pool = openDb({ url: `postgres://nobody@127.0.0.1:${port}/none`, maxConnections: 1 })
  await assert.rejects(() => pool.sql`select 1`, { code: 'ECONNRESET' })
  await pool.close()
  server.close()
})

test('a busy pool survives 8 kills of its database: nothing hangs, no connection is lost, and it closes at once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-driver-'))
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
  for (let kill = 0; kill < 8; kill++) {
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
  assert.ok(performance.now() - closedAt < 1000)
  await server.stop()
  await rm(folder, { recursive: true })
})

function inTransaction(pool: Db): Promise<unknown> {
  return pool.tx(async (tx) => {
    await tx`insert into written (n) values (1)`
    await nextTurn()
    await tx`select 1`
  })
}

test('a transaction gets its connection however many statements are under way on it', async () => {
  const { options } = await emptyDatabase()
  const pool = openDb({ ...options, maxConnections: 1 })
  await pool.sql`select 1`
  for (let before = 90; before <= 110; before++) {
    const plain = Array.from({ length: before }, () => pool.sql`select 1`)
    const inside = pool.tx(async (tx) => (await tx`select 1 as one`)[0]?.one)
    assert.equal(await inside, 1)
    await Promise.all(plain)
  }
  await pool.close()
})
