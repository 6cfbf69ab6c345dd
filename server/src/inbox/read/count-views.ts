import type { Sql } from '../../base/db.ts'

/** How many open conversations a view has, and in how many of them something is unread. */
export interface ViewCount {
  open: number
  unread: number
}

export interface ViewCounts {
  mine: ViewCount
  unassigned: ViewCount
  all: ViewCount
  agents: ViewCount
}

interface CountRow {
  mine: number
  mine_unread: number
  unassigned: number
  unassigned_unread: number
  all_open: number
  all_unread: number
  agents: number
  agents_unread: number
}

/** Counted as things stand, from the index of the open ones; nothing is assigned to a token (`userId` null). */
export async function countViews(sql: Sql, workspaceId: string, userId: string | null): Promise<ViewCounts> {
  const [row] = await sql<CountRow[]>`
    select
      count(*) filter (where assigned_to = ${userId}) as mine,
      count(*) filter (where assigned_to = ${userId} and unread_count > 0) as mine_unread,
      count(*) filter (where owner_key_id is null and assigned_to is null) as unassigned,
      count(*) filter (where owner_key_id is null and assigned_to is null and unread_count > 0) as unassigned_unread,
      count(*) as all_open,
      count(*) filter (where unread_count > 0) as all_unread,
      count(*) filter (where owner_key_id is not null) as agents,
      count(*) filter (where owner_key_id is not null and unread_count > 0) as agents_unread
    from conversations
    where workspace_id = ${workspaceId}
      and status = 'open'`
  return {
    mine: { open: row?.mine ?? 0, unread: row?.mine_unread ?? 0 },
    unassigned: { open: row?.unassigned ?? 0, unread: row?.unassigned_unread ?? 0 },
    all: { open: row?.all_open ?? 0, unread: row?.all_unread ?? 0 },
    agents: { open: row?.agents ?? 0, unread: row?.agents_unread ?? 0 },
  }
}
