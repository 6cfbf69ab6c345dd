import type { Sql } from '../base/db.ts'
import { listUnsequenced } from './sequence.ts'

export interface UnsequencedEvents {
  /** Counted up to 10,000. */
  count: number
  /** Null when none waits. */
  oldestAt: Date | null
}

const maxCount = 10_000

/** Events of all workspaces that have no place in their feed yet: the first of each of 1,000 workspaces is looked at. */
export async function readUnsequenced(sql: Sql): Promise<UnsequencedEvents> {
  const [workspaces, [row]] = await Promise.all([
    listUnsequenced(sql),
    sql<{ count: number }[]>`
      select count(*)
      from (
        select 1
        from events
        where position is null
        limit ${maxCount}
      ) as counted`,
  ])
  const [oldest] = workspaces.map(({ firstAt }) => firstAt).sort((a, b) => a.getTime() - b.getTime())
  return { count: row?.count ?? 0, oldestAt: oldest ?? null }
}
