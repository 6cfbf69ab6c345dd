import type { Clock } from '../../base/clock.ts'
import type { Db, Fragment, Sql, Tx } from '../../base/db.ts'
import type { Parameter } from '../../base/postgres/values.ts'
import { type DueWatch, watchDueWork } from '../../base/pubsub.ts'

// A conversation with recent messages is *touched*: fields that change with each message are written to columns without
// an index (`now_…`), and the indexed columns stay unchanged. So each of these fields has two sources (decision 038).

/** SQL expressions of the fields of `conversations c` that a message changes. */
export interface ColumnSource {
  unreadCount: (sql: Sql) => Fragment
  lastMessageAt: (sql: Sql) => Fragment
  unansweredSince: (sql: Sql) => Fragment
  updatedAt: (sql: Sql) => Fragment
  goalDueAt: (sql: Sql) => Fragment
}

/** Current values. Correct for every conversation, but not indexed. */
export const currentColumns: ColumnSource = {
  unreadCount: (sql) => sql`case when c.is_moving then c.now_unread_count else c.unread_count end`,
  lastMessageAt: (sql) => sql`case when c.is_moving then c.now_last_message_at else c.last_message_at end`,
  unansweredSince: (sql) => sql`case when c.is_moving then c.now_unanswered_since else c.unanswered_since end`,
  updatedAt: (sql) => sql`case when c.is_moving then c.now_updated_at else c.updated_at end`,
  goalDueAt: (sql) => sql`case when c.is_moving then c.now_goal_due_at else c.goal_due_at end`,
}

/** Indexed values. Correct only for idle conversations. */
export const indexedColumns: ColumnSource = {
  unreadCount: (sql) => sql`c.unread_count`,
  lastMessageAt: (sql) => sql`c.last_message_at`,
  unansweredSince: (sql) => sql`c.unanswered_since`,
  updatedAt: (sql) => sql`c.updated_at`,
  goalDueAt: (sql) => sql`c.goal_due_at`,
}

/**
 * SQL: whether `indexedColumns` is correct for `conversations c`. An expression without statistics, for which the
 * planner expects half of the rows: statistics collected during a storm, when all conversations were touched, would
 * make it expect none and sort a whole workspace for each page.
 */
export const isIdle = (sql: Sql): Fragment => sql`case when c.is_moving then false else true end`

export const touchedIds = (sql: Sql, workspaceId: string | Fragment): Fragment => sql`
  select m.conversation_id
  from moving_conversations m
  where m.workspace_id = ${workspaceId}`

/** SQL for `from`: touched conversations as `c`, each looked up by key regardless of planner statistics. */
export const touchedConversations = (sql: Sql, workspaceId: string | Fragment): Fragment => sql`
  moving_conversations m
  cross join lateral (
    select *
    from conversations
    where workspace_id = ${workspaceId}
      and id = m.conversation_id
      and is_moving
    offset 0
  ) as c`

/** SQL: marks conversations as touched, in the statement that writes their current values. Requires their locks. */
export const touchConversations = (
  tx: Tx,
  workspaceId: string,
  ids: readonly string[],
  times: Parameter,
): Fragment => tx`
  insert into moving_conversations (workspace_id, conversation_id, since)
  select ${workspaceId}::uuid, n.id, n.since
  from unnest(${[...ids]}::uuid[], ${times}::timestamptz[]) as n (id, since)
  on conflict do nothing`

/** Deletes the row of a conversation whose related rows were deleted or moved. */
export async function deleteConversation(tx: Tx, workspaceId: string, id: string): Promise<void> {
  await tx`
    with moved as (
      delete from moving_conversations
      where workspace_id = ${workspaceId}
        and conversation_id = ${id}
    )
    delete from conversations
    where workspace_id = ${workspaceId}
      and id = ${id}`
}

/** SQL for an update of `conversations c` that is not a message: sets the update time to now, in both sources. */
export const setUpdatedNow = (sql: Sql, now: Date): Fragment => sql`
  updated_at = greatest(c.updated_at, ${now}),
  now_updated_at = case when c.is_moving then greatest(c.now_updated_at, ${now}) end`

/** Time without messages after which a conversation is idle; most replies come sooner. */
export const idleMs = 30_000
const batchSize = 500
/** Shorter than `idleMs`, so that no pub/sub message is needed. */
const pollEveryMs = 15_000

export function watchIdle({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`select min(since) as at from moving_conversations`
    return row?.at ? new Date(row.at.getTime() + idleMs) : null
  }
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs })
}

/**
 * Reindexes conversations without recent messages: the indexes are updated once for all messages. Called by a timer;
 * several nodes share the work. Returns the number of conversations checked.
 */
export async function reindexIdle({ db, clock }: { db: Db; clock: Clock }): Promise<number> {
  const before = new Date(clock.now().getTime() - idleMs)
  const workspaces = await db.sql<{ id: string }[]>`
    select distinct workspace_id as id
    from moving_conversations
    where since <= ${before}`
  let checkedCount = 0
  for (const { id } of workspaces) {
    for (let count = batchSize; count === batchSize; checkedCount += count)
      count = await db.tx((tx) => reindexBatch(tx, id, before))
  }
  return checkedCount
}

/**
 * Reindexes those touched conversations that are idle and postpones the others. Skips locked ones, which are not idle.
 * Returns the number of conversations checked.
 */
async function reindexBatch(tx: Tx, workspaceId: string, before: Date): Promise<number> {
  const moving = await tx<{ id: string; isQuiet: boolean }[]>`
    select c.id, c.now_updated_at <= ${before} as "isQuiet"
    from moving_conversations m
    join conversations c
      on c.workspace_id = m.workspace_id
      and c.id = m.conversation_id
    where m.workspace_id = ${workspaceId}
      and m.since <= ${before}
    order by c.id
    limit ${batchSize}
    for update of c skip locked`
  const { quiet = [], talking = [] } = Object.groupBy(moving, ({ isQuiet }) => (isQuiet ? 'quiet' : 'talking'))
  if (quiet.length > 0) await reindex(tx, workspaceId, idsOf(quiet))
  if (talking.length > 0) await postpone(tx, workspaceId, idsOf(talking))
  return moving.length
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

async function reindex(tx: Tx, workspaceId: string, ids: string[]): Promise<void> {
  await tx`
    with placed as (
      delete from moving_conversations
      where workspace_id = ${workspaceId}
        and conversation_id = any (${ids}::uuid[])
    )
    update conversations
    set is_moving = false,
      unread_count = now_unread_count,
      last_message_at = now_last_message_at,
      unanswered_since = now_unanswered_since,
      updated_at = now_updated_at,
      goal_due_at = now_goal_due_at,
      now_unread_count = null,
      now_last_message_at = null,
      now_unanswered_since = null,
      now_updated_at = null,
      now_goal_due_at = null
    where workspace_id = ${workspaceId}
      and id = any (${ids}::uuid[])
      and is_moving`
}

async function postpone(tx: Tx, workspaceId: string, ids: string[]): Promise<void> {
  await tx`
    update moving_conversations m
    set since = c.now_updated_at
    from conversations c
    where m.workspace_id = ${workspaceId}
      and m.conversation_id = any (${ids}::uuid[])
      and c.workspace_id = ${workspaceId}
      and c.id = m.conversation_id
      and c.is_moving`
}
