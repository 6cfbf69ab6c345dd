import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import { type DueWatch, watchDue } from '../../base/news.ts'

/** As long as most wait for the next message of a conversation that is under way. */
export const quietMs = 30_000
const batch = 500
/** Within the time that it takes to be quiet: so no news need tell that something was said. */
const askEveryMs = 15_000

/** Whether there is a conversation to be placed. */
export function watchQuiet({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`select min(since) as at from moving_conversations`
    return row?.at ? new Date(row.at.getTime() + quietMs) : null
  }
  return watchDue({ db, clock }, { nextAt, askEveryMs })
}

/**
 * Places conversations in which nothing has been said for a moment: the indexes follow, once for all that was said. For a
 * timer; several nodes share the work. Returns at how many it looked.
 */
export async function placeQuiet({ db, clock }: { db: Db; clock: Clock }): Promise<number> {
  const before = new Date(clock.now().getTime() - quietMs)
  const workspaces = await db.sql<{ id: string }[]>`
    select distinct workspace_id as id
    from moving_conversations
    where since <= ${before}`
  let looked = 0
  for (const { id } of workspaces) {
    for (let count = batch; count === batch; looked += count) count = await db.tx((tx) => placeBatch(tx, id, before))
  }
  return looked
}

/**
 * Looks at conversations that have moved for long enough, and places those that are quiet; of those in which more was said, it
 * notes since when. What somebody has locked is not quiet. Returns at how many it looked.
 */
async function placeBatch(tx: Tx, workspaceId: string, before: Date): Promise<number> {
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
  if (quiet.length > 0) await place(tx, workspaceId, idsOf(quiet))
  if (talking.length > 0) await lookLater(tx, workspaceId, idsOf(talking))
  return moving.length
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

async function place(tx: Tx, workspaceId: string, ids: string[]): Promise<void> {
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

async function lookLater(tx: Tx, workspaceId: string, ids: string[]): Promise<void> {
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
