import { publish, type Sql, type Tx } from '../base/db.ts'
import { publishErasure } from '../base/encryption/key-store.ts'
import type { RemovedCounts } from '../base/erasure.ts'

/** Called with the feed positions of erased events, in their transaction; returns what else it removed. */
export type OnEventsErased = (tx: Tx, workspaceId: string, positions: readonly number[]) => Promise<RemovedCounts>

/** Published after events are erased, with the id of the lead or conversation, so that processes drop cached copies. */
export const erasedTopic = 'events_erased'

const batchSize = 1000

/** Erases the next batch of events of the subjects, optionally only those with ids from `from` to below `below`. Gaps in the feed are allowed. */
export async function eraseEvents(
  tx: Tx,
  workspaceId: string,
  subjectIds: readonly string[],
  eventsErased: OnEventsErased,
  span?: { from: string; below: string },
): Promise<{ removed: RemovedCounts; hasMore: boolean }> {
  const erased = await tx<{ position: number | null }[]>`
    delete from events
    where workspace_id = ${workspaceId}
      and id = any (array(
        select id
        from events
        where workspace_id = ${workspaceId}
          and subject_id = any (${[...subjectIds]}::uuid[])
          ${span === undefined ? tx`` : tx`and id >= ${span.from} and id < ${span.below}`}
        limit ${batchSize}
      ))
    returning position`
  for (const id of subjectIds) publish(tx, erasedTopic, id)
  publishErasure(tx, workspaceId)
  const places = erased.flatMap(({ position }) => position ?? [])
  const more = places.length === 0 ? {} : await eventsErased(tx, workspaceId, places)
  return { removed: { ...more, events: erased.length }, hasMore: erased.length === batchSize }
}

export async function countEvents(sql: Sql, workspaceId: string, subjectIds: readonly string[]): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    from events
    where workspace_id = ${workspaceId}
      and subject_id = any (${[...subjectIds]}::uuid[])`
  return row?.count ?? 0
}
