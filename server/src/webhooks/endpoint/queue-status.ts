import type { Sql } from '../../base/db.ts'
import { optInEventNames } from '../../workspaces/opt-in-events.ts'
import { failuresBeforeProbes, type Health } from './retry-policy.ts'

export interface EndpointStatus extends Health {
  endpointId: string
  retryAt: Date | null
  /** Events with a pending row. */
  pending: number
  oldestPendingAt: Date | null
  /** Events after the cursor. */
  behind: number
  oldestBehindAt: Date | null
}

/** Returns the status of endpoints. Counts pending events up to a limit: a backlog can be as long as the feed. */
export async function selectEndpointStatuses(
  sql: Sql,
  workspaceId: string,
  endpointIds: readonly string[],
  countUpTo: number,
): Promise<Map<string, EndpointStatus>> {
  const rows = await sql<EndpointStatus[]>`
    select
      q.endpoint_id as "endpointId",
      q.paused_until as "pausedUntil",
      q.failing_since as "failingSince",
      q.failures_in_a_row as "failuresInARow",
      q.last_success_at as "lastSuccessAt",
      q.retry_at as "retryAt",
      p.count as "pending",
      p.oldest as "oldestPendingAt",
      b.count as "behind",
      b.oldest as "oldestBehindAt"
    from webhook_queues q
    join webhook_endpoints w on w.workspace_id = q.workspace_id and w.id = q.endpoint_id
    cross join lateral (
      select count(*)::integer as count, min(occurred_at) as oldest
      from (
        select d.occurred_at
        from webhook_deliveries d
        where d.workspace_id = ${workspaceId}
          and d.endpoint_id = q.endpoint_id
          and d.state = 'pending'
          and d.generation = q.generation
        limit ${countUpTo}
      ) as pending
    ) as p
    cross join lateral (
      select count(*)::integer as count, min(e.occurred_at) as oldest
      from events e
      where e.workspace_id = ${workspaceId}
        and e.position > q.cursor
        and e.position <= q.cursor + ${countUpTo}::bigint
        and w.state = 'active'
        and e.test_endpoint_id is null
        and (
          e.name = any (w.events)
          or (split_part(e.name, '.', 1) || '.*' = any (w.events) and e.name <> all (${optInEventNames}::text[]))
        )
        and not exists (
          select 1
          from webhook_deliveries d
          where d.workspace_id = ${workspaceId}
            and d.endpoint_id = q.endpoint_id
            and d.position = e.position
        )
    ) as b
    where q.workspace_id = ${workspaceId}
      and q.endpoint_id = any (${endpointIds}::uuid[])`
  return new Map(rows.map((row) => [row.endpointId, row]))
}

/** Returns when the next attempt is due; null if nothing is pending, or it is due now. */
export function nextAttemptAt(status: EndpointStatus, now: Date): Date | null {
  const { pending, behind, retryAt, pausedUntil } = status
  if (pending + behind === 0) return null
  const due = behind > 0 ? null : retryAt
  const earliest = Math.max(due?.getTime() ?? 0, pausedUntil?.getTime() ?? 0)
  return earliest > now.getTime() ? new Date(earliest) : null
}

interface WebhookBacklog {
  /** Failing receivers always have a backlog; only the backlog of the others needs attention. */
  isFailing: boolean
  endpoints: number
  /** Endpoints that have not read the feed to its end. */
  behind: number
  /** Time of the oldest event that an endpoint has not read. */
  oldestAt: Date | null
  /** Due time of the delivery that is overdue the longest. */
  dueAt: Date | null
}

const maxChecked = 1000

/** Returns the backlog of all active endpoints; the oldest event covers at most 1,000 endpoints that are behind. */
export async function readWebhookBacklog(sql: Sql): Promise<WebhookBacklog[]> {
  const [backlogs, oldest] = await Promise.all([countQueues(sql), readOldestBehind(sql)])
  return backlogs.map((one) => ({
    ...one,
    oldestAt: oldest.find(({ isFailing }) => isFailing === one.isFailing)?.at ?? null,
  }))
}

const isFailing = (sql: Sql) => sql`q.failures_in_a_row >= ${failuresBeforeProbes}`
const isBehind = (sql: Sql) => sql`q.cursor < coalesce(f.last_position, 0)`

const activeQueues = (sql: Sql) => sql`
  webhook_queues q
  join webhook_endpoints e
    on e.workspace_id = q.workspace_id
    and e.id = q.endpoint_id
    and e.state = 'active'
    and e.removed_at is null
  left join event_feeds f on f.workspace_id = q.workspace_id`

async function countQueues(sql: Sql): Promise<Omit<WebhookBacklog, 'oldestAt'>[]> {
  return sql<Omit<WebhookBacklog, 'oldestAt'>[]>`
    select
      ${isFailing(sql)} as "isFailing",
      count(*) as endpoints,
      count(*) filter (where ${isBehind(sql)}) as behind,
      min(q.retry_at) as "dueAt"
    from ${activeQueues(sql)}
    group by 1`
}

async function readOldestBehind(sql: Sql): Promise<{ isFailing: boolean; at: Date }[]> {
  const scanned = await sql<{ workspaceId: string; endpointId: string }[]>`
    select q.workspace_id as "workspaceId", q.endpoint_id as "endpointId"
    from ${activeQueues(sql)}
    where ${isBehind(sql)}
    order by ${isFailing(sql)}
    limit ${maxChecked}`
  if (scanned.length === 0) return []
  return sql<{ isFailing: boolean; at: Date }[]>`
    select ${isFailing(sql)} as "isFailing", min(event.occurred_at) as at
    from webhook_queues q
    cross join lateral (
      select occurred_at
      from events
      where workspace_id = q.workspace_id
        and position > q.cursor
      order by position
      limit 1
    ) as event
    where q.workspace_id = any (${[...new Set(scanned.map(({ workspaceId }) => workspaceId))]}::uuid[])
      and q.endpoint_id = any (${scanned.map(({ endpointId }) => endpointId)}::uuid[])
    group by 1`
}
