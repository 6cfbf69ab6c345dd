import type { Fragment, Sql } from '../../base/db.ts'
import { isIdle, touchedConversations } from '../conversation/activity-columns.ts'

/** Number of open conversations of a view and of those with unread messages, capped at `maxCounted`. */
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

/** Exact larger counts are of no use, and counting them would take longer than the rest of the first page. */
export const maxCounted = 500

type CountRow = Record<keyof ViewCounts | `${keyof ViewCounts}_unread`, number>

/** Counts by the index of open conversations, corrected for touched ones. A token (null `userId`) has none assigned. */
export async function countViews(sql: Sql, workspaceId: string, userId: string | null): Promise<ViewCounts> {
  const mine = sql`and ${anyOwner(sql)} and c.assigned_to = ${userId}`
  const unassigned = sql`and (c.owner_key_id is null) = any ('{t}') and c.assigned_to is null`
  const agents = sql`and (c.owner_key_id is null) = any ('{f}')`
  const open = (view: Fragment) => countOf(sql, workspaceId, sql`and (c.unread_count > 0) = any ('{t,f}') ${view}`)
  const unread = (view: Fragment) => countUnread(sql, workspaceId, view)
  const [row] = await sql<CountRow[]>`
    with moving as materialized (
      select c.assigned_to, c.owner_key_id, (c.now_unread_count > 0)::integer - (c.unread_count > 0)::integer as more
      from ${touchedConversations(sql, workspaceId)}
      where m.workspace_id = ${workspaceId}
        and c.status = 'open'
    )
    select
      ${open(mine)} as mine,
      ${unread(mine)} as mine_unread,
      ${open(unassigned)} as unassigned,
      ${unread(unassigned)} as unassigned_unread,
      ${open(sql``)} as "all",
      ${unread(sql``)} as all_unread,
      ${open(agents)} as agents,
      ${unread(agents)} as agents_unread`
  const countsOf = (view: keyof ViewCounts): ViewCount => ({
    open: row?.[view] ?? 0,
    unread: row?.[`${view}_unread`] ?? 0,
  })
  return {
    mine: countsOf('mine'),
    unassigned: countsOf('unassigned'),
    all: countsOf('all'),
    agents: countsOf('agents'),
  }
}

// Lists all possible values, so that each condition is an index condition and not a filter.
const anyOwner = (sql: Sql) => sql`(c.owner_key_id is null) = any ('{t,f}')`

function countOf(sql: Sql, workspaceId: string, condition: Fragment, limit = sql`${maxCounted}`) {
  return sql`(
    select count(*)::integer
    from (
      select
      from conversations c
      where c.workspace_id = ${workspaceId}
        and c.status = 'open'
        ${condition}
      limit ${limit}
    ) as counted
  )`
}

// Corrects the indexed count by the touched conversations whose unread state differs.
function countUnread(sql: Sql, workspaceId: string, view: Fragment) {
  const limit = sql`${maxCounted} + (select count(*) from moving c where c.more < 0 ${view})`
  return sql`least(
    ${maxCounted}::integer,
    ${countOf(sql, workspaceId, sql`and (c.unread_count > 0) = any ('{t}') ${view}`, limit)}
      + (select coalesce(sum(c.more), 0)::integer from moving c where c.more <> 0 ${view})
  )`
}

export interface UnansweredCount {
  /** Whether an agent or people should answer. */
  ownedByAgent: boolean
  count: number
  since: Date
}

/** Counts open and pending conversations whose customers have waited since before a time. */
export async function countUnanswered(sql: Sql, workspaceId: string, before: Date): Promise<UnansweredCount[]> {
  return sql<UnansweredCount[]>`
    select c.owner_key_id is not null as "ownedByAgent",
      count(*)::integer as count,
      min(c.since) as since
    from (
      select c.owner_key_id, c.status, c.unanswered_since as since
      from conversations c
      where c.workspace_id = ${workspaceId}
        and c.unanswered_since is not null
        and c.unanswered_since <= ${before}
        and ${isIdle(sql)}
      union all
      select c.owner_key_id, c.status, c.now_unanswered_since
      from ${touchedConversations(sql, workspaceId)}
      where m.workspace_id = ${workspaceId}
        and c.now_unanswered_since <= ${before}
    ) as c
    where c.status in ('open', 'pending')
    group by 1`
}
