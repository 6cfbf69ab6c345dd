import type { Sql } from '../base/db.ts'

export interface UnsequencedEvents {
  /** Counted up to 10,000. */
  count: number
  /** Null when none waits. */
  oldestAt: Date | null
}

const maxCount = 10_000

/** Events of all workspaces that have no place in their feed yet: the first of each of 1,000 workspaces is looked at. */
export async function readUnsequenced(sql: Sql): Promise<UnsequencedEvents> {
  const [row] = await sql<UnsequencedEvents[]>`
    with recursive first (workspace_id, occurred_at) as (
      (
        select workspace_id, occurred_at
        from events
        where position is null
        order by workspace_id, seq
        limit 1
      )
      union all
      select e.workspace_id, e.occurred_at
      from first f
      cross join lateral (
        select workspace_id, occurred_at
        from events
        where position is null
          and workspace_id > f.workspace_id
        order by workspace_id, seq
        limit 1
      ) as e
    )
    select
      (
        select count(*)
        from (
          select 1
          from events
          where position is null
          limit ${maxCount}
        ) as counted
      ) as count,
      (
        select min(occurred_at)
        from (
          select occurred_at
          from first
          limit 1000
        ) as looked_at
      ) as "oldestAt"`
  return row ?? { count: 0, oldestAt: null }
}
