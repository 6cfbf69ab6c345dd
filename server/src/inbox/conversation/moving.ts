import type { Fragment, Sql, Tx } from '../../base/db.ts'
import type { Parameter } from '../../base/postgres/values.ts'

// While something is said in a conversation it moves: what changes with each message stands in columns that no index has
// (`now_…`), and those that lists are ordered by stand still. So each of these has two readings (decision 038).

/** SQL: what a message changes of `conversations c`. */
export interface Reading {
  unreadCount: (sql: Sql) => Fragment
  lastMessageAt: (sql: Sql) => Fragment
  unansweredSince: (sql: Sql) => Fragment
  updatedAt: (sql: Sql) => Fragment
}

/** As things are. Right for every conversation, and in no index. */
export const asItIs: Reading = {
  unreadCount: (sql) => sql`case when c.is_moving then c.now_unread_count else c.unread_count end`,
  lastMessageAt: (sql) => sql`case when c.is_moving then c.now_last_message_at else c.last_message_at end`,
  unansweredSince: (sql) => sql`case when c.is_moving then c.now_unanswered_since else c.unanswered_since end`,
  updatedAt: (sql) => sql`case when c.is_moving then c.now_updated_at else c.updated_at end`,
}

/** As the indexes have it: right for conversations that do not move. */
export const asPlaced: Reading = {
  unreadCount: (sql) => sql`c.unread_count`,
  lastMessageAt: (sql) => sql`c.last_message_at`,
  unansweredSince: (sql) => sql`c.unanswered_since`,
  updatedAt: (sql) => sql`c.updated_at`,
}

/**
 * SQL: whether `asPlaced` is right for `conversations c`. In words of which the planner knows nothing, so that it expects half: by what a look at
 * the table has met in a storm, when all moved, it would expect none, and read and sort all of a workspace for each page.
 */
export const standsStill = (sql: Sql): Fragment => sql`case when c.is_moving then false else true end`

/** SQL: the ids of those that move. */
export const movingIds = (sql: Sql, workspaceId: string | Fragment): Fragment => sql`
  select m.conversation_id
  from moving_conversations m
  where m.workspace_id = ${workspaceId}`

/** SQL, to select from: those that move, as `c`. Each is looked up by its key, whatever the planner knows of either table. */
export const movingConversations = (sql: Sql, workspaceId: string | Fragment): Fragment => sql`
  moving_conversations m
  cross join lateral (
    select *
    from conversations
    where workspace_id = ${workspaceId}
      and id = m.conversation_id
      and is_moving
    offset 0
  ) as c`

/** SQL: has conversations move from now on, unless they do, in the statement that writes what they are now. Under their locks. */
export const move = (tx: Tx, workspaceId: string, ids: readonly string[], times: Parameter): Fragment => tx`
  insert into moving_conversations (workspace_id, conversation_id, since)
  select ${workspaceId}::uuid, n.id, n.since
  from unnest(${[...ids]}::uuid[], ${times}::timestamptz[]) as n (id, since)
  on conflict do nothing`

/** SQL, for an update of `conversations c` that is no message: it changed now, wherever it stands. */
export const touchedNow = (sql: Sql, now: Date): Fragment => sql`
  updated_at = greatest(c.updated_at, ${now}),
  now_updated_at = case when c.is_moving then greatest(c.now_updated_at, ${now}) end`
