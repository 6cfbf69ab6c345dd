import { type Db, type Sql, setStatementTimeout, sqlState, type Tx } from './db.ts'
import { firstIdAt } from './id.ts'
import { lockNumbers } from './lease-session.ts'

/**
 * A table that is kept by time: a part for each period, by the ids that its rows were given at that time, and one for all
 * that has no period, so that no row is ever refused for its id: those of the time before the first period, of a clock that is
 * wrong, of an installation whose workers did not run.
 */
interface PartitionedTable {
  table: string
  /** Holds an id that the service made (`newId`), which begins with its time. */
  column: string
}

interface Partition extends Period {
  name: string
}

/** The part for everything that has no period. */
export const restOf = (table: string): string => `${table}_default`

/** The periods that there are, the oldest first. */
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

/** Whoever waits for a lock of a whole table has everybody wait behind it. */
const lockMs = 100
/** A vacuum that the server began by itself makes way for who has waited for a second. */
const vacuumMs = 3_000
const lockNotAvailable = '55P03'
const queryCanceled = '57014'
const checkViolation = '23514'
const undefinedTable = '42P01'
/** What is read through while others wait, which takes some milliseconds. */
const smallBytes = 32 * 1024 * 1024
/** Of a large table, of which others go on reading and writing. */
const proveMs = 86_400_000

/**
 * Makes the next period's part. Any number of processes may, at any time; what one of them has begun another ends. Returns
 * how many it made: 0 when it is there, when others keep the table locked, and when the part for everything else has rows
 * of that period, which then end there, one by one.
 */
export async function makeAhead(db: Db, table: PartitionedTable, now: Date): Promise<number> {
  const period = periodToMake(now)
  const step = (work: Step) => tried(() => db.tx((tx) => inStep(tx, table, period, work)))
  for (;;) {
    const came = await step(takeStep)
    if (came === 'taken') await step(giveUp)
    if (came !== 'more') return came === 'made' ? 1 : 0
  }
}

type Came = 'made' | 'there' | 'more' | 'taken' | 'busy'
type Step = (tx: Tx, table: PartitionedTable, period: Period | null, state: State) => Promise<Came>

interface State {
  isThere: boolean
  /** Whether the rest can be read through while others wait for it. */
  isSmall: boolean
  /** The rule by which the rest refuses rows of a period, and whether it holds for those that it has. */
  rule: string | null
  isProven: boolean
}

async function inStep(tx: Tx, table: PartitionedTable, period: Period | null, work: Step): Promise<Came> {
  await lockShortly(tx)
  const rest = restOf(table.table)
  const [state] = await tx<State[]>`
    select
      to_regclass(${period === null ? null : partitionName(table.table, period)}::text) is not null as "isThere",
      pg_relation_size(${rest}::regclass) <= ${smallBytes} as "isSmall",
      k.conname as rule,
      coalesce(k.convalidated, false) as "isProven"
    from (select) as one
    left join pg_constraint k on k.conrelid = ${rest}::regclass and k.conname ~ ${`^${table.table}_rest_\\d{8}$`}`
  if (state === undefined) throw new Error('A row was expected')
  return work(tx, table, period, state)
}

const takeStep: Step = async (tx, table, period, state) => {
  if (state.rule === null && (period === null || state.isThere)) return 'there'
  await outliveVacuum(tx, restOf(table.table))
  // Left by a process that died, in another period: it would refuse rows of that time for ever.
  if (state.rule !== null && (period === null || state.isThere || state.rule !== ruleName(table, period))) {
    await dropRule(tx, table, state.rule)
    return 'more'
  }
  if (period === null || state.isThere) return 'there'
  if (state.isSmall || state.isProven) {
    await attach(tx, table, period)
    return 'made'
  }
  await (state.rule === null ? addRule : proveRule)(tx, table, period)
  return 'more'
}

const giveUp: Step = async (tx, table, _period, { rule }) => {
  if (rule === null) return 'there'
  await outliveVacuum(tx, restOf(table.table))
  await dropRule(tx, table, rule)
  return 'there'
}

const ruleName = ({ table }: PartitionedTable, period: Period): string => partitionName(`${table}_rest`, period)

/** Has the rest refuse rows of a period, without a look at those that it has. */
async function addRule(tx: Tx, table: PartitionedTable, period: Period): Promise<void> {
  const [rest, { column }] = [restOf(table.table), table]
  await tx.unsafe(`
    alter table ${rest}
    add constraint ${ruleName(table, period)}
    check (${column} < '${firstIdAt(period.from)}' or ${column} >= '${firstIdAt(period.to)}') not valid`)
}

async function dropRule(tx: Tx, { table }: PartitionedTable, rule: string): Promise<void> {
  await tx.unsafe(`alter table ${restOf(table)} drop constraint if exists ${rule}`)
}

/** Looks at all rows of the rest; others go on reading and writing it. */
async function proveRule(tx: Tx, table: PartitionedTable, period: Period): Promise<void> {
  await setStatementTimeout(tx, proveMs)
  await tx.unsafe(`alter table ${restOf(table.table)} validate constraint ${ruleName(table, period)}`)
}

/** The rest is not looked at when a proven rule says that it has no row of the period. */
async function attach(tx: Tx, table: PartitionedTable, period: Period): Promise<void> {
  const [name, rest, rule] = [partitionName(table.table, period), restOf(table.table), ruleName(table, period)]
  await tx.unsafe(`
    create table ${name} (
      like ${rest} including defaults including constraints including indexes including storage
    )`)
  await tx.unsafe(`alter table ${name} drop constraint if exists ${rule}`)
  await tx.unsafe(`
    alter table ${table.table}
    attach partition ${name}
    for values from ('${firstIdAt(period.from)}') to ('${firstIdAt(period.to)}')`)
  await dropRule(tx, table, rule)
}

/**
 * Drops a period's part if `isOver` holds: asked twice, the second time while nobody else can write to the table, so that what
 * came in between counts. Returns whether it is gone; `busy` when others kept the table locked.
 */
export async function dropPartition(
  db: Db,
  table: string,
  name: string,
  isOver: (sql: Sql) => Promise<boolean>,
): Promise<'gone' | 'held' | 'busy'> {
  const came = await tried(async () => {
    if (!(await isOver(db.sql))) return 'held'
    return db.tx(async (tx): Promise<'gone' | 'held'> => {
      await lockShortly(tx)
      await outliveVacuum(tx, name)
      await tx`select set_config('statement_timeout', ${10 * lockMs}, true)`
      await tx`lock table only ${tx(table)} in access exclusive mode`
      if (!(await isOver(tx))) return 'held'
      await tx`drop table ${tx(name)}`
      return 'gone'
    })
  })
  return came === 'taken' ? 'busy' : came
}

/** One process at a time; and nobody waits for more than a moment behind a statement that itself waits for the table. */
async function lockShortly(tx: Tx): Promise<void> {
  await tx`select set_config('lock_timeout', ${lockMs}, true)`
  await tx`select pg_advisory_xact_lock(${lockNumbers.partitions}::bigint)`
}

/** Keeps vacuums off a part. Nobody else waits for this lock, so it may be waited for, and those after it need not be. */
async function outliveVacuum(tx: Tx, part: string): Promise<void> {
  await tx`select set_config('lock_timeout', ${vacuumMs}, true)`
  await tx`lock table only ${tx(part)} in share update exclusive mode`
  await tx`select set_config('lock_timeout', ${lockMs}, true)`
}

/** `busy` when others kept something locked or dropped it, `taken` when the rest has rows of the period. */
async function tried<T>(work: () => Promise<T>): Promise<T | 'busy' | 'taken'> {
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
 * Two weeks, from a Monday at midnight UTC on. Each part costs every statement that has to look into all of them; what is kept
 * for 30 days is in three or four of these, and leaves at most so much later.
 */
const periodMs = 14 * dayMs
const someMonday = Date.UTC(1970, 0, 5)
/** A part that is there long before it is needed only costs. */
const aheadMs = 7 * dayMs
/**
 * What begins sooner is not made any more. Until it is made, rows of its time are refused for some moments, or until whoever
 * keeps the table locked lets go: nobody's clock is as wrong as that, and nobody holds a lock for as long.
 */
const soonestMs = 2 * dayMs
/** Nobody makes a part so far ahead, unless a clock was wrong. */
const farMs = 2 * periodMs

interface Period {
  from: Date
  /** Where the next begins. */
  to: Date
}

export function periodAt(time: Date): Period {
  const from = someMonday + Math.floor((time.getTime() - someMonday) / periodMs) * periodMs
  return { from: new Date(from), to: new Date(from + periodMs) }
}

/** The next period, while it is time to make its part. */
export function periodToMake(now: Date): Period | null {
  const { to: next } = periodAt(now)
  const leftMs = next.getTime() - now.getTime()
  return leftMs < soonestMs || leftMs > aheadMs ? null : periodAt(next)
}

/** Whether a period was made by a clock that was far ahead. */
export const isFarAhead = ({ from }: Period, now: Date): boolean => from.getTime() > now.getTime() + farMs

/** `events_20261207`: the part of a table for the period that begins on that day. */
export function partitionName(table: string, { from }: Period): string {
  return `${table}_${from.toISOString().slice(0, 10).replaceAll('-', '')}`
}

/** Null for a name that is no period's: that of the part for everything else. */
export function periodOf(table: string, name: string): Period | null {
  const [, year, month, day] = /_(\d{4})(\d\d)(\d\d)$/.exec(name) ?? []
  if (year === undefined) return null
  const period = periodAt(new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))))
  return partitionName(table, period) === name ? period : null
}
