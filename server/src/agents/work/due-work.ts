import type { Fragment, Sql } from '../../base/db.ts'
import { currentColumns, isIdle, touchedConversations } from '../../inbox/conversation/activity-columns.ts'
import { opaqueWorkspaceId } from '../../inbox/conversation/queries.ts'
import { heldUntil, recentPlace } from './quiet-time.ts'
import { maxHeld, type WaitingPosition, type WorkCursor, workEvents } from './work-cursor.ts'

export interface WorkRequest {
  workspaceId: string
  keyId: string
  /** Null: all that is pending now. */
  from: WorkCursor | null
  limit: number
  now: Date
}

/** Feed positions that one statement reads at most. */
export const feedRange = 10_000
/** Recently changed conversations that are checked for handovers without a message. */
const maxChecked = 200

/**
 * Returns the source `w` of the next conversations in the order of the work: those to report and one more, and among them
 * those whose customer is still writing, up to one more than a cursor can carry. Columns: `id`, `why`, the feed position
 * or time that orders them, `held_until` (null: to report) and the position of the newest event of a held one. The whole
 * statement sees one snapshot, so that the work and the new cursor agree. Skips a conversation with a later event; a read
 * from the new cursor reports it.
 */
export function selectDueWork(sql: Sql, request: WorkRequest): Fragment {
  const { workspaceId, keyId, from, limit, now } = request
  // A subquery rather than a join: with a join, PostgreSQL sorts rows that the index has in order.
  const seen = sql`(select connection_ids from s)`
  const isOurs = sql`
    c.owner_key_id = ${keyId}
      and (cardinality(${seen}) = 0 or c.connection_id = any (${seen}::uuid[]))
      -- Another app on the number has it; see inbox/conversation/thread-control.ts.
      and (c.thread_owner is null or c.window_expires_at is null or c.window_expires_at <= ${now}::timestamptz)
      and (select may_work from s)`
  const most = limit + 1 + maxHeld
  if (from !== null && from.waiting === null) {
    const reach = sql`(select reach from s)`
    return selectNewWork(sql, request, { isOurs, reach, most, after: from.position, held: from.held })
  }
  const reach = from === null ? sql`(select last from s)` : sql`${from.position}::bigint`
  const waiting = selectWaitingWork(sql, request, { isOurs, reach, most, after: from?.waiting ?? null })
  if (from === null || from.held.length === 0) return waiting
  // The rest of what earlier pages left comes first.
  const held = selectNewWork(sql, request, { isOurs, reach, most, after: null, held: from.held })
  return sql`
    select * from (${held}) as held
    union all
    select * from (${waiting}) as waiting
    where not exists (
      select 1
      from events e
      left join conversation_aliases a on a.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)} and a.id = e.subject_id
      where e.workspace_id = ${workspaceId}
        and e.position = any (${[...from.held]}::bigint[])
        and coalesce(a.conversation_id, e.subject_id) = waiting.id
    )`
}

interface WorkSource<After> {
  isOurs: Fragment
  /** SQL of the feed position up to which work is read; a conversation with a later event is skipped. */
  reach: Fragment
  after: After
  most: number
}

/** SQL condition: the conversation has no event after the position. */
const isLast = (sql: Sql, all: Fragment, upTo: Fragment): Fragment => sql`
  not exists (
    select 1 from events later
    where later.workspace_id = ${all}
      and later.subject_id = c.id
      and (later.position is null or later.position > ${upTo})
      and later.name = any (${workEvents}::text[])
      and later.test_endpoint_id is null
  )`

/** Selects conversations with events after a position (null: none), or with one of the held events. */
function selectNewWork(
  sql: Sql,
  { workspaceId, keyId, now }: WorkRequest,
  { isOurs, reach, after, held, most }: WorkSource<number | null> & { held: readonly number[] },
): Fragment {
  const all = opaqueWorkspaceId(sql, workspaceId)
  const eventsWhere = (isThere: Fragment) => sql`
    select subject_id, name, position
    from events
    where workspace_id = ${workspaceId}
      and ${isThere}
      and name = any (${workEvents}::text[])
      and test_endpoint_id is null`
  const sources = [
    ...(after === null ? [] : [eventsWhere(sql`position > ${after} and position <= ${reach}`)]),
    ...(held.length === 0 ? [] : [eventsWhere(sql`position = any (${[...held]}::bigint[])`)]),
  ]
  const [first = sql``, second] = sources
  // Another agent's, or one that was scheduled again since, is no work of this key.
  const isUnsent = sql`exists (
    select 1 from scheduled_messages m
    where m.workspace_id = ${all}
      and m.conversation_id = c.id
      and m.sender_id = ${keyId}
      and m.status in ('held', 'failed')
  )`
  return sql`
    select c.id, f.place, null::timestamptz as since,
      case
        when f.wrote then 'customer_wrote'
        when f.decided then 'draft_decided'
        when f.unsent and ${isUnsent} then 'scheduled_failed'
        when c.unanswered_since is not null then 'customer_wrote'
        else 'given_to_you'
      end as why,
      ${heldUntil(sql, all, now)} as held_until,
      f.place as event_place
    from (
      select coalesce(a.conversation_id, e.subject_id) as id, max(e.position) as place,
        bool_or(e.name = 'inbox.message.received') as wrote,
        bool_or(e.name = 'inbox.draft.decided') as decided,
        bool_or(e.name = 'inbox.scheduled_message.failed') as unsent
      from (
        ${first}
        ${second === undefined ? sql`` : sql`union all ${second}`}
        offset 0
      ) as e
      left join conversation_aliases a on a.workspace_id = ${all} and a.id = e.subject_id
      group by 1
    ) as f
    cross join lateral (
      select id, connection_id, owner_key_id, owner_since, ${currentColumns.unansweredSince(sql)} as unanswered_since,
        newest_inbound_id, seen_inbound_id, answered_inbound_id, thread_owner, window_expires_at
      from conversations c
      where workspace_id = ${all}
        and id = f.id
      offset 0
    ) as c
    where ${isOurs}
      and (
        f.wrote
        or f.decided
        or c.unanswered_since is not null
        or (f.unsent and ${isUnsent})
        or ${wasAssigned(sql, workspaceId, keyId)}
      )
      and ${isLast(sql, all, reach)}
    order by f.place
    limit ${most}`
}

/** Selects conversations whose customer is waiting, and silent handovers, longest waiting first. */
function selectWaitingWork(
  sql: Sql,
  { workspaceId, keyId, now }: WorkRequest,
  { isOurs, reach, after, most }: WorkSource<WaitingPosition | null>,
): Fragment {
  const all = opaqueWorkspaceId(sql, workspaceId)
  const columns = sql`
    c.id,
    c.connection_id,
    c.owner_key_id,
    c.owner_since,
    ${currentColumns.unansweredSince(sql)} as unanswered_since,
    ${currentColumns.lastMessageAt(sql)} as last_message_at,
    c.status,
    c.thread_owner,
    c.window_expires_at`
  const next = (time: Fragment) =>
    after === null ? sql`` : sql`and (${time}, c.id) > (${after.since}::timestamptz, ${after.id}::uuid)`
  const noEventLater = isLast(sql, all, reach)
  return sql`
    select c.id, null::bigint as place, c.since, c.why,
      case when c.event_place is not null then c.held_until end as held_until,
      c.event_place
    from (
      select c.id, c.unanswered_since as since, 'customer_wrote' as why, ${heldUntil(sql, all, now)} as held_until,
        ${recentPlace(sql, all, now)} as event_place
      from (
        (
          select c.id, c.unanswered_since, c.newest_inbound_id, c.seen_inbound_id, c.answered_inbound_id
          from conversations c
          where c.workspace_id = ${workspaceId}
            and c.unanswered_since is not null
            and ${isIdle(sql)}
            and c.status in ('open', 'pending')
            and ${isOurs}
            ${next(sql`c.unanswered_since`)}
            and ${noEventLater}
          order by c.unanswered_since, c.id
          limit ${most}
        )
        union all
        select c.id, c.now_unanswered_since, c.newest_inbound_id, c.seen_inbound_id, c.answered_inbound_id
        from ${touchedConversations(sql, all)}
        where m.workspace_id = ${workspaceId}
          and c.now_unanswered_since is not null
          and c.status in ('open', 'pending')
          and ${isOurs}
          ${next(sql`c.now_unanswered_since`)}
          and ${noEventLater}
      ) as c
      union all
      select c.id, c.owner_since, 'given_to_you', null, null
      from (
        (
          select ${columns}
          from conversations c
          where workspace_id = ${workspaceId}
            and owner_key_id = ${keyId}
            and ${isIdle(sql)}
          order by c.updated_at desc, c.id desc
          limit ${maxChecked}
        )
        union all
        select ${columns}
        from ${touchedConversations(sql, all)}
        where m.workspace_id = ${workspaceId}
      ) as c
      where c.unanswered_since is null
        and c.status in ('open', 'pending')
        and c.last_message_at < c.owner_since
        and ${isOurs}
        ${next(sql`c.owner_since`)}
        and ${wasAssigned(sql, workspaceId, keyId)}
        and ${noEventLater}
    ) as c
    order by since, id
    limit ${most}`
}

/** Condition: someone else assigned the conversation to the key, which may not know of it. */
const wasAssigned = (sql: Sql, workspaceId: string, keyId: string) => sql`
  exists (
    select 1 from conversation_activities a
    where a.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
      and a.conversation_id = c.id
      and a.created_at >= c.owner_since
      and a.kind = 'owner'
      and a.detail ->> 'to' = ${`agent:${keyId}`}
      and a.actor_id is distinct from ${keyId}::uuid
      and a.actor_type in ('user', 'token', 'agent')
  )`
