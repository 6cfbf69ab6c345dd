import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Db,
  type DbOptions,
  isUnavailable,
  openDb,
  processName,
  setStatementTimeout,
  sqlState,
} from '../../../src/base/db.ts'
import { isHolderDead, ownSession } from '../../../src/base/lease-session.ts'
import { createLog } from '../../../src/base/log.ts'
import { openDatabase } from '../../../src/cli/start/database.ts'
import { loadConfig } from '../../../src/config.ts'
import { bypassPooler, databaseSettings, emptyDatabase, type TestDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import {
  type Pooler,
  type PoolerSettings,
  reasonWithoutPooler,
  startPooler,
  supportsPreparedStatements,
  throughPooler,
} from '../../support/postgres/pooler.ts'
import { until } from '../../support/until.ts'

bypassPooler('each test has a pooler of its own')

const skip = reasonWithoutPooler()
const settings: PoolerSettings = skip === false && supportsPreparedStatements() ? { max_prepared_statements: 100 } : {}

interface Rig {
  pooler: Pooler
  own: TestDatabase
  options: DbOptions
  /** Address of the pooler. */
  db: Db
  another(more?: Partial<DbOptions>): Db
}

async function rig(more: PoolerSettings = {}, options: Partial<DbOptions> = {}): Promise<Rig> {
  const own = await emptyDatabase()
  const pooler = await startPooler(own.options, { ...settings, ...more })
  atEnd(() => pooler.stop())
  const pooled = { ...throughPooler(pooler.socketFolder, own.options), ...options }
  const another = (changed: Partial<DbOptions> = {}) => {
    const db = openDb({ ...pooled, ...changed })
    atEnd(() => db.close())
    return db
  }
  return { pooler, own, options: pooled, db: another(), another }
}

test('a pooler that forwards statement names unchanged is detected and gets none', { skip }, async () => {
  const { db } = await rig({ default_pool_size: 1 })
  const pooler = await db.poolerFeatures()
  assert.equal(pooler?.supportsPreparedStatements, supportsPreparedStatements())
  for (let n = 0; n < 3; n++) await db.sql`select ${n}::int`
  await db.tx((tx) => tx`select ${'one'}::text`)
  const [kept] = await db.sql<{ ours: number }[]>`
    select count(*) filter (where name like 'parley%')::int as ours
    from pg_prepared_statements`
  assert.equal(kept?.ours, 0, 'names of ours at the server, where others may meet them')
})

test('every statement has its limits, whatever the role has, and none remains on the server', {
  skip,
}, async () => {
  const { db, own, options } = await rig({ default_pool_size: 1 }, { lockTimeoutMs: 200 })
  const limits = [{ statement: '15s', lock: '200ms', idle: '10s', zone: 'UTC' }]
  const read = `
    select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
      current_setting('idle_in_transaction_session_timeout') as idle, current_setting('TimeZone') as zone`
  assert.deepEqual([...(await db.sql.unsafe(read, []))], limits)
  assert.deepEqual([...(await db.sql.unsafe(read))], limits, 'a script')
  assert.deepEqual([...(await db.statement((tx) => tx.unsafe(read, [])))], limits)
  assert.deepEqual([...(await db.tx((tx) => tx.unsafe(read, [])))], limits)
  for await (const page of db.sql.unsafe(read, []).cursor(1)) assert.deepEqual([...page], limits)

  const stranger = openDb({ ...options, applicationName: 'stranger', lockTimeoutMs: 300 })
  assert.equal((await stranger.poolerFeatures())?.hasLimits, false, 'nothing has stayed')
  await stranger.close()

  await own.db.sql`create table locked (n int)`
  await own.db.tx(async (holder) => {
    await holder`lock table locked`
    await assert.rejects(db.sql`select n from locked`, { code: '55P03' })
    await assert.rejects(
      db.tx((tx) => tx`insert into locked (n) values (1)`),
      { code: '55P03' },
    )
  })
  const tooLong = db.tx(async (tx) => {
    await setStatementTimeout(tx, 50)
    await tx`select pg_sleep(5)`
  })
  await assert.rejects(tooLong, { code: '57014' })
  assert.equal((await db.sql`select 1`).length, 1)
})

test('if the role already has the limits, no settings are sent', { skip }, async () => {
  const { own, another } = await rig()
  const of = { statement_timeout: 15_000, lock_timeout: 5_000, idle_in_transaction_session_timeout: 10_000 }
  for (const [name, ms] of Object.entries(of)) {
    await own.db.sql.unsafe(`alter role current_user in database "${own.name}" set ${name} = ${ms}`)
  }
  const db = another()
  assert.equal((await db.poolerFeatures())?.hasLimits, true)
  assert.deepEqual([...(await db.sql`select current_setting('statement_timeout') as ms`)], [{ ms: '15s' }])
})

test('notifications arrive on the direct connection', { skip }, async () => {
  const { db, another } = await rig()
  const heard: string[] = []
  await db.listen('talk', (payload) => heard.push(payload))
  const other = another()
  await other.tx((tx) => tx`select pg_notify('talk', 'one')`)
  await other.sql`select pg_notify('talk', 'two')`
  await until(() => heard.length === 2, 'both')
  assert.deepEqual(heard, ['one', 'two'])
})

test('a process behind a pooler is seen as alive until it ends, and then as dead at once', { skip }, async () => {
  const { db, own, another } = await rig()
  await own.db.sql`create table leases (holder text, lease_session text)`
  const dying = another()
  const take = (of: Db, holder: string) =>
    of.tx((tx) => tx`insert into leases (holder, lease_session) values (${holder}, ${ownSession(tx)})`)
  await take(dying, 'dying')
  await take(db, 'pooled')
  await take(own.db, 'direct')
  const dead = async (by: Db) =>
    (await by.sql<{ holder: string }[]>`select holder from leases where ${isHolderDead(by.sql)}`).map(
      (row) => row.holder,
    )
  assert.deepEqual([await dead(db), await dead(own.db)], [[], []])
  await dying.close()
  await until(async () => (await dead(own.db)).length === 1, 'the end of its session')
  assert.deepEqual(await dead(db), ['dying'], 'though the pooler goes on with the sessions it had for it')

  // Its own session is cut: it reconnects by itself, under its name.
  const cut = await own.db.sql`
    select pg_terminate_backend(pid, 5000)
    from pg_stat_activity
    where application_name = ${processName(db.sql)}`
  assert.equal(cut.length, 1)
  await until(async () => !(await dead(own.db)).includes('pooled'), 'the process again')
})

test('a start is refused if the direct address leads elsewhere or to the pooler', { skip }, async () => {
  const { own, options } = await rig({
    ignore_startup_parameters: 'statement_timeout,lock_timeout,idle_in_transaction_session_timeout,bytea_output',
  })
  const pooled = databaseSettings({ ...own, options })
  const other = databaseSettings(await emptyDatabase())
  const open = async (direct: string | undefined) => {
    const config = loadConfig({
      ...pooled,
      PARLEY_DATABASE_DIRECT_URL: direct,
      PARLEY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    })
    const { close } = await openDatabase(config, createLog('silent'), () => {})
    await close()
  }
  await open(pooled.PARLEY_DATABASE_DIRECT_URL)
  await assert.rejects(open(other.DATABASE_URL), /PARLEY_DATABASE_DIRECT_URL must lead to the same server/)
  await assert.rejects(open(pooled.DATABASE_URL), /PARLEY_DATABASE_DIRECT_URL must lead to the same server/)
})

test('a start through a pooler without a direct address says what to set', { skip }, async () => {
  const { own, options } = await rig()
  const { DATABASE_URL, PGPASSWORD } = databaseSettings({ ...own, options })
  const config = loadConfig({ DATABASE_URL, PGPASSWORD, PARLEY_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') })
  const opening = openDatabase(config, createLog('silent'), () => {})
  await assert.rejects(opening, /This is a pooler: .* PARLEY_DATABASE_DIRECT_URL/)
})

test('a pooler restart under load loses nothing acknowledged, and no request hangs', {
  skip,
}, async () => {
  const { pooler, db, own } = await rig({ default_pool_size: 4 })
  await own.db.sql`create table written (n int primary key)`
  const acknowledged: number[] = []
  const strange: unknown[] = []
  let next = 0
  let isOver = false
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    while (!isOver) {
      const n = next++
      const write =
        writer % 2
          ? db.statement((tx) => tx`insert into written (n) values (${n})`)
          : db.tx(async (tx) => {
              await tx`select 1`
              await tx`insert into written (n) values (${n})`
            })
      await write.then(
        () => acknowledged.push(n),
        (error: unknown) => isUnavailable(error) || strange.push(error),
      )
    }
  })
  for (let restart = 0; restart < 3; restart++) {
    const before = acknowledged.length
    await until(() => acknowledged.length > before + 100, 'writes')
    await pooler.restart()
  }
  const before = acknowledged.length
  await until(() => acknowledged.length > before + 100, 'writes again')
  isOver = true
  await Promise.all(writers)
  assert.deepEqual(strange, [])
  const rows = await own.db.sql<{ n: number }[]>`select n from written`
  const written = new Set(rows.map((row) => row.n))
  assert.deepEqual(
    acknowledged.filter((n) => !written.has(n)),
    [],
  )
})

test('many clients on few servers never see results of each other: transactions, failures and single statements', {
  skip,
}, async () => {
  const { db, own } = await rig({ default_pool_size: 3 })
  await own.db.sql`create table kept (caller int, n int)`
  let kept = 0
  const seen: string[] = []
  const asTransaction = (caller: number, n: number) =>
    db.tx(async (tx) => {
      const mark = `${caller} ${n}`
      await tx`select set_config('parley.mark', ${mark}, true)`
      await tx`insert into kept (caller, n) values (${caller}, ${n})`
      const [row] = await tx`select current_setting('parley.mark', true) as mark, ${mark}::text as own`
      if (row?.mark !== mark || row?.own !== mark) seen.push(`${mark} saw ${row?.mark}, ${row?.own}`)
      if (n % 5 === 1) throw new Error('undone')
      if (n % 5 === 2) await tx`select 1 / ${0}::int`
    })
  const asStatement = async (caller: number, n: number) => {
    // Longer than the pooler's read buffer, so that it has received a part of some of them.
    const own = `${caller} ${n} ${'.'.repeat(((caller * 41 + n * 7) % 23) * 1000)}`
    const [row] = await db.sql`
      select nullif(current_setting('parley.mark', true), '') as mark, ${own}::text as own`
    if (row?.mark !== null || row?.own !== own) seen.push(`${caller} ${n} saw ${row?.mark}, ${row?.own.slice(0, 20)}`)
  }
  const failing = (n: number) => db.sql`select ${n}::int / ${0}::int as ${db.sql('never')}`
  const callers = Array.from({ length: 24 }, async (_, caller) => {
    for (let n = 0; n < 40; n++) {
      if ((caller + n) % 3 === 0) {
        const error = await asTransaction(caller, n).catch((thrown: unknown) => thrown)
        if (error === undefined) kept++
        else if (!(error instanceof Error && error.message === 'undone')) assert.equal(sqlState(error), '22012')
      } else if ((caller + n) % 7 === 1) await assert.rejects(failing(n), { code: '22012' })
      else await asStatement(caller, n)
    }
  })
  await Promise.all(callers)
  assert.deepEqual(seen, [])
  const [row] = await own.db.sql<{ count: number }[]>`select count(*) from kept`
  assert.equal(row?.count, kept)
})

test('errors of a pooler count as an unavailable database: too many clients, a timeout, no server', {
  skip,
}, async () => {
  const { pooler, db, another } = await rig({ default_pool_size: 1, query_wait_timeout: 1, server_login_retry: 1 })
  const patient = { connectTimeoutMs: 500 }
  await db.sql`select 1`
  await db.tx(async (tx) => {
    await tx`select 1`
    const other = another(patient)
    await assert.rejects(other.sql`select 1`, isUnavailable, 'a wait for a server')
  })
  await pooler.restart({ max_client_conn: 1 })
  const answers = (of: Db) =>
    of.sql`select 1`.then(
      () => true,
      () => false,
    )
  await until(() => answers(db), 'the pooler')
  const second = another({ ...patient, maxConnections: 1 })
  await assert.rejects(
    db.tx(async (tx) => {
      await tx`select 1`
      await second.sql`select 1`
    }),
    isUnavailable,
  )
  await pooler.stop()
  await assert.rejects(another(patient).sql`select 1`, isUnavailable)
})

test('a statement is prepared again when its columns change', { skip }, async () => {
  const { db, own } = await rig({ default_pool_size: 1 })
  await own.db.sql`create table changing (a int)`
  await own.db.sql`insert into changing (a) values (1)`
  const read = async () => [...(await db.sql`select * from changing`)]
  for (let n = 0; n < 3; n++) assert.deepEqual(await read(), [{ a: 1 }])
  await own.db.sql`alter table changing add column b int default 2`
  for (let n = 0; n < 3; n++) assert.deepEqual(await read(), [{ a: 1, b: 2 }])
  await own.db.sql`alter table changing drop column a`
  assert.deepEqual(await db.tx(async (tx) => [...(await tx`select * from changing`)]).catch(() => read()), [{ b: 2 }])
})
