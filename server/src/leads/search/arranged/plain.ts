import type { Sql } from '../../../base/db.ts'
import { filterCondition, type LeadFilter, labelOf } from '../list-filter.ts'
import { type Column, type Condition, type Conditions, kindOf } from './conditions.ts'
import { boundsOf, numberOf } from './match.ts'
import type { Arrangement, Place, PlaceKey } from './order.ts'

// Orders and conditions that the database keeps: they look at nothing that is sealed.

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

/** What tells of a sealed column whether there is anything in it. */
const presence = { email: 'email_index', phone: 'phone_index', notes: 'notes', externalRef: 'external_ref' } as const

export const isPlainOrder = ({ by }: Pick<Arrangement, 'by'>): boolean => Object.hasOwn(plainColumns, by)

export const arePlain = ({ list }: Conditions): boolean =>
  list.every(
    ({ column, operator }) =>
      column === 'labels' ||
      Object.hasOwn(plainColumns, column) ||
      ((operator === 'empty' || operator === 'notEmpty') && Object.hasOwn(presence, column)),
  )

/** The condition on `leads l` of plain conditions, which are resolved. */
export function plainCondition(sql: Sql, workspaceId: string, { match, list }: Conditions) {
  const [first, ...others] = list.map((condition) =>
    condition.column === 'labels' ? conditionOnLabels(sql, workspaceId, condition) : conditionOf(sql, condition),
  )
  if (first === undefined) return sql``
  return sql`and (${others.reduce((all, one) => (match === 'any' ? sql`${all} or ${one}` : sql`${all} and ${one}`), first)})`
}

function conditionOf(sql: Sql, condition: Condition) {
  const { column, operator, values } = condition
  const known = { ...plainColumns, ...presence }[column as keyof typeof plainColumns | keyof typeof presence]
  const value = sql`l.${sql(known)}`
  if (operator === 'empty') return sql`${value} is null`
  if (operator === 'notEmpty') return sql`${value} is not null`
  const kind = kindOf(column)
  if (operator === 'is' || operator === 'isNot') {
    // As texts, for a value may be no id at all.
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

function conditionOnLabels(sql: Sql, workspaceId: string, { operator, values }: Condition) {
  const label = labelOf(sql, workspaceId, operator === 'is' || operator === 'isNot' ? values : undefined)
  return operator === 'is' || operator === 'notEmpty' ? sql`${label} is not null` : sql`${label} is null`
}

interface PlainSlice {
  after: Place | null
  offset: number
  limit: number
}

/** The places of a slice of the list. */
export async function selectPlaces(
  sql: Sql,
  workspaceId: string,
  { filter, conditions, arrangement }: { filter: LeadFilter; conditions: Conditions; arrangement: Arrangement },
  { after, offset, limit }: PlainSlice,
): Promise<Place[]> {
  const key = keyOf(sql, arrangement)
  const isDescending = arrangement.order === 'desc'
  const direction = isDescending ? sql`desc` : sql`asc`
  const rows = await sql<{ id: string; key: PlaceKey }[]>`
    select l.id, ${key} as key
    from leads l
    where ${filterCondition(sql, workspaceId, filter)}
      ${plainCondition(sql, workspaceId, conditions)}
      ${after === null ? sql`` : afterPlace(sql, key, after, isDescending)}
    order by ${key} is null, ${key} ${direction}, l.id ${direction}
    limit ${limit}
    offset ${offset}`
  return rows.map((row) => ({ id: row.id, key: row.key === null ? null : Number(row.key) }))
}

/** As a number: ranks of choices, milliseconds of times. */
function keyOf(sql: Sql, { by, choices }: Arrangement) {
  const column = sql`l.${sql(plainColumns[by as keyof typeof plainColumns])}`
  if (kindOf(by) === 'number') return sql`${column}`
  if (kindOf(by) === 'time') return sql`(extract(epoch from ${column}) * 1000)`
  return sql`case when ${column} is not null then coalesce(array_position(${[...choices]}::text[], ${column}::text) - 1, ${choices.length}::integer) end`
}

function afterPlace(sql: Sql, key: ReturnType<typeof keyOf>, after: Place, isDescending: boolean) {
  const beyond = isDescending ? sql`<` : sql`>`
  if (after.key === null) return sql`and ${key} is null and l.id ${beyond} ${after.id}::uuid`
  const number = Number(after.key)
  return sql`and (${key} is null or ${key} ${beyond} ${number}::numeric or (${key} = ${number}::numeric and l.id ${beyond} ${after.id}::uuid))`
}

export async function countPlain(sql: Sql, workspaceId: string, filter: LeadFilter, conditions: Conditions) {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::integer as total
    from leads l
    where ${filterCondition(sql, workspaceId, filter)}
      ${plainCondition(sql, workspaceId, conditions)}`
  return row?.total ?? 0
}
