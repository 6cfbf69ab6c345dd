import type { Clock } from '../base/clock.ts'
import type { Db, Sql } from '../base/db.ts'
import { defaultPartitionName, dropPartition, isFarAhead, listPeriods } from '../base/partitions.ts'

/** Milliseconds that events are kept. */
export const retentionMs = 30 * 24 * 3_600_000
const batchSize = 1000
/** Time after which a partition that cannot be dropped, because it is locked or in use, is emptied by deletes. */
const graceMs = 24 * 3_600_000

export const eventPartitions = { table: 'events', column: 'id' } as const
const restPartition = defaultPartitionName(eventPartitions.table)

/** Returns the feed position up to which a reader that must not miss events has read. */
export type ReadPosition = (sql: Sql, workspaceId: string) => Promise<number>

/**
 * Removes events older than 30 days in feed order, so that one position tells readers whether they missed any. Keeps
 * events without a position, and those that were not read yet. Drops a partition when all its events have ended;
 * deletes other rows. Returns the number of deleted events plus dropped partitions.
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

/** Ends the oldest events up to the first one that is too new or unread. Readers no longer see ended events. */
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
    const firstKept = oldest.findIndex(({ position, isOld }) => !isOld || position > read)
    const ended = firstKept === -1 ? oldest : oldest.slice(0, firstKept)
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

/** Drops partitions without live events. Deletes ended events from partitions that cannot be dropped in time. */
async function removePeriods(db: Db, now: Date, before: Date): Promise<number> {
  let removed = 0
  for (const period of await listPeriods(db.sql, eventPartitions.table)) {
    const { name, to } = period
    if (to <= before) {
      const outcome = await dropPartition(db, eventPartitions.table, name, (sql) => hasEnded(sql, name))
      if (outcome === 'gone') removed++
      else if (outcome === 'held' && to.getTime() < before.getTime() - graceMs) removed += await deleteEnded(db, name)
    } else if (isFarAhead(period, now)) {
      await dropPartition(db, eventPartitions.table, name, (sql) => isEmpty(sql, name))
    }
  }
  return removed
}

/**
 * Returns whether readers see no events of a partition any more. Probes each feed once, regardless of the number of
 * events. Under Citus, the subqueries run on each node and need a column.
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
