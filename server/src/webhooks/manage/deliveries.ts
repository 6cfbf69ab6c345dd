import type { Fragment, Sql } from '../../base/db.ts'
import { firstIdAt } from '../../base/id.ts'
import type { AttemptRow } from '../deliver/delivery.ts'
import type { EndpointKey } from '../endpoint/endpoint.ts'
import type { KnownEvent } from '../event-catalog.ts'

export const deliveryStates = ['pending', 'delivered', 'failed', 'cancelled'] as const
export type DeliveryState = (typeof deliveryStates)[number]

interface DeliveryFilter {
  state: DeliveryState | null
  event: KnownEvent | null
  /** Id of the event, or of its lead or conversation. */
  about: string | null
  answer: AnswerFilter | null
  from: Date | null
  to: Date | null
}

/** Response of the last attempt: a range of statuses, or none. */
export type AnswerFilter = { from: number; to: number } | 'none'

/** State of an event's delivery to an endpoint. */
export interface LoggedDelivery {
  position: number
  eventId: string
  event: KnownEvent
  subjectId: string
  occurredAt: Date
  masked: boolean
  /** `cancelled`: pending in the table, but of an earlier generation. */
  state: DeliveryState
  attempts: number
  dueAt: Date | null
}

export type LoggedAttempt = Omit<AttemptRow, 'position'>

/** The last attempt without its response; null fields if there was none. */
type LastAttempt = { [K in 'at' | 'status' | 'ms' | 'error']: LoggedAttempt[K] | null }

export interface DeliveryPage {
  rows: (LoggedDelivery & LastAttempt)[]
  /** Position for the next page; null at the end. */
  before: number | null
}

// Bounds the cost of a page with a selective filter.
const maxScanned = 5000

/** Lists deliveries, newest first. A page can be short or empty without being the last: check `before`. */
export async function listDeliveries(
  sql: Sql,
  { workspaceId, id: endpointId }: EndpointKey,
  filter: DeliveryFilter,
  page: { before: number | null; limit: number },
): Promise<DeliveryPage> {
  const { after, upTo } = await positionRange(sql, workspaceId, filter.from, filter.to)
  const before = page.before ?? upTo ?? Number.MAX_SAFE_INTEGER
  const positions = filter.about === null ? null : await positionsAbout(sql, workspaceId, filter.about, before)
  const rows = await sql<(LoggedDelivery & LastAttempt & ScanExtent)[]>`
    with looked_at as materialized (
      select ${deliveryColumns(sql)}, d.delivered_at, d.delivered_status, d.delivered_ms
      from webhook_deliveries d
      join webhook_queues q on q.workspace_id = d.workspace_id and q.endpoint_id = d.endpoint_id
      where d.workspace_id = ${workspaceId}
        and d.endpoint_id = ${endpointId}
        and d.position > ${after}
        and d.position < ${before}
        ${positions === null ? sql`` : sql`and d.position = any (${positions}::bigint[])`}
        and ${stateCondition(sql, filter.state)}
      order by d.position desc
      limit ${maxScanned}
    ), wanted as (
      select *
      from looked_at
      where (${filter.event}::text is null or event = ${filter.event})
        and (${filter.from}::timestamptz is null or "occurredAt" >= ${filter.from})
        and (${filter.to}::timestamptz is null or "occurredAt" <= ${filter.to})
        and ${answerCondition(sql, workspaceId, endpointId, filter.answer)}
      order by position desc
      limit ${page.limit + 1}
    )
    select r.reached, r.read, w.position, w."eventId", w.event, w."subjectId", w."occurredAt", w.masked, w.state, w.attempts,
      w."dueAt",
      coalesce(w.delivered_at, a.at) as at,
      coalesce(w.delivered_status, a.status) as status,
      coalesce(w.delivered_ms, a.ms) as ms,
      a.error
    from (select min(position) as reached, count(*)::integer as read from looked_at) as r
    left join wanted w on true
    left join webhook_attempts a on a.workspace_id = ${workspaceId}
      and a.endpoint_id = ${endpointId}
      and a.position = w.position
      and a.number = w.attempts
    order by w.position desc`
  return pageOf(rows, page.limit)
}

/**
 * Returns the position of the event, or of the newest events of the lead or conversation. Ordered by `seq`: an order by
 * position would scan the index of all events.
 */
async function positionsAbout(sql: Sql, workspaceId: string, about: string, before: number): Promise<number[]> {
  const rows = await sql<{ position: number }[]>`
    (
      select position
      from events
      where workspace_id = ${workspaceId}
        and id = ${about}
        and position < ${before}
    )
    union
    (
      select position
      from events
      where workspace_id = ${workspaceId}
        and subject_id = ${about}
        and position < ${before}
      order by seq desc
      limit ${maxScanned}
    )`
  return rows.map(({ position }) => position)
}

/** SQL over `looked_at`. Looks up statuses that are not stored with the delivery, row by row. */
function answerCondition(sql: Sql, workspaceId: string, endpointId: string, answer: AnswerFilter | null): Fragment {
  if (answer === null) return sql`true`
  const status = sql`coalesce(
    looked_at.delivered_status,
    (
      select a.status
      from webhook_attempts a
      where a.workspace_id = ${workspaceId}
        and a.endpoint_id = ${endpointId}
        and a.position = looked_at.position
        and a.number = looked_at.attempts
    )
  )`
  if (answer === 'none') return sql`(looked_at.attempts > 0 and ${status} is null)`
  return sql`${status} between ${answer.from} and ${answer.to}`
}

/** How far the query has scanned, and how many rows. */
interface ScanExtent {
  reached: number
  read: number
}

function pageOf(rows: (LoggedDelivery & LastAttempt & ScanExtent)[], limit: number): DeliveryPage {
  const found = rows.filter((row) => row.position !== null)
  const shownRows = found.slice(0, limit)
  const [first] = rows
  const isTruncated = first !== undefined && first.read === maxScanned
  const before = found.length > limit ? (shownRows.at(-1)?.position ?? null) : isTruncated ? first.reached : null
  return { rows: shownRows, before }
}

/**
 * Returns one delivery with all attempts in order; undefined if there is none yet. Found by position, because an index
 * on event ids would cost a write per delivery.
 */
export async function findDelivery(
  sql: Sql,
  { workspaceId, id: endpointId }: EndpointKey,
  position: number,
): Promise<(LoggedDelivery & { attemptList: LoggedAttempt[] }) | undefined> {
  const [row] = await sql<(LoggedDelivery & LastAttempt & { answer: Buffer | null })[]>`
    select ${deliveryColumns(sql)}, d.delivered_at as at, d.delivered_status as status, d.delivered_ms as ms,
      d.delivered_answer as answer
    from webhook_deliveries d
    join webhook_queues q on q.workspace_id = d.workspace_id and q.endpoint_id = d.endpoint_id
    where d.workspace_id = ${workspaceId}
      and d.endpoint_id = ${endpointId}
      and d.position = ${position}`
  if (row === undefined) return undefined
  // Attempts that are not stored with the delivery.
  const attempts = await sql<LoggedAttempt[]>`
    select number, at, status, ms, error, answer
    from webhook_attempts
    where workspace_id = ${workspaceId}
      and endpoint_id = ${endpointId}
      and position = ${position}
    order by number`
  const { at, status, ms, answer, ...delivery } = row
  const success = at === null ? [] : [{ number: row.attempts, at, status, ms: ms ?? 0, error: null, answer }]
  return { ...delivery, attemptList: [...attempts, ...success] }
}

/** SQL: columns of a delivery `d` with its queue `q`. */
const deliveryColumns = (sql: Sql) => sql`
  d.position, d.event_id as "eventId", d.event_name as event, d.subject_id as "subjectId",
  d.occurred_at as "occurredAt", d.masked, d.attempts, d.due_at as "dueAt",
  case when d.state = 'pending' and d.generation < q.generation then 'cancelled' else d.state end as state`

// Spelled out per state, so that the planner can use the partial index of undelivered rows.
function stateCondition(sql: Sql, state: DeliveryState | null): Fragment {
  switch (state) {
    case null:
      return sql`true`
    case 'pending':
      return sql`d.state = 'pending' and d.generation = q.generation`
    case 'cancelled':
      return sql`d.state = 'pending' and d.generation < q.generation`
    case 'failed':
      return sql`d.state = 'failed'`
    case 'delivered':
      return sql`d.state = 'delivered'`
  }
}

/** Maximum difference between an event's time and its id's time, including clock differences of nodes. */
const toleranceMs = 600_000

/**
 * Returns the range of positions that contains the events of a time range, with some margin on both sides: callers must
 * also compare the times of the events.
 */
export async function positionRange(
  sql: Sql,
  workspaceId: string,
  from: Date | null,
  to: Date | null,
): Promise<{ after: number; upTo: number | null }> {
  const [after, upTo] = await Promise.all([
    from === null ? null : positionAt(sql, workspaceId, new Date(from.getTime() - toleranceMs), 'before'),
    to === null ? null : positionAt(sql, workspaceId, new Date(to.getTime() + toleranceMs), 'from'),
  ])
  return { after: after ?? 0, upTo }
}

/** Returns the last position of the feed; optionally locks the feed until the transaction ends. */
export async function lastFeedPosition(sql: Sql, workspaceId: string, lock?: 'for update'): Promise<number> {
  const [feed] = await sql<{ last: number }[]>`
    select last_position as last
    from event_feeds
    where workspace_id = ${workspaceId}
    ${lock === undefined ? sql`` : sql`for update`}`
  return feed?.last ?? 0
}

/** Returns the last position before a time, or the first one from it on. */
async function positionAt(sql: Sql, workspaceId: string, time: Date, side: 'before' | 'from'): Promise<number | null> {
  const id = firstIdAt(time)
  const [row] = await sql<{ position: number }[]>`
    select position
    from events
    where workspace_id = ${workspaceId}
      and ${side === 'before' ? sql`id < ${id}` : sql`id >= ${id}`}
      and position is not null
    order by id ${side === 'before' ? sql`desc` : sql`asc`}
    limit 1`
  return row?.position ?? null
}
