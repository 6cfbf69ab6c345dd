import type { Sql } from '../../base/db.ts'
import type { EndpointKey } from '../endpoint/endpoint.ts'
import { positionRange } from './deliveries.ts'

export interface Bucket {
  start: Date
  delivered: number
  failedAttempts: number
  msP50: number | null
  msP95: number | null
  delayMsP50: number | null
  delayMsP95: number | null
}

export interface Stats {
  unit: 'hour' | 'day'
  sampledEvery: number
  buckets: Bucket[]
}

/** Positions to read at most, regardless of the size of the feed. */
const maxSample = 20_000
const hourMs = 3_600_000
const maxHourlyHours = 72

/**
 * Returns statistics of an endpoint by the time of the events. Reads a random sample of positions of a long feed and
 * extrapolates the counts, so that the cost stays constant.
 */
export async function readStats(sql: Sql, { workspaceId, id }: EndpointKey, hours: number, now: Date): Promise<Stats> {
  const unit = hours <= maxHourlyHours ? 'hour' : 'day'
  const unitMs = unit === 'hour' ? hourMs : 24 * hourMs
  const starts = startsOf(hours, unitMs, now)
  const from = starts[0] ?? now
  const { after } = await positionRange(sql, workspaceId, from, null)
  const last = await lastPosition(sql, workspaceId)
  const sampledEvery = Math.max(1, Math.ceil((last - after) / maxSample))
  const rows = await sql<Bucket[]>`
    with positions as materialized (
      select start + floor(random() * ${sampledEvery})::bigint as position
      from generate_series(${after + 1}::bigint, ${last}::bigint, ${sampledEvery}::bigint) as start
    )
    select date_trunc(${unit}, d.occurred_at) as start,
      (count(d.taken_at) * ${sampledEvery})::bigint as delivered,
      (sum(d.failed) * ${sampledEvery})::bigint as "failedAttempts",
      percentile_cont(0.5) within group (order by d.delivered_ms) as "msP50",
      percentile_cont(0.95) within group (order by d.delivered_ms) as "msP95",
      percentile_cont(0.5) within group (order by d.delay_ms) as "delayMsP50",
      percentile_cont(0.95) within group (order by d.delay_ms) as "delayMsP95"
    from positions p
    cross join lateral (
      select d.occurred_at, d.delivered_ms, a.failed,
        coalesce(a.taken_at, d.delivered_at) as taken_at,
        extract(epoch from coalesce(a.taken_at, d.delivered_at) - d.occurred_at) * 1000 as delay_ms
      from webhook_deliveries d
      cross join lateral (
        select count(*) filter (where a.status is null or a.status not between 200 and 299) as failed,
          min(a.at) filter (where a.status between 200 and 299) as taken_at
        from webhook_attempts a
        where a.workspace_id = ${workspaceId}
          and a.endpoint_id = ${id}
          and a.position = d.position
          and (d.state <> 'delivered' or d.attempts > 1)
      ) as a
      where d.workspace_id = ${workspaceId}
        and d.endpoint_id = ${id}
        and d.position = p.position
        and d.occurred_at >= ${from}
      limit 1
    ) as d
    group by 1`
  const found = new Map(rows.map((row) => [row.start.getTime(), row]))
  return { unit, sampledEvery, buckets: starts.map((start) => found.get(start.getTime()) ?? emptyBucket(start)) }
}

/** Returns the starts of the hours or days that overlap the range, oldest first. */
function startsOf(hours: number, unitMs: number, now: Date): Date[] {
  const last = Math.floor(now.getTime() / unitMs) * unitMs
  const count = Math.ceil((hours * hourMs) / unitMs)
  return Array.from({ length: count }, (_, n) => new Date(last - (count - 1 - n) * unitMs))
}

async function lastPosition(sql: Sql, workspaceId: string): Promise<number> {
  const [feed] = await sql<{ last: number }[]>`
    select last_position as last
    from event_feeds
    where workspace_id = ${workspaceId}`
  return feed?.last ?? 0
}

const emptyBucket = (start: Date): Bucket => ({
  start,
  delivered: 0,
  failedAttempts: 0,
  msP50: null,
  msP95: null,
  delayMsP50: null,
  delayMsP95: null,
})
