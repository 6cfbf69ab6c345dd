import type { Clock } from '../../base/clock.ts'
import type { Db, Fragment, Sql, Tx } from '../../base/db.ts'
import type { Parameter } from '../../base/postgres/values.ts'
import { type DueWatch, watchDue } from '../../base/pubsub.ts'

// While something is said in a conversation it moves: what changes with each message stands in columns that no index has
// (`now_…`), and those that lists are ordered by stand still. So each of these has two readings (decision 038).

/** SQL: what a message changes of `conversations c`. */
export interface ColumnSource {
  unreadCount: (sql: Sql) => Fragment
  lastMessageAt: (sql: Sql) => Fragment
  unansweredSince: (sql: Sql) => Fragment
  updatedAt: (sql: Sql) => Fragment
}

/** As things are. Right for every conversation, and in no index. */
export const currentColumns: ColumnSource = {
  unreadCount: (sql) => sql`case when c.is_moving then c.now_unread_count else c.unread_count end`,
  lastMessageAt: (sql) => sql`case when c.is_moving then c.now_last_message_at else c.last_message_at end`,
  unansweredSince: (sql) => sql`case when c.is_moving then c.now_unanswered_since else c.unanswered_since end`,
  updatedAt: (sql) => sql`case when c.is_moving then c.now_updated_at else c.updated_at end`,
}

/** As the indexes have it: right for conversations that do not move. */
export const indexedColumns: ColumnSource = {
  unreadCount: (sql) => sql`c.unread_count`,
  lastMessageAt: (sql) => sql`c.last_message_at`,
  unansweredSince: (sql) => sql`c.unanswered_since`,
  updatedAt: (sql) => sql`c.updated_at`,
}

/**
 * SQL: whether `indexedColumns` is right for `conversations c`. In words of which the planner knows nothing, so that it expects half: by what a look at
 * the table has met in a storm, when all moved, it would expect none, and read and sort all of a workspace for each page.
 */
export const isIdle = (sql: Sql): Fragment => sql`case when c.is_moving then false else true end`

/** SQL: the ids of those that move. */
export const touchedIds = (sql: Sql, workspaceId: string | Fragment): Fragment => sql`
  select m.conversation_id
  from moving_conversations m
  where m.workspace_id = ${workspaceId}`

/** SQL, to select from: those that move, as `c`. Each is looked up by its key, whatever the planner knows of either table. */
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

/** SQL: has conversations move from now on, unless they do, in the statement that writes what they are now. Under their locks. */
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

/** Deletes the row of a conversation whose parts are gone, or another's. */
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

/** SQL, for an update of `conversations c` that is no message: it changed now, wherever it stands. */
export const setUpdatedNow = (sql: Sql, now: Date): Fragment => sql`
  updated_at = greatest(c.updated_at, ${now}),
  now_updated_at = case when c.is_moving then greatest(c.now_updated_at, ${now}) end`

/** As long as most wait for the next message of a conversation that is under way. */
export const idleMs = 30_000
const batch = 500
/** Within the time that it takes to be quiet: so no news need tell that something was said. */
const pollEveryMs = 15_000

/** Whether there is a conversation to be placed. */
export function watchIdle({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`select min(since) as at from moving_conversations`
    return row?.at ? new Date(row.at.getTime() + idleMs) : null
  }
  return watchDue({ db, clock }, { nextAt, pollEveryMs })
}

/**
 * Places conversations in which nothing has been said for a moment: the indexes follow, once for all that was said. For a
 * timer; several nodes share the work. Returns at how many it looked.
 */
export async function reindexIdle({ db, clock }: { db: Db; clock: Clock }): Promise<number> {
  const before = new Date(clock.now().getTime() - idleMs)
  const workspaces = await db.sql<{ id: string }[]>`
    select distinct workspace_id as id
    from moving_conversations
    where since <= ${before}`
  let looked = 0
  for (const { id } of workspaces) {
    for (let count = batch; count === batch; looked += count) count = await db.tx((tx) => reindexBatch(tx, id, before))
  }
  return looked
}

/**
 * Looks at conversations that have moved for long enough, and places those that are quiet; of those in which more was said, it
 * notes since when. What somebody has locked is not quiet. Returns at how many it looked.
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
    limit ${batch}
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
      now_unread_count = null,
      now_last_message_at = null,
      now_unanswered_since = null,
      now_updated_at = null
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
