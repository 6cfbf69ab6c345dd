import type { Sql } from '../../base/db.ts'
import { ownSession } from '../../base/lease-session.ts'
import { hasReplay } from './queue-queries.ts'

/**
 * When time alone makes the first queue ready that this process does not hold, as `due` finds them; null when there is none
 * that waits for that.
 */
export async function readNextDue(sql: Sql, now: Date): Promise<Date | null> {
  const [row] = await sql<{ at: Date | null }[]>`
    select min(
      coalesce(
        greatest(
          case
            when q.lease_owner is not null or q.lease_session <> ${ownSession(sql)}
            then ${now}::timestamptz + (q.lease_until - clock_timestamp())
          end,
          q.paused_until,
          case when q.cursor >= coalesce(f.last_position, 0) and not ${hasReplay(sql, null)} then q.retry_at end
        ),
        ${now}
      )
    ) as at
    from webhook_queues q
    join webhook_endpoints e
      on e.workspace_id = q.workspace_id
      and e.id = q.endpoint_id
    left join event_feeds f on f.workspace_id = q.workspace_id
    where (q.retry_at is not null or q.paused_until is not null or q.lease_session is not null)
      and not coalesce(q.lease_owner is not null and q.lease_session = ${ownSession(sql)}, false)
      and e.state = 'active'
      and e.removed_at is null
      and (q.retry_at is not null or q.cursor < f.last_position or ${hasReplay(sql, null)})`
  return row?.at ?? null
}
