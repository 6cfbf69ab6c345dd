import type { Static } from 'typebox'
import type { Sql } from '../../base/db.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { type EndpointKey, requireEndpoint } from '../endpoint/endpoint.ts'
import { EndpointParams } from '../endpoint/schema.ts'
import { lastFeedPosition, positionRange } from './deliveries.ts'
import { Stats, StatsQuery } from './delivery-schema.ts'
import { endpointPath, type WebhookDeps } from './read-endpoint.ts'

export function statsRoute(api: TeamApi, { db, clock }: WebhookDeps): void {
  api.get(`${endpointPath}/stats`, 'member', {
    operationId: 'getWebhookStats',
    summary: 'Read endpoint statistics',
    description: 'Deliveries, failures and durations, for charts.',
    params: EndpointParams,
    query: StatsQuery,
    answers: { 200: Stats },
    run: async ({ member: { workspaceId }, params, query }) => {
      const endpoint = await requireEndpoint(db.sql, { workspaceId, id: params.endpointId })
      return readStats(db.sql, endpoint, query.hours, clock.now())
    },
  })
}

type Answer = Static<typeof Stats>
type Bucket = Omit<Answer['buckets'][number], 'start'> & { start: Date }

/** Positions to read at most, regardless of the size of the feed. */
const maxSample = 20_000
const hourMs = 3_600_000
const maxHourlyHours = 72

/**
 * Returns statistics of an endpoint by the time of the events. Reads a random sample of positions of a long feed and
 * extrapolates the counts, so that the cost stays constant.
 */
async function readStats(sql: Sql, { workspaceId, id }: EndpointKey, hours: number, now: Date): Promise<Answer> {
  const unit = hours <= maxHourlyHours ? 'hour' : 'day'
  const unitMs = unit === 'hour' ? hourMs : 24 * hourMs
  const starts = startsOf(hours, unitMs, now)
  const from = starts[0] ?? now
  const { after } = await positionRange(sql, workspaceId, from, null)
  const last = await lastFeedPosition(sql, workspaceId)
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
  return { unit, sampledEvery, buckets: starts.map((start) => presentBucket(start, found.get(start.getTime()))) }
}

/** Returns the starts of the hours or days that overlap the range, oldest first. */
function startsOf(hours: number, unitMs: number, now: Date): Date[] {
  const last = Math.floor(now.getTime() / unitMs) * unitMs
  const count = Math.ceil((hours * hourMs) / unitMs)
  return Array.from({ length: count }, (_, n) => new Date(last - (count - 1 - n) * unitMs))
}

function presentBucket(start: Date, row: Partial<Bucket> = {}): Answer['buckets'][number] {
  const { delivered = 0, failedAttempts = 0, msP50, msP95, delayMsP50, delayMsP95 } = row
  return {
    ...{ start: start.toISOString(), delivered, failedAttempts },
    ...{ msP50: whole(msP50), msP95: whole(msP95), delayMsP50: whole(delayMsP50), delayMsP95: whole(delayMsP95) },
  }
}

const whole = (value: number | null = null) => (value === null ? null : Math.round(value))
