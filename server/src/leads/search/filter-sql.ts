import type { Sql } from '../../base/db.ts'
import { hiddenWorkspaceId } from '../lead/queries.ts'
import type { LeadFilter, TimeOrder } from './list-filter.ts'
import { boundsOf, type Column, type Condition, type Conditions, kindOf, numberOf } from './sorted/conditions.ts'
import type { Place, SortOrder } from './sorted/order.ts'

export const noConditions: Conditions = { match: 'all', list: [] }

/** Returns the condition on `leads l` for a filter and plain conditions, without the search term. */
export function filterCondition(sql: Sql, workspaceId: string, filter: LeadFilter, conditions = noConditions) {
  const { statuses, priority, source, adPlatform, assignedTo, labelIds, withoutLabelIds } = filter
  const status = statuses?.length === 1 ? statuses[0] : undefined
  // Shared, since each fragment of a statement costs a promise.
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
      ${filter.importId === undefined ? none : importCondition(sql, workspaceId, filter.importId)}
      ${labelIds === undefined ? none : sql`and ${leadLabel(sql, workspaceId, labelIds)} is not null`}
      ${withoutLabelIds === undefined ? none : sql`and ${leadLabel(sql, workspaceId, withoutLabelIds)} is null`}
      ${plainCondition(sql, workspaceId, conditions)}`
}

/**
 * Returns a label of the lead `l`, one of `labelIds` if given; null if it has none. `limit` keeps the planner from a
 * join: without statistics it may compare every lead with every label.
 */
export const leadLabel = (sql: Sql, workspaceId: string, labelIds?: readonly string[]) => sql`
  (
    select x.label_id
    from lead_labels x
    where x.workspace_id = ${hiddenWorkspaceId(sql, workspaceId)}
      ${labelIds === undefined ? sql`` : sql`and x.label_id = any ((select ${[...labelIds]}::uuid[])::uuid[])`}
      and x.lead_id = l.id
    limit 1
  )`

/**
 * Returns the FROM clause for the leads `l` of a filter. With labels, each labeled lead is looked up by id, which finds
 * a rare label among a million leads. The result is unordered, so it suits queries that read the whole list.
 */
export const leadsWithLabels = (sql: Sql, workspaceId: string, { labelIds }: LeadFilter) =>
  labelIds === undefined
    ? sql`leads l`
    : sql`
      (
        select distinct x.lead_id
        from lead_labels x
        where x.workspace_id = ${hiddenWorkspaceId(sql, workspaceId)}
          and x.label_id = any ((select ${[...labelIds]}::uuid[])::uuid[])
      ) as x
      cross join lateral (
        select *
        from leads
        where workspace_id = ${hiddenWorkspaceId(sql, workspaceId)}
          and id = x.lead_id
        limit 1
      ) as l`

// Up to this many leads are sorted for a page instead of searched for in an index order.
const maxRareLeads = 2_000

/** Returns true if few leads have the filter's labels, so that sorting is faster. `order by` makes it use the index. */
export async function isRare(sql: Sql, workspaceId: string, { labelIds }: LeadFilter): Promise<boolean> {
  if (labelIds === undefined) return false
  const rows = await sql`
    select 1
    from unnest((select ${[...labelIds]}::uuid[])) as n (label_id)
    cross join lateral (
      select 1
      from lead_labels
      where workspace_id = ${hiddenWorkspaceId(sql, workspaceId)}
        and label_id = n.label_id
      order by lead_id
      limit ${maxRareLeads + 1}
    ) as x
    offset ${maxRareLeads}
    limit 1`
  return rows.length === 0
}

const importCondition = (sql: Sql, workspaceId: string, importId: string) => sql`
  and l.id in (
    select i.lead_id
    from lead_bulk_items i
    where i.workspace_id = ${workspaceId}
      and i.change_id = ${importId}
      and i.outcome in ('created', 'changed', 'unchanged')
  )`

const columnOf = (sql: Sql, { by }: TimeOrder) => (by === 'createdAt' ? sql`l.created_at` : sql`l.updated_at`)

export function sortClause(sql: Sql, sort: TimeOrder) {
  const column = columnOf(sql, sort)
  return sort.order === 'desc' ? sql`${column} desc, l.id desc` : sql`${column}, l.id`
}

export function afterCondition(sql: Sql, sort: TimeOrder, after: Place | null) {
  if (after === null) return sql``
  const place = sql`(${new Date(Number(after.key))}::timestamptz, ${after.id}::uuid)`
  return sql`and (${columnOf(sql, sort)}, l.id) ${sort.order === 'desc' ? sql`<` : sql`>`} ${place}`
}

// Orders and conditions that SQL can evaluate: they use no encrypted values.

const plainColumns = {
  status: 'status',
  priority: 'priority',
  source: 'source',
  adPlatform: 'ad_platform',
  assignedTo: 'assigned_to',
  estimatedValue: 'estimated_value',
  actualValue: 'actual_value',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const

/** Columns that are null if the encrypted value is missing. */
const presenceColumns = {
  email: 'email_index',
  phone: 'phone_index',
  notes: 'notes',
  externalRef: 'external_ref',
} as const

export const isPlainOrder = ({ by }: Pick<SortOrder, 'by'>): boolean => Object.hasOwn(plainColumns, by)

export const arePlainConditions = ({ list }: Conditions): boolean =>
  list.every(
    ({ column, operator }) =>
      column === 'labels' ||
      Object.hasOwn(plainColumns, column) ||
      ((operator === 'empty' || operator === 'notEmpty') && Object.hasOwn(presenceColumns, column)),
  )

/** Returns the SQL for plain conditions with resolved times. */
function plainCondition(sql: Sql, workspaceId: string, { match, list }: Conditions) {
  const [first, ...others] = list.map((condition) =>
    condition.column === 'labels' ? labelCondition(sql, workspaceId, condition) : columnCondition(sql, condition),
  )
  if (first === undefined) return sql``
  return sql`and (${others.reduce((all, one) => (match === 'any' ? sql`${all} or ${one}` : sql`${all} and ${one}`), first)})`
}

function columnCondition(sql: Sql, condition: Condition) {
  const { column, operator, values } = condition
  const known = { ...plainColumns, ...presenceColumns }[
    column as keyof typeof plainColumns | keyof typeof presenceColumns
  ]
  const value = sql`l.${sql(known)}`
  if (operator === 'empty') return sql`${value} is null`
  if (operator === 'notEmpty') return sql`${value} is not null`
  const kind = kindOf(column)
  if (operator === 'is' || operator === 'isNot') {
    // Compared as text, since a value may not be a valid id.
    const found =
      kind === 'number' ? sql`${value} = any (${values}::numeric[])` : sql`${value}::text = any (${values}::text[])`
    return operator === 'is' ? found : sql`(${value} is null or not ${found})`
  }
  const [from, to] = boundsOf(condition).map((bound) => {
    const number = numberOf(bound, column as Column)
    return number === undefined || kind === 'number' ? number : new Date(number)
  })
  const type = kind === 'number' ? sql`numeric` : sql`timestamptz`
  if (from === undefined) return sql`${value} <= ${to ?? null}::${type}`
  if (to === undefined) return sql`${value} >= ${from}::${type}`
  return sql`${value} between ${from}::${type} and ${to}::${type}`
}

function labelCondition(sql: Sql, workspaceId: string, { operator, values }: Condition) {
  const label = leadLabel(sql, workspaceId, operator === 'is' || operator === 'isNot' ? values : undefined)
  return operator === 'is' || operator === 'notEmpty' ? sql`${label} is not null` : sql`${label} is null`
}

/** Returns the sort key of a plain order as a number: ranks of choices, milliseconds of times. */
export function sortKeyColumn(sql: Sql, { by, choices }: SortOrder) {
  const column = sql`l.${sql(plainColumns[by as keyof typeof plainColumns])}`
  if (kindOf(by) === 'number') return sql`${column}`
  if (kindOf(by) === 'time') return sql`(extract(epoch from ${column}) * 1000)`
  return sql`case when ${column} is not null then coalesce(array_position(${[...choices]}::text[], ${column}::text) - 1, ${choices.length}::integer) end`
}
