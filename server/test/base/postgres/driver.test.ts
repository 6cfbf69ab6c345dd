import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Db, type DbOptions, openDb, pipelineCommit } from '../../../src/base/db.ts'
import { bypassPooler, emptyDatabase } from '../../support/database.ts'
import { atEnd, oncePerFile } from '../../support/file-lifecycle.ts'
import { databaseByProxy } from '../../support/postgres/cutting-proxy.ts'
import { until } from '../../support/until.ts'

bypassPooler('it cuts the very sessions that the driver has')

const database = oncePerFile(emptyDatabase)

/** The database of this file, with one empty table. */
async function emptyTable(columns = 'n integer primary key') {
  const { db, options } = await database()
  await db.sql`drop table if exists written`
  await db.sql.unsafe(`create table written (${columns})`)
  return { db, options }
}

test('a transaction whose connection died cannot write into the one that uses the connection next', async () => {
  const { db, options } = await emptyTable('text text not null')
  const pool = openDb({ ...options, maxConnections: 1 })
  const bothWrote = Promise.withResolvers<void>()
  const secondBegan = Promise.withResolvers<void>()

  let lateWrite: Promise<unknown> = Promise.resolve()
  const first = pool.tx(async (tx) => {
    const [row] = await tx`select pg_backend_pid() as pid`
    await db.sql`select pg_terminate_backend(${row?.pid})`
    await secondBegan.promise
    lateWrite = Promise.resolve(tx`insert into written (text) values ('late')`).finally(() => bothWrote.resolve())
    await lateWrite
  })
  const second = pool.tx(async (tx) => {
    await tx`insert into written (text) values ('second')`
    secondBegan.resolve()
    await bothWrote.promise.catch(() => undefined)
  })
  const [firstEnd, secondEnd] = await Promise.allSettled([first, second])
  await assert.rejects(lateWrite)
  assert.deepEqual([firstEnd.status, secondEnd.status], ['rejected', 'fulfilled'])
  assert.deepEqual(
    (await db.sql`select text from written`).map((row) => row.text),
    ['second'],
  )
  await pool.close()
})

test('a transaction gets its connection however many statements are in progress on it', async () => {
  const { options } = await database()
  const pool = openDb({ ...options, maxConnections: 1 })
  await pool.sql`select 1`
  for (const before of [1, 99, 100, 101]) {
    const plain = Array.from({ length: before }, () => pool.sql`select 1`)
    const inside = pool.tx(async (tx) => (await tx`select 1 as one`)[0]?.one)
    assert.equal(await inside, 1)
    await Promise.all(plain)
  }
  await pool.close()
})

function pooled(options: DbOptions): Db {
  const pool = openDb(options)
  atEnd(() => pool.close())
  return pool
}

/** Set `CUT_STEP=1` to test every byte. */
const step = Number(process.env.CUT_STEP ?? 97)

test('a connection that ends at any byte fails the current request at most, and all later ones work', async () => {
  const { db, options } = await emptyTable()
  const { proxy, options: proxied } = await databaseByProxy(options)
  const acknowledged: number[] = []
  let wasCut = true
  for (let bytes = 1; wasCut; bytes += step) {
    const connections = proxy.accepted()
    proxy.cutNextAfter(bytes)
    const pool = openDb({ ...proxied, maxConnections: 1 })
    const write = (n: number) =>
      pool.tx(async (tx) => {
        await tx`select ${n}::integer as n`
        return tx`insert into written (n) values (${n}) returning n`
      })
    const [written, read] = await Promise.allSettled([write(bytes * 2), pool.sql`select 1 as one`])
    if (written.status === 'fulfilled') acknowledged.push(bytes * 2)
    if (read.status === 'fulfilled') assert.deepEqual([...read.value], [{ one: 1 }])
    wasCut = proxy.accepted() - connections > 1
    if (wasCut) acknowledged.push(...(await write(bytes * 2 + 1)).map(({ n }) => n))
    await pool.close()
  }
  const stored = new Set((await db.sql<{ n: number }[]>`select n from written`).map(({ n }) => n))
  assert.deepEqual(
    acknowledged.filter((n) => !stored.has(n)),
    [],
  )
})

test('a statement that times out fails alone: those behind it on its connection are answered', async () => {
  const { options } = await database()
  const pool = pooled({ ...options, maxConnections: 1 })
  await pool.sql`select set_config('statement_timeout', '30ms', false)`
  const [slow, quick] = await Promise.allSettled([pool.sql`select pg_sleep(5)`, pool.sql`select 1 as one`])
  assert.equal(slow.status === 'rejected' && slow.reason.code, '57014')
  assert.deepEqual(quick.status === 'fulfilled' && [...quick.value], [{ one: 1 }])
})

test('a transaction that the database ends for being idle fails at once and releases its slot, though its work continues', async () => {
  const { options } = await database()
  const pool = pooled({ ...options, maxConnections: 1 })
  const never = Promise.withResolvers<void>()
  let late: Promise<unknown> = Promise.resolve()
  const idle = pool.tx(async (tx) => {
    await tx`select set_config('idle_in_transaction_session_timeout', '20ms', true)`
    late = never.promise.then(() => tx`select 1`)
    late.catch(() => undefined)
    await late
  })
  await assert.rejects(idle, { code: 'CONNECTION_LOST' })
  assert.equal((await pool.sql`select 1`).length, 1)
  never.resolve()
  await assert.rejects(late)
})

test('a request fails after a while if the database is unavailable, and works as soon as it is back', async () => {
  const { options } = await database()
  const { proxy, options: proxied } = await databaseByProxy(options)
  const pool = pooled({ ...proxied, maxConnections: 2, connectTimeoutMs: 50 })
  proxy.cutAfter(0)
  const failed = await Promise.allSettled([pool.sql`select 1`, pool.tx(async (tx) => tx`select 1`)])
  assert.deepEqual(
    failed.map((end) => end.status === 'rejected' && end.reason.code),
    ['NO_CONNECTION', 'NO_CONNECTION'],
  )
  const served = pooled({ ...proxied, maxConnections: 2 })
  const waiting = Promise.all([served.sql`select 1`, served.tx(async (tx) => tx`select 1`)])
  const before = proxy.accepted()
  await until(() => proxy.accepted() > before + 2, 'some tries')
  proxy.cutAfter(null)
  assert.equal((await waiting).length, 2)
})

test('a transaction with a failed statement does not count as committed, though its work continues', async () => {
  const { db } = await emptyTable()
  const work = db.tx(async (tx) => {
    await tx`insert into written (n) values (1)`
    await Promise.resolve(tx`insert into written (n) values (1)`).catch(() => undefined)
    return 'done'
  })
  await assert.rejects(work, { code: '23505' })
  assert.equal((await db.sql`select n from written`).length, 0)
})

test('every statement of a failed transaction reports the first failure', async () => {
  const { db } = await emptyTable()
  const work = db.tx(async (tx) => {
    const first = (async () => Promise.all([tx`insert into written (n) values (1), (1)`.execute()]))()
    await Promise.all([first, tx`insert into written (n) values (2)`])
  })
  await assert.rejects(work, { code: '23505' })
})

test('a pipelined commit commits all last statements, or none if one fails', async () => {
  const { db } = await emptyTable()
  const write = (numbers: readonly number[]) =>
    db.tx(async (tx) => {
      await tx`select 1`
      return pipelineCommit(tx, () =>
        Promise.all(numbers.map((n) => tx`insert into written (n) values (${n})`.execute())),
      )
    })
  await write([1, 2])
  await assert.rejects(write([3, 1, 4]), { code: '23505' })
  assert.deepEqual(
    (await db.sql`select n from written order by n`).map(({ n }) => n),
    [1, 2],
  )
  const half = db.tx(async (tx) => {
    await tx`select 1`
    const fault = async () => {
      throw new TypeError('A fault of ours, before the statement is sent')
    }
    await pipelineCommit(tx, () => Promise.all([tx`insert into written (n) values (7)`.execute(), fault()]))
  })
  await assert.rejects(half, /A fault of ours/)
  assert.equal((await db.sql`select n from written where n = 7`).length, 0)
  const late = db.tx(async (tx) => {
    await pipelineCommit(tx, async () => tx`insert into written (n) values (5)`.execute())
    await tx`insert into written (n) values (6)`
  })
  await assert.rejects(late, /has ended/)
})

test('a transaction without statements costs the database nothing', async () => {
  const { proxy, options } = await databaseByProxy((await database()).options)
  const pool = pooled(options)
  await pool.sql`select 1`
  const before = proxy.clientBytes()
  for (let n = 0; n < 50; n++) await pool.tx(async () => 'nothing')
  assert.equal(proxy.clientBytes(), before)
})

test('a statement is prepared again when its table changes, alone and in a transaction', async () => {
  const { db, options } = await database()
  await db.sql`create table grown (a integer)`
  await db.sql`insert into grown (a) values (1)`
  const pool = pooled({ ...options, maxConnections: 1 })
  const read = () => pool.sql`select * from grown`
  const readIn = () => pool.tx(async (tx) => tx`select * from grown`)
  await read()
  await db.sql`alter table grown add column b integer`
  assert.deepEqual([...(await read())], [{ a: 1, b: null }])
  await db.sql`alter table grown add column c integer`
  assert.deepEqual([...(await readIn())], [{ a: 1, b: null, c: null }])
})

test('a session keeps at most 500 prepared statements, and closed ones still work', async () => {
  const { options } = await database()
  const pool = pooled({ ...options, maxConnections: 1 })
  const ask = (n: number) => pool.sql.unsafe(`select ${n} as n, $1::integer as given`, [n])
  await Promise.all(Array.from({ length: 520 }, (_, n) => ask(n)))
  const [kept] = await pool.sql<{ count: number }[]>`select count(*) as count from pg_prepared_statements`
  assert.ok(Number(kept?.count) <= 500)
  assert.deepEqual([...(await ask(0))], [{ n: 0, given: 0 }])
})

test('a statement that fails to prepare, and those directly behind it, fail alone, and work once it can be prepared', async () => {
  const { options } = await database()
  const pool = pooled({ ...options, maxConnections: 1 })
  const read = () => Promise.allSettled([pool.sql`select n from later`, pool.sql`select n from later`])
  for (const end of await read()) assert.equal(end.status === 'rejected' && end.reason.code, '42P01')
  await pool.sql`create table later (n integer)`
  for (const end of await read()) assert.equal(end.status, 'fulfilled')
})

test('invalid values are refused where the statement is created', async () => {
  const { db } = await database()
  const nothing = undefined as unknown as string
  assert.throws(() => db.sql`select 1 where 'a' = ${nothing}`, /undefined value after "select 1 where 'a' ="/)
  await assert.rejects(async () => db.sql`select ${{ a: 1 } as unknown as string}`, /sql\.json/)
  const many = Array.from({ length: 65_536 }, (_, n) => n)
  await assert.rejects(async () => db.sql.unsafe('select 1', many), /at most 65535 values/)
  await assert.rejects(async () => db.sql`select ${'a\0b'}::text`, { code: '22021' })
  assert.equal((await db.sql`select 1`).length, 1)
})

test('without pipelining, nothing is sent between an error and ReadyForQuery', async () => {
  const { options } = await database()
  const { proxy, options: proxied } = await databaseByProxy(options)
  const db = pooled({ ...proxied, direct: options, maxConnections: 1 })
  await db.sql`select 1`
  const failures = [() => db.sql`select 1 / ${0}::int`.execute(), () => db.sql.unsafe('select 1 / 0').execute()]
  for (const fail of failures) {
    proxy.withholdReady(true)
    const before = proxy.clientBytes()
    const failed = assert.rejects(fail(), { code: '22012' })
    await until(() => proxy.clientBytes() > before, 'the statement')
    const [asked, next] = [proxy.clientBytes(), db.sql`select 1 as one`.execute()]
    await until(() => proxy.withheldReady() === 1, 'its error')
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    assert.equal(proxy.clientBytes(), asked)
    proxy.withholdReady(false)
    await failed
    assert.deepEqual([...(await next)], [{ one: 1 }])
  }
})
