import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DatabaseError } from 'pg-protocol'
import { parseDatabaseUrl } from '../../../src/base/postgres/address.ts'
import { type Connect, createConnector, NoDatabase } from '../../../src/base/postgres/connect.ts'
import { planOf } from '../../../src/base/postgres/exchange.ts'
import { isUnavailable } from '../../../src/base/postgres/failures.ts'
import { Pool, type PoolOptions } from '../../../src/base/postgres/pool.ts'
import type { Session } from '../../../src/base/postgres/session.ts'
import { emptyDatabase } from '../../support/database.ts'
import { atEnd, oncePerFile } from '../../support/file-lifecycle.ts'
import { failure, fakePostgres, silentServer, startupReply } from '../../support/postgres/fake-postgres.ts'
import { addressOf } from '../../support/postgres/own-postgres.ts'
import { freePort } from '../../support/program/service.ts'
import { until } from '../../support/until.ts'

const database = oncePerFile(emptyDatabase)

/** Opens connections to the database. */
const open = oncePerFile(async (): Promise<Connect> => {
  const { options } = await database()
  return createConnector(addressOf(options), { applicationName: 'parley test', parameters: {} })
})

interface Script {
  /** Outcome of each requested connection; afterwards all are opened. */
  faults?: readonly Error[]
}

async function pooled(options: Partial<PoolOptions> & Script): Promise<{ pool: Pool; asked: () => number }> {
  const faults = [...(options.faults ?? [])]
  const connect = await open()
  let asked = 0
  const scripted: Connect = async (signal) => {
    asked++
    const fault = faults.shift()
    if (fault !== undefined) throw fault
    return connect(signal)
  }
  const pool = new Pool({ size: 10, connect: scripted, ...options })
  atEnd(() => pool.close(0))
  return { pool, asked: () => asked }
}

const refused = () => new NoDatabase([{ host: 'a', reason: 'refuses' }])
const pidOf = (session: Session, text = 'select pg_backend_pid() as pid') =>
  session
    .send({ steps: [{ plan: planOf({ text, types: [] }), values: [] }], main: 0 })
    .then(({ rows }) => (rows[0] as { pid: number }).pid)

/** Sends one statement as outside a transaction. */
async function ask(pool: Pool, owner: string, text?: string): Promise<number> {
  const session = await pool.acquireForStatement(owner, true)
  let failure: unknown
  try {
    return await pidOf(session, text)
  } catch (error) {
    failure = error
    throw error
  } finally {
    pool.afterRequest(session, failure)
  }
}

test('one statement opens one connection', async () => {
  const { pool, asked } = await pooled({})
  await ask(pool, 'ana')
  await ask(pool, 'ana')
  assert.equal(asked(), 1)
})

test('ten connections that fail to open together count as one failure for the backoff', async (t) => {
  const { pool, asked } = await pooled({ faults: Array.from({ length: 10 }, refused) })
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.method(performance, 'now', () => 1_000)
  const taking = Promise.all(Array.from({ length: 10 }, () => pool.acquire()))
  await nextTurn()
  assert.equal(asked(), 10)
  t.mock.timers.tick(20)
  await nextTurn()
  assert.equal(asked(), 11)
  const taken = await taking
  assert.equal(new Set(taken).size, 10)
  for (const session of taken) pool.release(session)
})

test('requests that waited during an outage get connections of their own', async () => {
  const { pool } = await pooled({ faults: [refused(), refused()] })
  const { db } = await database()
  const blocked = 'select pg_backend_pid() as pid, pg_advisory_xact_lock(1)'
  const pids = await db.tx(async (tx) => {
    await tx`select pg_advisory_xact_lock(1)`
    const asked = Promise.all(['ana', 'bea', 'cao', 'dan'].map((owner) => ask(pool, owner, blocked)))
    const waiting = () => tx`select from pg_locks where locktype = 'advisory' and not granted`
    await until(async () => (await waiting()).length === 4, 'all four at the database')
    return () => asked
  })
  assert.equal(new Set(await pids()).size, 4)
})

test('a password that becomes wrong fails waiting requests at once, like an unavailable database', async () => {
  const wrong = Object.assign(new DatabaseError('password authentication failed', 0, 'error'), { code: '28P01' })
  const { pool } = await pooled({ faults: [wrong, wrong] })
  const startedAt = performance.now()
  await assert.rejects(pool.acquire(), (error: Error) => {
    assert.ok(isUnavailable(error))
    assert.equal(error.cause, wrong)
    return true
  })
  assert.ok(performance.now() - startedAt < 4_000)
  await assert.rejects(ask(pool, 'ana'), { code: 'NO_CONNECTION' })
  // When it is right again, the pool recovers by itself.
  assert.ok((await ask(pool, 'ana')) > 0)
})

test('a request that times out gets no connection and leaves the queue', async (t) => {
  const { pool } = await pooled({ size: 1 })
  const only = await pool.acquire()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const late = assert.rejects(pool.acquire(), { code: 'NO_CONNECTION' })
  t.mock.timers.tick(5_000)
  await late
  pool.release(only)
  assert.equal(await pool.acquire(), only)
  pool.release(only)
})

test('a closing pool waits for no opening connection and refuses waiting requests', async () => {
  const never: Connect = (signal) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  const pool = new Pool({ size: 2, connect: never })
  const waiting = assert.rejects(pool.acquire(), { code: 'NO_CONNECTION' })
  await pool.close(60_000)
  await waiting
  await assert.rejects(pool.acquire(), { code: 'NO_CONNECTION' })
})

const readOnly = `select set_config('default_transaction_read_only', 'on', false), pg_backend_pid() as pid`
const write = 'create table never (n int)'

test('a session that becomes read-only retires all of them, busy ones when they are released', async () => {
  const { pool } = await pooled({ size: 3 })
  const taken = await Promise.all([pool.acquire(), pool.acquire(), pool.acquire()])
  const old = await Promise.all(taken.map((session) => pidOf(session, readOnly)))
  const [held, ...given] = taken
  for (const session of given) pool.release(session)
  await assert.rejects(ask(pool, 'ana', write), { code: '25006' })
  assert.equal(held?.isClosed, false)

  const fresh = await Promise.all([pool.acquire(), pool.acquire()])
  const pids = await Promise.all(fresh.map((session) => pidOf(session)))
  assert.deepEqual(
    pids.filter((pid) => old.includes(pid)),
    [],
  )
  for (const session of fresh) pool.release(session)

  // A late message of an old session is about the old server.
  const late = held && (await pidOf(held, write).catch((error: unknown) => error))
  if (held) pool.release(held, late)
  const again = await Promise.all([pool.acquire(), pool.acquire()])
  assert.ok(again.every((session) => fresh.includes(session)))
  for (const session of again) pool.release(session)
})

test('a session that ends while in use fails its requests and frees its place at once', async () => {
  const { pool } = await pooled({ size: 2 })
  const [victim, other] = await Promise.all([pool.acquire(), pool.acquire()])
  const pid = await pidOf(victim)
  await pidOf(other, `select pg_terminate_backend(${pid}), 0 as pid`)
  const third = await pool.acquire()
  await assert.rejects(pidOf(victim), { code: 'CONNECTION_LOST' })
  await assert.rejects(
    victim.whileOpen(() => new Promise(() => {})),
    { code: 'CONNECTION_LOST' },
  )
  pool.release(victim)
  for (const session of [other, third]) pool.release(session)
  assert.ok((await pidOf(await pool.acquire())) > 0)
})

test('the last working host is tried first, and after a failure the others in order', async (t) => {
  let isSecondAway = false
  const [silent, second, third] = await Promise.all([
    silentServer(t),
    fakePostgres((socket) => socket.write(isSecondAway ? failure('57P03', 'starting up') : startupReply())),
    fakePostgres((socket) => socket.write(startupReply())),
  ])
  const refusing = await freePort()
  const ports = [silent.port, refusing, second.port, third.port]
  const address = parseDatabaseUrl(`postgres://ana@${ports.map((port) => `127.0.0.1:${port}`).join()}/parley`, {})
  const connect = createConnector(address, { applicationName: 'parley test', parameters: {} })
  const portsOf = async () => {
    const client = await connect()
    client.on('error', () => {})
    atEnd(() => client.end())
    return [client.port, silent.startupMessages.length]
  }
  assert.deepEqual(await portsOf(), [second.port, 1])
  assert.deepEqual(await portsOf(), [second.port, 1])
  isSecondAway = true
  assert.deepEqual(await portsOf(), [third.port, 2])
  isSecondAway = false
  assert.deepEqual(await portsOf(), [third.port, 2])
})
