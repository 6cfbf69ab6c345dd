import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import { type DueWatch, watchDue } from '../../base/news/due-watch.ts'

/** As long as most wait for the next message of a conversation that is under way. */
export const quietMs = 30_000
const batch = 500
/** Within the time that it takes to be quiet: so no news need tell that something was said. */
const askEveryMs = 15_000

/** Whether there is a conversation to be placed. */
export function watchQuiet({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(greatest(m.since, c.now_updated_at)) as at
      from moving_conversations m
      join conversations c
        on c.workspace_id = m.workspace_id
        and c.id = m.conversation_id`
    return row?.at ? new Date(row.at.getTime() + quietMs) : null
  }
  return watchDue({ db, clock }, { nextAt, askEveryMs })
}

/**
 * Places conversations in which nothing has been said for a moment: the indexes follow, once for all that was said. For a
 * timer; several nodes share the work. Returns how many.
 */
export async function placeQuiet({ db, clock }: { db: Db; clock: Clock }): Promise<number> {
  const before = new Date(clock.now().getTime() - quietMs)
  const workspaces = await db.sql<{ id: string }[]>`
    select distinct workspace_id as id
    from moving_conversations
    where since <= ${before}`
  let placed = 0
  for (const { id } of workspaces) {
    for (let count = batch; count === batch; placed += count) count = await db.tx((tx) => placeBatch(tx, id, before))
  }
  return placed
}

/** Those that somebody has locked are not quiet. */
async function placeBatch(tx: Tx, workspaceId: string, before: Date): Promise<number> {
  const quiet = await tx<{ id: string }[]>`
    select c.id
    from moving_conversations m
    join conversations c
      on c.workspace_id = m.workspace_id
      and c.id = m.conversation_id
    where m.workspace_id = ${workspaceId}
      and m.since <= ${before}
      and c.now_updated_at <= ${before}
    order by c.id
    limit ${batch}
    for update of c skip locked`
  if (quiet.length === 0) return 0
  const ids = quiet.map(({ id }) => id)
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
  return quiet.length
}
