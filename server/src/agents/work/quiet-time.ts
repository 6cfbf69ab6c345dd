import type { Fragment, Sql } from '../../base/db.ts'
import { firstIdAt } from '../../base/id.ts'
import { workEvents } from './work-cursor.ts'

// A customer who writes three short messages in a row gets one answer to all three: a conversation becomes work when its
// customer has been silent for the key's quiet time. Times are those of our arrival, never the platform's.

/** The quiet time of a key for which the team has set none. */
export const defaultQuietSeconds = 4
/** The longest that a message waits, however much the customer writes. */
export const maxHeldMs = 30_000
/** Messages that are examined: after so many within the time above, nothing is held any longer. */
const maxDepth = 100

/** SQL columns of the state `s`: the key's quiet time, and the smallest id of a message within it; null if it has none. */
export const quietColumns = (sql: Sql, now: Date): Fragment => sql`
  coalesce(k.quiet_seconds, ${defaultQuietSeconds}) as quiet_seconds,
  case when coalesce(k.quiet_seconds, ${defaultQuietSeconds}) > 0 then (
    lpad(to_hex(${now.getTime()}::bigint - coalesce(k.quiet_seconds, ${defaultQuietSeconds}) * 1000), 12, '0') || repeat('0', 20)
  )::uuid end as quiet_after`

/**
 * SQL: until when the conversation `c` is no work, from columns of the same names; null if it is due. Reads messages only
 * if the newest one is recent. Messages that the key was shown do not count: the first one after them decides how long
 * the customer may keep writing. A time further away than possible comes from a clock that was set back.
 */
export const heldUntil = (sql: Sql, workspaceId: Fragment, now: Date): Fragment => sql`
  case when c.newest_inbound_id > (select quiet_after from s) and c.unanswered_since is not null then (
    select case when u.until > ${now}::timestamptz and u.until <= ${new Date(now.getTime() + maxHeldMs)}::timestamptz then u.until end
    from (
      select least(
        max(m.created_at) + (select quiet_seconds from s) * interval '1 second',
        min(m.created_at) + ${maxHeldMs} * interval '1 millisecond'
      ) as until
      from (
        select id, direction, kind, origin, created_at
        from messages
        where workspace_id = ${workspaceId}
          and conversation_id = c.id
        order by workspace_id desc, conversation_id desc, occurred_at desc
        limit ${maxDepth}
      ) as m
      where m.direction = 'inbound'
        and m.kind <> 'system'
        and m.origin = 'live'
        and m.id > coalesce(greatest(c.answered_inbound_id, c.seen_inbound_id), ${firstIdAt(new Date(0))})
      having count(*) < ${maxDepth}
    ) as u
  ) end`

/**
 * SQL: the feed position of the newest event of the conversation `c`, for a cursor to carry it; null if it has none that
 * is recent, or has one without a position. Reads events only if its newest message is recent.
 */
export const recentPlace = (sql: Sql, workspaceId: Fragment, now: Date): Fragment => sql`
  case when c.newest_inbound_id > (select quiet_after from s) then (
    select max(e.position)
    from events e
    where e.workspace_id = ${workspaceId}
      and e.subject_id = any (array(
        select c.id
        union all
        select a.id
        from conversation_aliases a
        where a.workspace_id = ${workspaceId}
          and a.conversation_id = c.id
      ))
      and e.id > ${firstIdAt(new Date(now.getTime() - 2 * maxHeldMs))}
      and e.name = any (${workEvents}::text[])
      and e.test_endpoint_id is null
  ) end`
