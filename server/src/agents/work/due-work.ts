import { decodeCursor, encodeCursor } from '../../base/cursor.ts'
import type { Fragment, Sql } from '../../base/db.ts'
import { isUuid } from '../../base/id.ts'
import { currentColumns, isIdle, touchedConversations } from '../../inbox/conversation/activity-columns.ts'
import { opaqueWorkspaceId } from '../../inbox/conversation/queries.ts'

/** Events that create work for the owner of the conversation. */
export const workEvents = ['inbox.message.received', 'inbox.conversation.owner_changed'] as const

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
 * Returns the source `w` of the next conversations to report, and one more: `id`, `why`, and the feed position or time
 * that orders them. The whole statement sees one snapshot, so that the work and the new cursor agree. Skips a
 * conversation with a later event; a read from the new cursor reports it.
 */
export function selectDueWork(sql: Sql, { workspaceId, keyId, from, limit }: WorkRequest): Fragment {
  const all = opaqueWorkspaceId(sql, workspaceId)
  // A subquery rather than a join: with a join, PostgreSQL sorts rows that the index has in order.
  const seen = sql`(select connection_ids from s)`
  const isOurs = sql`
    c.owner_key_id = ${keyId}
      and (cardinality(${seen}) = 0 or c.connection_id = any (${seen}::uuid[]))
      and (select may_work from s)`
  const isLast = (upTo: Fragment) => sql`
    not exists (
      select from events later
      where later.workspace_id = ${all}
        and later.subject_id = c.id
        and (later.position is null or later.position > ${upTo})
        and later.name = any (${workEvents}::text[])
        and later.test_endpoint_id is null
    )`
  if (from === null || from.waiting !== null) {
    const reported = from === null ? sql`(select last from s)` : sql`${from.position}::bigint`
    return selectWaitingWork(sql, workspaceId, {
      keyId,
      after: from?.waiting ?? null,
      limit,
      isOurs,
      isLast: isLast(reported),
    })
  }
  return sql`
    select c.id, f.place, null::timestamptz as since,
      case when f.wrote or c.unanswered_since is not null then 'customer_wrote' else 'given_to_you' end as why
    from (
      select coalesce(a.conversation_id, e.subject_id) as id, max(e.position) as place,
        bool_or(e.name = 'inbox.message.received') as wrote
      from (
        select subject_id, name, position
        from events
        where workspace_id = ${workspaceId}
          and position > ${from.position}
          and position <= (select reach from s)
          and name = any (${workEvents}::text[])
          and test_endpoint_id is null
        offset 0
      ) as e
      left join conversation_aliases a on a.workspace_id = ${all} and a.id = e.subject_id
      group by 1
    ) as f
    cross join lateral (
      select id, connection_id, owner_key_id, owner_since, ${currentColumns.unansweredSince(sql)} as unanswered_since
      from conversations c
      where workspace_id = ${all}
        and id = f.id
      offset 0
    ) as c
    where ${isOurs}
      and (f.wrote or c.unanswered_since is not null or ${wasAssigned(sql, workspaceId, keyId)})
      and ${isLast(sql`(select reach from s)`)}
    order by f.place
    limit ${limit + 1}`
}

interface WaitingRequest {
  keyId: string
  after: WaitingPosition | null
  limit: number
  isOurs: Fragment
  isLast: Fragment
}

/** Selects conversations whose customer is waiting, and silent handovers, longest waiting first. */
function selectWaitingWork(
  sql: Sql,
  workspaceId: string,
  { keyId, after, limit, isOurs, isLast }: WaitingRequest,
): Fragment {
  const all = opaqueWorkspaceId(sql, workspaceId)
  const columns = sql`
    c.id,
    c.connection_id,
    c.owner_key_id,
    c.owner_since,
    ${currentColumns.unansweredSince(sql)} as unanswered_since,
    ${currentColumns.lastMessageAt(sql)} as last_message_at,
    c.status`
  const next = (time: Fragment) =>
    after === null ? sql`` : sql`and (${time}, c.id) > (${after.since}::timestamptz, ${after.id}::uuid)`
  return sql`
    (
      select c.id, null::bigint as place, c.unanswered_since as since, 'customer_wrote' as why
      from conversations c
      where c.workspace_id = ${workspaceId}
        and c.unanswered_since is not null
        and ${isIdle(sql)}
        and c.status in ('open', 'pending')
        and ${isOurs}
        ${next(sql`c.unanswered_since`)}
        and ${isLast}
      order by c.unanswered_since, c.id
      limit ${limit + 1}
    )
    union all
    select c.id, null, c.now_unanswered_since, 'customer_wrote'
    from ${touchedConversations(sql, all)}
    where m.workspace_id = ${workspaceId}
      and c.now_unanswered_since is not null
      and c.status in ('open', 'pending')
      and ${isOurs}
      ${next(sql`c.now_unanswered_since`)}
      and ${isLast}
    union all
    select c.id, null, c.owner_since, 'given_to_you'
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
      and ${isLast}
    order by since, id
    limit ${limit + 1}`
}

/** Condition: someone else assigned the conversation to the key, which may not know of it. */
const wasAssigned = (sql: Sql, workspaceId: string, keyId: string) => sql`
  exists (
    select from conversation_activities a
    where a.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
      and a.conversation_id = c.id
      and a.created_at >= c.owner_since
      and a.kind = 'owner'
      and a.detail ->> 'to' = ${`agent:${keyId}`}
      and a.actor_id is distinct from ${keyId}::uuid
      and a.actor_type in ('user', 'token', 'agent')
  )`

/** How much of its work a key has received. */
export interface WorkCursor {
  /** Feed position up to which all work was reported, except what `waiting` leaves. */
  position: number
  /** Last reported item while work that was pending at the first call is reported, longest waiting first; then null. */
  waiting: WaitingPosition | null
}

interface WaitingPosition {
  since: Date
  id: string
}

const kind = 'work'

export function writeWorkCursor(keyId: string, { position, waiting }: WorkCursor): string {
  const rest = waiting === null ? [] : [waiting.since.getTime(), waiting.id]
  return encodeCursor([kind, keyId, position, ...rest])
}

/** Returns null if the text is not a cursor of this key. */
export function parseWorkCursor(keyId: string, text: string): WorkCursor | null {
  const [of, owner, position, since, id, ...more] = decodeCursor(text) ?? []
  if (of !== kind || owner !== keyId || !isWhole(position) || more.length > 0) return null
  if (since === undefined) return { position, waiting: null }
  if (!isWhole(since) || since > latestTime || typeof id !== 'string' || !isUuid(id)) return null
  return { position, waiting: { since: new Date(since), id } }
}

// Latest time that both PostgreSQL and Date can represent: end of the year 9999.
const latestTime = 253_402_300_799_999
const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
