import type { Clock } from '../base/clock.ts'
import type { Db, Sql } from '../base/db.ts'

/** How long events are kept. */
export const keptMs = 30 * 24 * 3_600_000
const batch = 1000

/** The place in the feed of a workspace up to which a reader has come that must miss nothing. */
export type ReadTo = (sql: Sql, workspaceId: string) => Promise<number>

/**
 * Removes events older than 30 days in the order of their places, so that one number tells a reader whether it has
 * missed any. An event without a place stays until it has one, and one that was not read until it
 * was. Returns how many it removed.
 */
export async function removeOldEvents(db: Db, clock: Clock, readTo: ReadTo): Promise<number> {
  const before = new Date(clock.now().getTime() - keptMs)
  let removed = 0
  for (const workspaceId of await listFeedsWithOld(db.sql, before)) {
    let count: number
    do {
      count = await removeBatch(db, workspaceId, before, readTo)
      removed += count
    } while (count === batch)
  }
  return removed
}

async function listFeedsWithOld(sql: Sql, before: Date): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select f.workspace_id as id
    from event_feeds f
    cross join lateral (
      select occurred_at
      from events
      where workspace_id = f.workspace_id
        and position > f.removed_to
      order by position
      limit 1
    ) as oldest
    where oldest.occurred_at < ${before}`
  return rows.map((row) => row.id)
}

/** The oldest places up to the first event that is young enough, or not read. */
async function removeBatch(db: Db, workspaceId: string, before: Date, readTo: ReadTo): Promise<number> {
  return db.tx(async (tx) => {
    const [feed] = await tx<{ removedTo: number }[]>`
      select removed_to as "removedTo"
      from event_feeds
      where workspace_id = ${workspaceId}
      for update`
    if (feed === undefined) return 0
    const read = await readTo(tx, workspaceId)
    const oldest = await tx<{ position: number; isOld: boolean }[]>`
      select position, occurred_at < ${before} as "isOld"
      from events
      where workspace_id = ${workspaceId}
        and position > ${feed.removedTo}
      order by position
      limit ${batch}`
    const young = oldest.findIndex(({ position, isOld }) => !isOld || position > read)
    const last = (young === -1 ? oldest : oldest.slice(0, young)).at(-1)
    if (last === undefined) return 0
    const removed = await tx`
      delete from events
      where workspace_id = ${workspaceId}
        and position > ${feed.removedTo}
        and position <= ${last.position}`
    await tx`
      update event_feeds
      set removed_to = ${last.position}
      where workspace_id = ${workspaceId}`
    return removed.count
  })
}
