import type { Fragment, Sql } from '../../base/db.ts'

/** How many open conversations a view has, and in how many of them something is unread; `maxCounted` is that many or more. */
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

/** Nobody tells 50,000 from 51,000, and to count them would take longer than all else that the first page asks for. */
export const maxCounted = 500

type CountRow = Record<keyof ViewCounts | `${keyof ViewCounts}_unread`, number>

/** Counted as things stand, from the index of the open ones; nothing is assigned to a token (`userId` null). */
export async function countViews(sql: Sql, workspaceId: string, userId: string | null): Promise<ViewCounts> {
  const mine = sql`and ${ofAnyone(sql)} and assigned_to = ${userId}`
  const unassigned = sql`and (owner_key_id is null) = any ('{t}') and assigned_to is null`
  const agents = sql`and (owner_key_id is null) = any ('{f}')`
  const open = (view: Fragment) => countOf(sql, workspaceId, sql`and (unread_count > 0) = any ('{t,f}') ${view}`)
  const unread = (view: Fragment) => countOf(sql, workspaceId, sql`and (unread_count > 0) = any ('{t}') ${view}`)
  const [row] = await sql<CountRow[]>`
    select
      ${open(mine)} as mine,
      ${unread(mine)} as mine_unread,
      ${open(unassigned)} as unassigned,
      ${unread(unassigned)} as unassigned_unread,
      ${open(sql``)} as "all",
      ${unread(sql``)} as all_unread,
      ${open(agents)} as agents,
      ${unread(agents)} as agents_unread`
  const of = (view: keyof ViewCounts): ViewCount => ({ open: row?.[view] ?? 0, unread: row?.[`${view}_unread`] ?? 0 })
  return { mine: of('mine'), unassigned: of('unassigned'), all: of('all'), agents: of('agents') }
}

// A list of all values there are: so each condition is a place of the index rather than a look at what lies there.
const ofAnyone = (sql: Sql) => sql`(owner_key_id is null) = any ('{t,f}')`

function countOf(sql: Sql, workspaceId: string, which: Fragment) {
  return sql`(
    select count(*)::integer
    from (
      select
      from conversations
      where workspace_id = ${workspaceId}
        and status = 'open'
        ${which}
      limit ${maxCounted}
    ) as counted
  )`
}
