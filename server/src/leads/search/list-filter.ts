import { createHash } from 'node:crypto'
import type { Sql } from '../../base/db.ts'
import type { AdPlatform, Priority, Source } from '../lead/lead.ts'
import { anyWorkspace } from '../lead/queries.ts'
import { type Conditions, resolved } from './arranged/conditions.ts'

/** Which live leads a list shows, and in what order. Every field that is set narrows it. */
export interface LeadFilter {
  statuses: string[] | null
  priority: Priority | null
  source: Source | null
  adPlatform: AdPlatform | null
  assignedTo: string | null
  createdFrom: Date | null
  createdTo: Date | null
  updatedFrom: Date | null
  updatedTo: Date | null
  search: string | null
  /** Leads that an import has brought, or found as they were; absent without one, so that cursors stay as they are. */
  importId?: string
  /** Labels of which a lead has any, and labels of which it has none; absent as well without any. */
  labelIds?: string[]
  withoutLabelIds?: string[]
  /** On any column, beside the others; absent without one, likewise. */
  conditions?: Conditions
}

/** Which leads came by an import, and which labels they have, the database alone knows. */
export const isForDatabase = ({ importId, labelIds, withoutLabelIds, conditions }: LeadFilter): boolean =>
  importId !== undefined ||
  labelIds !== undefined ||
  withoutLabelIds !== undefined ||
  (conditions?.list.some(({ column }) => column === 'labels') ?? false)

/** Shows everything. */
export const noFilter: LeadFilter = {
  statuses: null,
  priority: null,
  source: null,
  adPlatform: null,
  assignedTo: null,
  createdFrom: null,
  createdTo: null,
  updatedFrom: null,
  updatedTo: null,
  search: null,
}

/** The same filter as it is at that moment: the last days are counted from then, however long its pages take. */
export const asOf = (filter: LeadFilter, now: Date): LeadFilter =>
  filter.conditions === undefined ? filter : { ...filter, conditions: resolved(filter.conditions, now) }

export interface LeadSort {
  by: 'createdAt' | 'updatedAt'
  order: 'asc' | 'desc'
}

/** Where a page ends: the next one begins right after this lead. */
export interface SortPosition {
  time: Date
  id: string
}

/** Which part of a list to fetch. */
export interface Slice {
  after: SortPosition | null
  offset: number
  limit: number
}

/** The condition on `leads l` that a filter makes; search is not part of it. */
export function filterCondition(sql: Sql, workspaceId: string, filter: LeadFilter) {
  const { statuses, priority, source, adPlatform, assignedTo } = filter
  const status = statuses?.length === 1 ? statuses[0] : undefined
  // One for all: each piece of a statement costs a promise.
  const none = sql``
  return sql`
    l.workspace_id = ${workspaceId}
      and l.deleted_at is null
      ${status === undefined ? none : sql`and l.status = ${status}`}
      ${statuses === null || status !== undefined ? none : sql`and l.status = any (${statuses}::text[])`}
      ${priority === null ? none : sql`and l.priority = ${priority}`}
      ${source === null ? none : sql`and l.source = ${source}`}
      ${adPlatform === null ? none : sql`and l.ad_platform = ${adPlatform}`}
      ${assignedTo === null ? none : sql`and l.assigned_to = ${assignedTo}`}
      ${filter.createdFrom === null ? none : sql`and l.created_at >= ${filter.createdFrom}`}
      ${filter.createdTo === null ? none : sql`and l.created_at <= ${filter.createdTo}`}
      ${filter.updatedFrom === null ? none : sql`and l.updated_at >= ${filter.updatedFrom}`}
      ${filter.updatedTo === null ? none : sql`and l.updated_at <= ${filter.updatedTo}`}
      ${filter.importId === undefined ? none : ofImport(sql, workspaceId, filter.importId)}
      ${hasLabels(filter) ? labelCondition(sql, workspaceId, filter) : none}`
}

export const hasLabels = ({ labelIds, withoutLabelIds }: LeadFilter): boolean =>
  labelIds !== undefined || withoutLabelIds !== undefined

/** What a filter asks of the labels of a lead. */
export const labelCondition = (sql: Sql, workspaceId: string, { labelIds, withoutLabelIds }: LeadFilter) => sql`
  ${labelIds === undefined ? sql`` : sql`and ${labelOf(sql, workspaceId, labelIds)} is not null`}
  ${withoutLabelIds === undefined ? sql`` : sql`and ${labelOf(sql, workspaceId, withoutLabelIds)} is null`}`

/**
 * A label of the lead `l`, one of these where they are given; null where it has none. `limit` keeps the planner from a
 * join: of tables that it has not counted it may compare every lead with every label.
 */
export const labelOf = (sql: Sql, workspaceId: string, labelIds?: readonly string[]) => sql`
  (
    select x.label_id
    from lead_labels x
    where x.workspace_id = ${anyWorkspace(sql, workspaceId)}
      ${labelIds === undefined ? sql`` : sql`and x.label_id = any ((select ${[...labelIds]}::uuid[])::uuid[])`}
      and x.lead_id = l.id
    limit 1
  )`

/**
 * What to select the leads `l` of a filter from: those with its labels, each looked up by its id alone, or all. A seldom
 * label is found among a million leads that way; it is no order, so it is for what looks at all of the list.
 */
export const leadsOf = (sql: Sql, workspaceId: string, { labelIds }: LeadFilter) =>
  labelIds === undefined
    ? sql`leads l`
    : sql`
      (
        select distinct x.lead_id
        from lead_labels x
        where x.workspace_id = ${anyWorkspace(sql, workspaceId)}
          and x.label_id = any ((select ${[...labelIds]}::uuid[])::uuid[])
      ) as x
      cross join lateral (
        select *
        from leads
        where workspace_id = ${anyWorkspace(sql, workspaceId)}
          and id = x.lead_id
        limit 1
      ) as l`

/** So few leads are sorted for a page rather than be looked for among all. */
const seldomAtMost = 2_000

/** Whether so few leads have the labels of the filter that a page is best made of all of them. In order, hence by the index. */
export async function isSeldom(sql: Sql, workspaceId: string, { labelIds }: LeadFilter): Promise<boolean> {
  if (labelIds === undefined) return false
  const rows = await sql`
    select 1
    from unnest((select ${[...labelIds]}::uuid[])) as n (label_id)
    cross join lateral (
      select 1
      from lead_labels
      where workspace_id = ${anyWorkspace(sql, workspaceId)}
        and label_id = n.label_id
      order by lead_id
      limit ${seldomAtMost + 1}
    ) as x
    offset ${seldomAtMost}
    limit 1`
  return rows.length === 0
}

const ofImport = (sql: Sql, workspaceId: string, importId: string) => sql`
  and l.id in (
    select i.lead_id
    from lead_bulk_items i
    where i.workspace_id = ${workspaceId}
      and i.change_id = ${importId}
      and i.outcome in ('created', 'changed', 'unchanged')
  )`

export function sortClause(sql: Sql, { by, order }: LeadSort) {
  if (by === 'createdAt') {
    return order === 'desc' ? sql`l.created_at desc, l.id desc` : sql`l.created_at, l.id`
  }
  return order === 'desc' ? sql`l.updated_at desc, l.id desc` : sql`l.updated_at, l.id`
}

export function afterCondition(sql: Sql, { by, order }: LeadSort, after: SortPosition) {
  const column = by === 'createdAt' ? sql`l.created_at` : sql`l.updated_at`
  return order === 'desc'
    ? sql`and (${column}, l.id) < (${after.time}::timestamptz, ${after.id}::uuid)`
    : sql`and (${column}, l.id) > (${after.time}::timestamptz, ${after.id}::uuid)`
}

/** Tells two filters apart in a cursor, without the cursor holding what was searched for. */
export function filterDigest(filter: LeadFilter): string {
  return createHash('sha256').update(JSON.stringify(filter)).digest('base64url').slice(0, 12)
}
