import type { Sql } from '../../base/db.ts'
import { timestampArray } from '../../base/postgres/values.ts'
import type { Source } from '../lead/lead.ts'

export interface NewLeads {
  /** Index of the day, from 1. */
  day: number
  source: Source
  count: number
}

/** Counts live leads by day of creation and source. `starts` are the starts of consecutive days up to the present. */
export async function countNewLeads(sql: Sql, workspaceId: string, starts: readonly Date[]): Promise<NewLeads[]> {
  return sql<NewLeads[]>`
    select width_bucket(l.created_at, ${timestampArray(starts)}::timestamptz[]) as day,
      l.source,
      count(*)::integer as count
    from leads l
    where l.workspace_id = ${workspaceId}
      and l.deleted_at is null
      and l.created_at >= ${starts[0] ?? null}::timestamptz
    group by 1, 2`
}

/** Counts live leads by status, the most common first. */
export async function countByStatus(sql: Sql, workspaceId: string): Promise<{ status: string; count: number }[]> {
  return sql<{ status: string; count: number }[]>`
    select l.status, count(*)::integer as count
    from leads l
    where l.workspace_id = ${workspaceId}
      and l.deleted_at is null
    group by l.status
    order by count desc, l.status`
}
