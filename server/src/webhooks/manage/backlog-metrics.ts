import type { Sql } from '../../base/db.ts'
import { failuresBeforeProbes } from '../endpoint/retry-policy.ts'

export interface WebhookBacklog {
  /** Receivers that fail have a backlog by nature: only that of the others calls for somebody. */
  isFailing: boolean
  endpoints: number
  /** Endpoints that have not read the feed to its end. */
  behind: number
  /** The oldest event that an endpoint has not read. */
  oldestAt: Date | null
  /** The delivery that is due for the longest time. */
  dueAt: Date | null
}

const maxLookedAt = 1000

/** How far the queues of all active endpoints are behind; of those behind, the oldest event of 1,000 is looked up. */
export async function readWebhookBacklog(sql: Sql): Promise<WebhookBacklog[]> {
  return sql<WebhookBacklog[]>`
    with queues as materialized (
      select
        q.workspace_id,
        q.cursor,
        q.retry_at,
        q.failures_in_a_row >= ${failuresBeforeProbes} as is_failing,
        q.cursor < coalesce(f.last_position, 0) as is_behind
      from webhook_queues q
      join webhook_endpoints e
        on e.workspace_id = q.workspace_id
        and e.id = q.endpoint_id
        and e.state = 'active'
        and e.removed_at is null
      left join event_feeds f on f.workspace_id = q.workspace_id
    ),
    oldest as (
      select looked_at.is_failing, min(event.occurred_at) as at
      from (
        select workspace_id, cursor, is_failing
        from queues
        where is_behind
        order by is_failing
        limit ${maxLookedAt}
      ) as looked_at
      cross join lateral (
        select occurred_at
        from events
        where workspace_id = looked_at.workspace_id
          and position > looked_at.cursor
        order by position
        limit 1
      ) as event
      group by looked_at.is_failing
    )
    select
      q.is_failing as "isFailing",
      count(*) as endpoints,
      count(*) filter (where q.is_behind) as behind,
      (select at from oldest where oldest.is_failing = q.is_failing) as "oldestAt",
      min(q.retry_at) as "dueAt"
    from queues q
    group by q.is_failing`
}
