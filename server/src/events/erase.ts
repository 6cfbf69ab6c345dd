import { publish, type Sql, type Tx } from '../base/db.ts'
import { forgetErased } from '../base/encryption/key-store.ts'
import type { Removed } from '../base/erasure.ts'

/** Told of the places of events that go, in their transaction; returns what else went with them. */
export type OnEventsErased = (tx: Tx, workspaceId: string, positions: readonly number[]) => Promise<Removed>

/** Events of a lead or conversation are erased: the id is the lead's or conversation's. What is in memory goes too. */
export const erasedTopic = 'events_erased'

const batchSize = 1000

/** Ids of events, the first and that behind the last. */
export interface EventIdRange {
  from: string
  below: string
}

/** Erases the next events of these leads or conversations, all or those in a span. The gaps in the places mean nothing, as those of a purge. */
export async function eraseEvents(
  tx: Tx,
  workspaceId: string,
  subjectIds: readonly string[],
  eventsErased: OnEventsErased,
  span?: EventIdRange,
): Promise<{ removed: Removed; hasMore: boolean }> {
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
  forgetErased(tx, workspaceId)
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
