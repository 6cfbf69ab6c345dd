import type { Clock } from '../base/clock.ts'
import type { Db, Sql } from '../base/db.ts'
import { dropPartition, isFarAhead, listPeriods, restOf } from '../base/partitions.ts'

/** How long events are kept. */
export const retentionMs = 30 * 24 * 3_600_000
const batchSize = 1000
/** A period that is over is usually dropped within the hour. What others wait for, or keep, is not to stay for long beside it. */
const graceMs = 24 * 3_600_000

export const eventPartitions = { table: 'events', column: 'id' } as const
const restPartition = restOf(eventPartitions.table)

/** The place in the feed of a workspace up to which a reader has come that must miss nothing. */
export type ReadPosition = (sql: Sql, workspaceId: string) => Promise<number>

/**
 * Ends events older than 30 days in the order of their places, so that one number tells a reader whether it has
 * missed any. An event without a place stays until it has one, and one that was not read until it
 * was. Those of a period leave with it, when all of it has ended; others are deleted. Returns how many were deleted, and how
 * many periods were dropped.
 */
export async function removeOldEvents(db: Db, clock: Clock, readTo: ReadPosition): Promise<number> {
  const now = clock.now()
  const before = new Date(now.getTime() - retentionMs)
  let removed = 0
  for (const workspaceId of await listFeedsWithOld(db.sql, before)) {
    for (let hasMore = true; hasMore; ) {
      const ended = await endBatch(db, workspaceId, before, readTo)
      removed += ended.deleted
      hasMore = ended.count === batchSize
    }
  }
  return removed + (await removePeriods(db, now, before))
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

/** The oldest places up to the first event that is young enough, or not read. Readers see none of them from then on. */
async function endBatch(
  db: Db,
  workspaceId: string,
  before: Date,
  readTo: ReadPosition,
): Promise<{ count: number; deleted: number }> {
  return db.tx(async (tx) => {
    const [feed] = await tx<{ removedTo: number }[]>`
      select removed_to as "removedTo"
      from event_feeds
      where workspace_id = ${workspaceId}
      for update`
    if (feed === undefined) return { count: 0, deleted: 0 }
    const read = await readTo(tx, workspaceId)
    const oldest = await tx<{ position: number; isOld: boolean }[]>`
      select position, occurred_at < ${before} as "isOld"
      from events
      where workspace_id = ${workspaceId}
        and position > ${feed.removedTo}
      order by position
      limit ${batchSize}`
    const young = oldest.findIndex(({ position, isOld }) => !isOld || position > read)
    const ended = young === -1 ? oldest : oldest.slice(0, young)
    const last = ended.at(-1)
    if (last === undefined) return { count: 0, deleted: 0 }
    const removed = await tx`
      delete from ${tx(restPartition)}
      where workspace_id = ${workspaceId}
        and position > ${feed.removedTo}
        and position <= ${last.position}`
    await tx`
      update event_feeds
      set removed_to = ${last.position}
      where workspace_id = ${workspaceId}`
    return { count: ended.length, deleted: removed.count }
  })
}

/** Drops the periods in which nothing is left that anybody reads. Of those that have to wait, what has ended is deleted. */
async function removePeriods(db: Db, now: Date, before: Date): Promise<number> {
  let removed = 0
  for (const period of await listPeriods(db.sql, eventPartitions.table)) {
    const { name, to } = period
    if (to <= before) {
      const came = await dropPartition(db, eventPartitions.table, name, (sql) => hasEnded(sql, name))
      if (came === 'gone') removed++
      else if (came === 'held' && to.getTime() < before.getTime() - graceMs) removed += await deleteEnded(db, name)
    } else if (isFarAhead(period, now)) {
      await dropPartition(db, eventPartitions.table, name, (sql) => isEmpty(sql, name))
    }
  }
  return removed
}

/**
 * Whether readers see none of a period's events any more. One look at each feed, however many events there are. Where rows are spread
 * each server is asked, and what it finds must have a column.
 */
async function hasEnded(sql: Sql, period: string): Promise<boolean> {
  const [row] = await sql<{ hasEnded: boolean }[]>`
    select not exists (
      select 1
      from ${sql(period)}
      where position is null
      limit 1
    ) and not exists (
      select 1
      from event_feeds f
      cross join lateral (
        select 1
        from ${sql(period)}
        where workspace_id = f.workspace_id
          and position > f.removed_to
        limit 1
      ) as kept
      limit 1
    ) as "hasEnded"`
  return row?.hasEnded ?? false
}

async function isEmpty(sql: Sql, period: string): Promise<boolean> {
  const [row] = await sql<{ isEmpty: boolean }[]>`
    select not exists (select 1 from ${sql(period)} limit 1) as "isEmpty"`
  return row?.isEmpty ?? false
}

async function deleteEnded(db: Db, period: string): Promise<number> {
  for (let removed = 0; ; ) {
    const { count } = await db.statement(
      (tx) => tx`
        delete from ${tx(period)} e
        using (
          select ended.workspace_id, ended.id
          from event_feeds f
          cross join lateral (
            select workspace_id, id
            from ${tx(period)}
            where workspace_id = f.workspace_id
              and position <= f.removed_to
            order by position
            limit ${batchSize}
          ) as ended
          limit ${batchSize}
        ) as ended
        where e.workspace_id = ended.workspace_id
          and e.id = ended.id`,
    )
    removed += count
    if (count < batchSize) return removed
  }
}
