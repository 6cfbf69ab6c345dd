import { type Db, type Sql, setStatementTimeout, sqlState, type Tx } from './db.ts'
import { firstIdAt } from './id.ts'
import { lockNumbers } from './lease-session.ts'

/**
 * A table partitioned by time: one partition per period, by the time in the rows' ids, and a default partition for all
 * other ids, so that no row is ever refused: rows older than the first period, from a wrong clock, or written while no
 * worker ran.
 */
interface PartitionedTable {
  table: string
  /** Column with an id from `newId`, which begins with its time. */
  column: string
}

interface Partition extends Period {
  name: string
}

/** Returns the name of the default partition. */
export const defaultPartitionName = (table: string): string => `${table}_default`

/** Lists the partitions of periods, oldest first. */
export async function listPeriods(sql: Sql, table: string): Promise<Partition[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = ${table}::regclass
    order by c.relname`
  return rows.flatMap(({ name }) => {
    const period = periodOf(table, name)
    return period === null ? [] : [{ name, ...period }]
  })
}

/** Short, because all later statements on the table queue behind a lock request for the whole table. */
const lockTimeoutMs = 100
/** An autovacuum yields to a lock request that has waited for one second. */
const vacuumTimeoutMs = 3_000
const lockNotAvailable = '55P03'
const queryCanceled = '57014'
const checkViolation = '23514'
const undefinedTable = '42P01'
/** Size that can be scanned under the lock, in some milliseconds. */
const maxScanBytes = 32 * 1024 * 1024
/** Time to validate a large table, which stays readable and writable meanwhile. */
const validateTimeoutMs = 86_400_000

/**
 * Creates the partition of the next period. Any number of processes may run it at any time; each continues what another
 * started. Returns the number of new partitions: 0 if it exists, if others keep the table locked, or if the default
 * partition has rows of that period, which then stay there and are deleted row by row.
 */
export async function createNextPartition(db: Db, table: PartitionedTable, now: Date): Promise<number> {
  const period = periodToCreate(now)
  const step = (work: Step) => tryWithLocks(() => db.tx((tx) => runInTransaction(tx, table, period, work)))
  for (;;) {
    const result = await step(advanceStep)
    if (result === 'taken') await step(abandonStep)
    if (result !== 'more') return result === 'made' ? 1 : 0
  }
}

type StepResult = 'made' | 'there' | 'more' | 'taken' | 'busy'
type Step = (tx: Tx, table: PartitionedTable, period: Period | null, state: State) => Promise<StepResult>

interface State {
  isThere: boolean
  /** Whether the default partition is small enough to scan under the lock. */
  isSmall: boolean
  /** Constraint by which the default partition refuses rows of a period, and whether its rows are validated. */
  rule: string | null
  isProven: boolean
}

async function runInTransaction(
  tx: Tx,
  table: PartitionedTable,
  period: Period | null,
  work: Step,
): Promise<StepResult> {
  await limitLockWait(tx)
  const defaultName = defaultPartitionName(table.table)
  const [state] = await tx<State[]>`
    select
      to_regclass(${period === null ? null : partitionName(table.table, period)}::text) is not null as "isThere",
      pg_relation_size(${defaultName}::regclass) <= ${maxScanBytes} as "isSmall",
      k.conname as rule,
      coalesce(k.convalidated, false) as "isProven"
    from (select) as one
    left join pg_constraint k on k.conrelid = ${defaultName}::regclass and k.conname ~ ${`^${table.table}_rest_\\d{8}$`}`
  if (state === undefined) throw new Error('A row was expected')
  return work(tx, table, period, state)
}

const advanceStep: Step = async (tx, table, period, state) => {
  if (state.rule === null && (period === null || state.isThere)) return 'there'
  await blockVacuum(tx, defaultPartitionName(table.table))
  // Left by a process that died in another period: it would refuse rows of that period forever.
  if (state.rule !== null && (period === null || state.isThere || state.rule !== constraintName(table, period))) {
    await dropConstraint(tx, table, state.rule)
    return 'more'
  }
  if (period === null || state.isThere) return 'there'
  if (state.isSmall || state.isProven) {
    await attach(tx, table, period)
    return 'made'
  }
  await (state.rule === null ? addConstraint : validateConstraint)(tx, table, period)
  return 'more'
}

const abandonStep: Step = async (tx, table, _period, { rule }) => {
  if (rule === null) return 'there'
  await blockVacuum(tx, defaultPartitionName(table.table))
  await dropConstraint(tx, table, rule)
  return 'there'
}

const constraintName = ({ table }: PartitionedTable, period: Period): string => partitionName(`${table}_rest`, period)

/** Makes the default partition refuse new rows of a period, without checking existing rows. */
async function addConstraint(tx: Tx, table: PartitionedTable, period: Period): Promise<void> {
  const [defaultName, { column }] = [defaultPartitionName(table.table), table]
  await tx.unsafe(`
    alter table ${defaultName}
    add constraint ${constraintName(table, period)}
    check (${column} < '${firstIdAt(period.from)}' or ${column} >= '${firstIdAt(period.to)}') not valid`)
}

async function dropConstraint(tx: Tx, { table }: PartitionedTable, rule: string): Promise<void> {
  await tx.unsafe(`alter table ${defaultPartitionName(table)} drop constraint if exists ${rule}`)
}

/** Scans the default partition, which stays readable and writable. */
async function validateConstraint(tx: Tx, table: PartitionedTable, period: Period): Promise<void> {
  await setStatementTimeout(tx, validateTimeoutMs)
  await tx.unsafe(
    `alter table ${defaultPartitionName(table.table)} validate constraint ${constraintName(table, period)}`,
  )
}

/** Attaches the partition. A validated constraint that excludes the period avoids a scan of the default partition. */
async function attach(tx: Tx, table: PartitionedTable, period: Period): Promise<void> {
  const [name, defaultName, rule] = [
    partitionName(table.table, period),
    defaultPartitionName(table.table),
    constraintName(table, period),
  ]
  await tx.unsafe(`
    create table ${name} (
      like ${defaultName} including defaults including constraints including indexes including storage
    )`)
  await tx.unsafe(`alter table ${name} drop constraint if exists ${rule}`)
  await tx.unsafe(`
    alter table ${table.table}
    attach partition ${name}
    for values from ('${firstIdAt(period.from)}') to ('${firstIdAt(period.to)}')`)
  await dropConstraint(tx, table, rule)
}

/**
 * Drops the partition of a period if `isOver` holds. Checks it twice, the second time under an exclusive lock, so that
 * rows written in between count. Returns `busy` when others kept the table locked.
 */
export async function dropPartition(
  db: Db,
  table: string,
  name: string,
  isOver: (sql: Sql) => Promise<boolean>,
): Promise<'gone' | 'held' | 'busy'> {
  const result = await tryWithLocks(async () => {
    if (!(await isOver(db.sql))) return 'held'
    return db.tx(async (tx): Promise<'gone' | 'held'> => {
      await limitLockWait(tx)
      await blockVacuum(tx, name)
      await tx`select set_config('statement_timeout', ${10 * lockTimeoutMs}, true)`
      await tx`lock table only ${tx(table)} in access exclusive mode`
      if (!(await isOver(tx))) return 'held'
      await tx`drop table ${tx(name)}`
      return 'gone'
    })
  })
  return result === 'taken' ? 'busy' : result
}

/** Serializes processes, and limits how long others queue behind a lock request for the table. */
async function limitLockWait(tx: Tx): Promise<void> {
  await tx`select set_config('lock_timeout', ${lockTimeoutMs}, true)`
  await tx`select pg_advisory_xact_lock(${lockNumbers.partitions}::bigint)`
}

/** Keeps vacuums off a partition. Nothing queues behind this lock, so waiting for it is harmless. */
async function blockVacuum(tx: Tx, part: string): Promise<void> {
  await tx`select set_config('lock_timeout', ${vacuumTimeoutMs}, true)`
  await tx`lock table only ${tx(part)} in share update exclusive mode`
  await tx`select set_config('lock_timeout', ${lockTimeoutMs}, true)`
}

/** Returns `busy` if others locked or dropped something, `taken` if the default partition has rows of the period. */
async function tryWithLocks<T>(work: () => Promise<T>): Promise<T | 'busy' | 'taken'> {
  try {
    return await work()
  } catch (error) {
    const state = sqlState(error)
    if (state === checkViolation) return 'taken'
    if ([lockNotAvailable, queryCanceled, undefinedTable].includes(state)) return 'busy'
    throw error
  }
}

const dayMs = 24 * 3_600_000
/**
 * Two weeks, starting on a Monday at 00:00 UTC. Each partition adds cost to statements that search all of them; with 30
 * days of retention there are three or four, and a row is deleted at most one period late.
 */
const periodMs = 14 * dayMs
const firstMonday = Date.UTC(1970, 0, 5)
/** An earlier partition would only add cost. */
const createAheadMs = 7 * dayMs
/**
 * A partition for a period that starts sooner is not created: rows of its time would be refused while it is created, or
 * while a lock blocks that. Two days exceed any clock error and any lock.
 */
const minAheadMs = 2 * dayMs
/** A partition further ahead comes from a wrong clock. */
const maxAheadMs = 2 * periodMs

interface Period {
  from: Date
  /** Start of the next period. */
  to: Date
}

export function periodAt(time: Date): Period {
  const from = firstMonday + Math.floor((time.getTime() - firstMonday) / periodMs) * periodMs
  return { from: new Date(from), to: new Date(from + periodMs) }
}

/** Returns the next period if its partition should be created now. */
export function periodToCreate(now: Date): Period | null {
  const { to: next } = periodAt(now)
  const leftMs = next.getTime() - now.getTime()
  return leftMs < minAheadMs || leftMs > createAheadMs ? null : periodAt(next)
}

/** Returns true if a clock far ahead created the period. */
export const isFarAhead = ({ from }: Period, now: Date): boolean => from.getTime() > now.getTime() + maxAheadMs

/** Returns `events_20261207`: the partition of a table for the period that begins on that day. */
export function partitionName(table: string, { from }: Period): string {
  return `${table}_${from.toISOString().slice(0, 10).replaceAll('-', '')}`
}

/** Returns the period of a partition, or null for other names, such as that of the default partition. */
export function periodOf(table: string, name: string): Period | null {
  const [, year, month, day] = /_(\d{4})(\d\d)(\d\d)$/.exec(name) ?? []
  if (year === undefined) return null
  const period = periodAt(new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))))
  return partitionName(table, period) === name ? period : null
}
