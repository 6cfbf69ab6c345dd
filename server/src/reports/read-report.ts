import type { Fragment, Sql } from '../base/db.ts'
import type { DayPeriod } from '../team/day-period.ts'
import { type Dimension, secondsOf } from './fact.ts'
import { type NumberName, numberNames, numbers } from './numbers.ts'

/** What a report is about: days, the same number of days before, and one value of a dimension or everything. */
export interface ReportScope extends DayPeriod {
  workspaceId: string
  beforeFrom: string
  filter: { dimension: Dimension; id: string } | null
}

/** A value of the period, and of the period before. */
export interface Compared<T> {
  now: T
  before: T
}

export interface Times {
  count: number
  medianSeconds: number
  p90Seconds: number
}

export interface Amount {
  amount: string
  /** Messages of which the amount is not known. */
  unpriced: number
}

/** The sums of one group or day. */
export interface Sums {
  counts: Record<NumberName, number>
  leads: { status: string; count: number; amount: string }[]
  cost: Amount
}

interface SumRow {
  isNow: boolean
  key: string
  kind: string
  outcome: string
  count: number
  total: string
}

/** SQL: condition on the sums `r` of the report, with those of the period before. */
function isInScope(sql: Sql, { workspaceId, beforeFrom, to, filter }: ReportScope): Fragment {
  return sql`
    r.workspace_id = ${workspaceId}
      and r.dimension = ${filter?.dimension ?? 'all'}
      and r.dimension_id = ${filter?.id ?? ''}
      and r.day >= ${beforeFrom}::date
      and r.day <= ${to}::date`
}

/** Returns the sums of both periods, and of each day of the period. */
export async function readSums(sql: Sql, scope: ReportScope) {
  const rows = await selectSums(sql, scope, sql`r.day::text`, isInScope(sql, scope))
  const nowRows = rows.filter(({ isNow }) => isNow)
  const days = Map.groupBy(nowRows, ({ key }) => key)
  return {
    now: sumsOf(nowRows),
    before: sumsOf(rows.filter(({ isNow }) => !isNow)),
    day: (date: string): Sums => sumsOf(days.get(date) ?? []),
  }
}

/** Returns the sums of both periods by value of a dimension, those that count the most first. */
export async function readGroups(sql: Sql, scope: Omit<ReportScope, 'filter'>, by: Dimension) {
  const where = sql`
    r.workspace_id = ${scope.workspaceId}
      and r.dimension = ${by}
      and r.day >= ${scope.beforeFrom}::date
      and r.day <= ${scope.to}::date`
  const ids = sql`(r.day >= ${scope.from}::date)::text || ' ' || r.dimension_id`
  const [rows, times] = await Promise.all([
    selectSums(sql, scope, sql`r.dimension_id`, where),
    readTimes(sql, where, ids),
  ])
  const groups = [...Map.groupBy(rows, ({ key }) => key)].map(([id, own]) => ({
    id,
    size: own.reduce((sum, { isNow, count }) => sum + (isNow ? count : 0), 0),
    now: sumsOf(own.filter(({ isNow }) => isNow)),
    before: sumsOf(own.filter(({ isNow }) => !isNow)),
    times: (kind: TimedKind): Compared<Times | null> => ({
      now: times(kind, `true ${id}`),
      before: times(kind, `false ${id}`),
    }),
  }))
  return groups.sort((a, b) => b.size - a.size || (a.id < b.id ? -1 : 1))
}

function selectSums(sql: Sql, { from }: Pick<ReportScope, 'from'>, key: Fragment, where: Fragment) {
  return sql<SumRow[]>`
    select r.day >= ${from}::date as "isNow", ${key} as key, r.kind, r.outcome, sum(r.count)::integer as count,
      trim_scale(sum(r.total))::text as total
    from report_rollups r
    where ${where}
      and r.count > 0
    group by 1, 2, 3, 4`
}

function sumsOf(rows: readonly SumRow[]): Sums {
  const sum = (matching: readonly SumRow[]) => matching.reduce((all, { count }) => all + count, 0)
  const counts = Object.fromEntries(
    numberNames.map((name) => [name, sum(rows.filter((row) => isCountedIn(name, row)))]),
  ) as Record<NumberName, number>
  const costs = rows.filter(({ kind }) => kind === 'cost')
  const leads = Map.groupBy(
    rows.filter(({ kind }) => kind === 'lead'),
    ({ outcome }) => outcome,
  )
  return {
    counts,
    leads: [...leads].map(([status, own]) => ({
      status,
      count: sum(own),
      amount: (own.reduce((all, { total }) => all + Number(total), 0) / 100).toFixed(2),
    })),
    cost: {
      amount: addDecimals(costs.map(({ total }) => total)),
      unpriced: sum(costs.filter(({ outcome }) => outcome === 'unpriced' || outcome === 'unknown')),
    },
  }
}

const isCountedIn = (name: NumberName, { kind, outcome }: Pick<SumRow, 'kind' | 'outcome'>): boolean => {
  const number = numbers[name]
  return number.kind === kind && (number.outcome === null || number.outcome === outcome)
}

const decimals = 10

/** Adds exact decimal numbers. */
export function addDecimals(amounts: readonly string[]): string {
  const sum = amounts.reduce((all, amount) => {
    const [whole = '0', part = ''] = amount.split('.')
    return all + BigInt(whole + part.padEnd(decimals, '0').slice(0, decimals))
  }, 0n)
  const digits = String(sum).padStart(decimals + 1, '0')
  const part = digits.slice(-decimals).replace(/0{1,10}$/, '')
  return digits.slice(0, -decimals) + (part === '' ? '' : `.${part}`)
}

type TimedKind = 'answer' | 'closed'
type ReadTimes = (kind: TimedKind, key: string) => Times | null

/** Reads the median and 90th percentile of times by a key. */
async function readTimes(sql: Sql, where: Fragment, key: Fragment): Promise<ReadTimes> {
  const rows = await sql<{ key: string; kind: string; count: number; median: number; p90: number }[]>`
    select key, kind, max(of_all)::integer as count,
      min(bucket) filter (where up_to >= 0.5 * of_all) as median,
      min(bucket) filter (where up_to >= 0.9 * of_all) as p90
    from (
      select key, kind, bucket,
        sum(count) over (partition by key, kind order by bucket) as up_to,
        sum(count) over (partition by key, kind) as of_all
      from (
        select ${key} as key, r.kind, r.bucket, sum(r.count) as count
        from report_rollups r
        where ${where}
          and r.kind in ('answer', 'closed')
          and r.bucket >= 0
        group by 1, 2, 3
        having sum(r.count) > 0
      ) as buckets
    ) as places
    group by key, kind`
  const found = new Map(rows.map((row) => [`${row.kind} ${row.key}`, row]))
  return (kind, wanted) => {
    const row = found.get(`${kind} ${wanted}`)
    if (row === undefined) return null
    return { count: row.count, medianSeconds: secondsOf(row.median), p90Seconds: secondsOf(row.p90) }
  }
}

/** Returns the times of both periods, all and by outcome, and of the days of the period by outcome. */
export async function readAllTimes(sql: Sql, scope: ReportScope) {
  const where = isInScope(sql, scope)
  const isNow = sql`(r.day >= ${scope.from}::date)::text`
  const [all, byOutcome, byDay] = await Promise.all([
    readTimes(sql, where, isNow),
    readTimes(sql, where, sql`${isNow} || ' ' || r.outcome`),
    readTimes(sql, sql`${where} and r.day >= ${scope.from}::date`, sql`r.day::text || ' ' || r.outcome`),
  ])
  const compared = (of: ReadTimes, kind: TimedKind, outcome = ''): Compared<Times | null> => ({
    now: of(kind, `true${outcome}`),
    before: of(kind, `false${outcome}`),
  })
  return {
    answer: compared(all, 'answer'),
    answerOfPeople: compared(byOutcome, 'answer', ' people'),
    answerOfAgents: compared(byOutcome, 'answer', ' agents'),
    resolution: compared(all, 'closed'),
    day: (date: string, by: 'people' | 'agents'): number | null =>
      byDay('answer', `${date} ${by}`)?.medianSeconds ?? null,
  }
}

export interface CountedFact {
  id: string
  subjectId: string
  at: Date
  day: string
  value: number | null
}

/** Returns what a number counts, newest first. */
export async function listCounted(
  sql: Sql,
  { workspaceId, from, to, filter }: ReportScope,
  { number, after, limit }: { number: NumberName; after: { day: string; id: string } | null; limit: number },
): Promise<CountedFact[]> {
  const { kind, outcome } = numbers[number]
  return sql<CountedFact[]>`
    select f.id, f.subject_id as "subjectId", f.at, f.day::text as day, f.value
    from report_facts f
    where f.workspace_id = ${workspaceId}
      and f.kind = ${kind}
      and f.day >= ${from}::date
      and f.day <= ${to}::date
      ${outcome === null ? sql`` : sql`and f.outcome = ${outcome}`}
      ${filter === null ? sql`` : sql`and ${hasValue(sql, filter)}`}
      ${after === null ? sql`` : sql`and (f.day, f.id) < (${after.day}::date, ${after.id}::uuid)`}
    order by f.day desc, f.id desc
    limit ${limit}`
}

function hasValue(sql: Sql, { dimension, id }: NonNullable<ReportScope['filter']>): Fragment {
  switch (dimension) {
    case 'connection':
      return sql`f.connection_id = ${id}::uuid`
    case 'team':
      return sql`f.team_id = ${id}::uuid`
    case 'person':
      return sql`f.user_id = ${id}::uuid`
    case 'key':
      return sql`f.key_id = ${id}::uuid`
    case 'label':
      return sql`${id}::uuid = any (f.label_ids)`
    case 'source':
      return sql`f.source = ${id}`
    case 'campaign':
      return sql`f.campaign_id = ${id}::uuid`
    default:
      return dimension satisfies never
  }
}

/** Whether a report covers everything so far: when it was last counted, and whether it is being made again. */
export async function readCountState(sql: Sql, workspaceId: string) {
  const [row] = await sql<{ countedAt: Date | null; isRebuilding: boolean }[]>`
    select counted_at as "countedAt", rebuilding is not null as "isRebuilding"
    from report_queues
    where workspace_id = ${workspaceId}`
  return row ?? { countedAt: null, isRebuilding: true }
}
