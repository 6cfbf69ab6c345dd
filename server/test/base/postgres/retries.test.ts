import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type Db,
  type DbOptions,
  idempotent,
  openDb,
  pipelineCommit,
  publish,
  type StatementProof,
  setCommitProof,
  type Tx,
} from '../../../src/base/db.ts'
import { commit, planOf } from '../../../src/base/postgres/exchange.ts'
import { bypassPooler, emptyDatabase } from '../../support/database.ts'
import { atEnd, oncePerFile } from '../../support/file-lifecycle.ts'
import { databaseByProxy } from '../../support/postgres/cutting-proxy.ts'
import { until } from '../../support/until.ts'

bypassPooler('it ends the very sessions that the driver has')

const database = oncePerFile(emptyDatabase)

async function openWorld(options: DbOptions = {}) {
  const { db, options: direct } = await database()
  await db.sql`drop table if exists done`
  await db.sql`create table done (n integer not null)`
  const { proxy, options: proxied } = await databaseByProxy(direct)
  const pool = openDb({ ...proxied, maxConnections: 1, ...options })
  // The proxy can drop the last message of a session.
  const straight = openDb({ ...direct, maxConnections: 1 })
  atEnd(() => Promise.all([pool.close(), straight.close()]).then(() => {}))
  const times = async (n: number) => (await db.sql`select from done where n = ${n}`).length
  const end = async (pid: number) => {
    await db.sql`select pg_terminate_backend(${pid}, 5000)`
  }
  return { db, proxy, pool, straight, times, end }
}

const write = (tx: Tx, n: number) => tx`insert into done (n) values (${n})`
const pidOf = async (tx: Tx): Promise<number> =>
  (await tx<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid ?? 0

test('a transaction whose session ends before the commit is retried as a whole, and executed once', async () => {
  const { db, pool, times, end } = await openWorld()
  let tries = 0
  const heard: string[] = []
  pool.onPublish(({ id }) => heard.push(id))
  const answer = await pool.tx(async (tx) => {
    tries++
    await write(tx, 1)
    if (tries < 3) await end(await pidOf(tx))
    await write(tx, 2)
    return tries
  })
  assert.deepEqual([answer, await times(1), await times(2)], [3, 1, 1])
  assert.deepEqual(heard, [])
  assert.equal((await db.sql`select from done`).length, 2)
})

test('a transaction whose connection always ends fails after four attempts and changes nothing', async () => {
  const { pool, times, end } = await openWorld()
  let tries = 0
  const work = pool.tx(async (tx) => {
    tries++
    await write(tx, 1)
    await end(await pidOf(tx))
    await write(tx, 2)
  })
  await assert.rejects(work, (error: Error & { code?: string }) =>
    ['57P01', 'CONNECTION_LOST'].includes(error.code ?? ''),
  )
  assert.deepEqual([tries, await times(1)], [4, 0])
})

test('work that continues after the end of its connection does not overlap with a retry', async () => {
  const { pool, end } = await openWorld()
  const never = Promise.withResolvers<void>()
  let tries = 0
  const work = pool.tx(async (tx) => {
    tries++
    await end(await pidOf(tx))
    await never.promise
  })
  await assert.rejects(work, { code: 'CONNECTION_LOST' })
  assert.equal(tries, 1)
  never.resolve()
})

const ways: [how: string, work: (tx: Tx, n: number) => Promise<unknown>][] = [
  ['separately', (tx, n) => write(tx, n)],
  ['with its last statements', async (tx, n) => pipelineCommit(tx, () => Promise.all([write(tx, n).execute()]))],
]
for (const [how, work] of ways) {
  test(`a commit that was sent ${how} and not answered is not repeated, whether it took effect or not`, async () => {
    const { proxy, pool, times } = await openWorld()
    let tries = 0
    const begun = (n: number) =>
      pool.tx(async (tx) => {
        tries++
        await tx`select 1`
        await work(tx, n)
      })
    await begun(0)
    proxy.cutAtText(commit.plan.name, 'answered')
    await assert.rejects(begun(1), { code: 'CONNECTION_LOST' })
    await begun(0)
    proxy.cutAtText(commit.plan.name, 'unheard')
    await assert.rejects(begun(2), { code: 'CONNECTION_LOST' })
    assert.deepEqual([tries, await times(1), await times(2)], [4, 1, 0])
  })
}

test('a transaction that the server ends at the last statement before a pipelined commit is retried', async () => {
  const { db, straight, times } = await openWorld()
  await db.sql.unsafe(`
    create or replace function end_once() returns trigger language plpgsql as $$
    begin
      perform pg_terminate_backend(pg_backend_pid());
      return new;
    end $$`)
  await db.sql`create trigger ends before insert on done for each row when (new.n = 1) execute function end_once()`
  let tries = 0
  const work = (n: () => number) =>
    straight.tx(async (tx) => {
      tries++
      await tx`select 1`
      await pipelineCommit(tx, () => Promise.all([write(tx, n()).execute(), write(tx, 7).execute()]))
    })
  await work(() => tries)
  assert.deepEqual([tries, await times(1), await times(2), await times(7)], [2, 0, 1, 1])
})

test('a single read is retried if its connection ends, in every way', async () => {
  const { proxy, pool } = await openWorld()
  const text = 'select 7 as seven'
  const read = async () => (await pool.sql.unsafe<{ seven: number }[]>(text, []))[0]?.seven
  assert.equal(await read(), 7)
  for (const when of ['unheard', 'answered'] as const) {
    proxy.cutAtText(planOf({ text, types: [] }).name, when)
    assert.equal(await read(), 7)
  }
  const connections = proxy.accepted()
  proxy.cutAtText(planOf({ text, types: [] }).name, 'answered')
  const answers = await Promise.all(Array.from({ length: 20 }, read))
  assert.deepEqual(new Set(answers), new Set([7]))
  assert.equal(proxy.accepted(), connections + 1)
})

test('a single write is not retried once it was sent, with either tag', async () => {
  const { proxy, pool, times } = await openWorld()
  const text = 'insert into done (n) values (1)'
  const { name } = planOf({ text, types: [] })
  const byStatement = () => pool.statement((tx) => tx.unsafe(text, []))
  const byTag = async () => pool.sql.unsafe(text, [])
  let done = 0
  for (const ask of [byStatement, byTag]) {
    await ask()
    proxy.cutAtText(name, 'answered')
    await assert.rejects(ask(), { code: 'CONNECTION_LOST' })
    done += 2
    await ask()
    proxy.cutAtText(name, 'unheard')
    await assert.rejects(ask(), { code: 'CONNECTION_LOST' })
    done++
    assert.equal(await times(1), done)
  }
})

test('a single write is retried if the server reports that it ended it', async () => {
  const { db, straight, times } = await openWorld()
  const lock = Promise.withResolvers<void>()
  const isLocked = Promise.withResolvers<void>()
  const holding = db.tx(async (tx) => {
    await tx`lock table done in exclusive mode`
    isLocked.resolve()
    await lock.promise
  })
  await isLocked.promise
  const written = straight.statement((tx) => write(tx, 1))
  const waiting = async () =>
    (await db.sql<{ pid: number }[]>`select pid from pg_locks where not granted and relation = 'done'::regclass`)[0]
      ?.pid
  let pid: number | undefined
  while (pid === undefined) pid = await waiting()
  await db.sql`select pg_terminate_backend(${pid}, 5000)`
  lock.resolve()
  await holding
  await written
  assert.equal(await times(1), 1)
})

const provenWrite = (pool: Db, n: number, onTry = () => {}, isBehind = false) =>
  pool.tx(async (tx) => {
    onTry()
    setCommitProof(tx, async (sql) => (await sql`select from done where n = ${n}`).length > 0)
    publish(tx, 'done', String(n))
    await tx`select 1`
    if (isBehind) await pipelineCommit(tx, () => Promise.all([write(tx, n).execute()]))
    else await write(tx, n)
    return n
  })

test('a commit with a lost answer is checked, and retried only if it did not take effect', async () => {
  const { proxy, pool, times } = await openWorld()
  const heard: string[] = []
  pool.subscribe('done', (id) => heard.push(id))
  await provenWrite(pool, 0)
  let tries = 0
  for (const [n, when, expected] of [
    [1, 'answered', 1],
    [2, 'unheard', 2],
  ] as const) {
    tries = 0
    proxy.cutAtText(commit.plan.name, when)
    assert.equal(await provenWrite(pool, n, () => tries++), n)
    assert.deepEqual([tries, await times(n)], [expected, 1])
  }
  tries = 0
  proxy.cutAtText(commit.plan.name, 'unheard')
  assert.equal(await provenWrite(pool, 3, () => tries++, true), 3)
  assert.deepEqual([tries, await times(3)], [2, 1])
  // It was committed, but the answers of its statements were lost with the connection.
  proxy.cutAtText(commit.plan.name, 'answered')
  await assert.rejects(
    provenWrite(pool, 4, () => tries++, true),
    { code: 'CONNECTION_LOST' },
  )
  assert.deepEqual([tries, await times(4)], [3, 1])
  assert.deepEqual(heard, ['0', '1', '2', '3'])
})

test('a commit still in progress is awaited for a limited time', async (t) => {
  const { db, proxy, pool, times } = await openWorld()
  await db.sql.unsafe(`
    create or replace function commit_behind_lock() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(new.n);
      return new;
    end $$`)
  await db.sql`
    create constraint trigger waits after insert on done
    deferrable initially deferred for each row execute function commit_behind_lock()`
  await provenWrite(pool, 0)
  let tries = 0
  /** Loses the answer of a commit in progress. The commit is released when its status is queried. */
  const loseWhileAtWork = async (n: number, release: (write: Promise<number>) => Promise<unknown>) => {
    await db.tx(async (tx) => {
      await tx`select pg_advisory_xact_lock(${n})`
      proxy.cutAtText(commit.plan.name, 'heard')
      const connections = proxy.accepted()
      const write = provenWrite(pool, n, () => tries++)
      await until(() => proxy.accepted() > connections, 'the question what became of it')
      await release(write)
    })
  }
  let isDone: Promise<number> | undefined
  await loseWhileAtWork(1, async (write) => {
    isDone = write
  })
  assert.deepEqual([await isDone, tries, await times(1)], [1, 1, 1])

  const now = performance.now.bind(performance)
  t.mock.method(performance, 'now', () => now() * 20)
  await loseWhileAtWork(2, (write) => assert.rejects(write, { code: 'CONNECTION_LOST' }))
  assert.equal(tries, 2)
})

test('a single statement with a lost answer is checked, or repeated if that is harmless', async () => {
  const { proxy, pool, times } = await openWorld()
  const text = 'insert into done (n) values ($1)'
  const { name } = planOf({ text, types: [0] })
  const ask = (n: number, proven?: StatementProof<string>) =>
    pool.statement(
      async (tx) => {
        await tx.unsafe(text, [n])
        return 'told'
      },
      null,
      proven,
    )
  const byRow = (n: number): StatementProof<string> => ({
    isCommitted: async (sql) => (await sql`select from done where n = ${n}`).length > 0,
    answer: 'found',
  })
  await ask(0)
  proxy.cutAtText(name, 'answered')
  assert.deepEqual([await ask(1, byRow(1)), await times(1)], ['found', 1])
  proxy.cutAtText(name, 'unheard')
  assert.deepEqual([await ask(2, byRow(2)), await times(2)], ['told', 1])
  proxy.cutAtText(name, 'answered')
  assert.deepEqual([await ask(3, idempotent), await times(3)], ['told', 2])
  proxy.cutAtText(commit.plan.name, 'answered')
  await pool.tx((tx) => write(tx, 4), idempotent)
  assert.equal(await times(4), 2)
})

const rounds = Number(process.env.CUT_ROUNDS ?? 5)

test(`after ${rounds} ends of all connections at any moment nothing was executed twice, and nothing acknowledged was lost`, async (t) => {
  const { db, proxy, pool } = await openWorld({ maxConnections: 4 })
  const acknowledged: number[] = []
  let [asked, failed, isOver] = [0, 0, false]
  const kinds: ((n: number) => Promise<unknown>)[] = [
    (n) =>
      pool.tx(async (tx) => {
        await tx`select 1`
        await write(tx, n)
        await tx`select 2`
      }),
    (n) =>
      pool.tx(async (tx) => {
        await tx`select 1`
        await pipelineCommit(tx, () => Promise.all([write(tx, n).execute(), tx`select 2`.execute()]))
      }),
    (n) => pool.statement((tx) => write(tx, n)),
    (n) => provenWrite(pool, n),
    (n) => provenWrite(pool, n, undefined, true),
  ]
  const caller = async (kind: (n: number) => Promise<unknown>) => {
    while (!isOver) {
      const n = ++asked
      const isDone = await kind(n).then(
        () => true,
        () => false,
      )
      if (isDone) acknowledged.push(n)
      else failed++
    }
  }
  const reader = async () => {
    while (!isOver) assert.equal((await pool.sql`select 1 as one`)[0]?.one, 1)
  }
  const running = Promise.all([...kinds, ...kinds].map(caller).concat(reader()))
  for (let round = 0; round < rounds; round++) {
    const enough = acknowledged.length + 10
    while (acknowledged.length < enough) await nextTurn()
    if (round % 2 === 0) proxy.cutAll()
    else await endAll(db)
  }
  isOver = true
  await running
  t.diagnostic(`${acknowledged.length} acknowledged, ${failed} of ${asked} failed`)
  const rows = await db.sql<{ n: number; times: number }[]>`select n, count(*)::integer as times from done group by n`
  const stored = new Set(rows.map(({ n }) => n))
  assert.deepEqual(
    rows.filter(({ times }) => times > 1),
    [],
  )
  assert.deepEqual(
    acknowledged.filter((n) => !stored.has(n)),
    [],
  )
})

const endAll = (db: Db) => db.sql`
  select pg_terminate_backend(pid)
  from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`
