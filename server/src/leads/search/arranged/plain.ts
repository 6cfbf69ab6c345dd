import type { Sql } from '../../../base/db.ts'
import {
  afterCondition,
  filterCondition,
  isSeldom,
  type LeadFilter,
  type LeadSort,
  labelOf,
  leadsOf,
  sortClause,
} from '../list-filter.ts'
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

/** So many leads are put in order for a page; where more would have to be, the memory index gives the order or nobody does. */
export const maxSorted = 100_000

interface PlainList {
  filter: LeadFilter
  conditions: Conditions
  arrangement: Arrangement
}

interface PlainSlice {
  after: Place | null
  offset: number
  limit: number
}

interface PlaceRow {
  id: string
  key: PlaceKey
}

/** The places of a slice of a list in order of a time, which an index keeps. */
export async function selectPlacesByTime(
  sql: Sql,
  workspaceId: string,
  { filter, conditions, arrangement }: PlainList & { arrangement: Arrangement & LeadSort },
  { after, offset, limit }: PlainSlice,
): Promise<Place[]> {
  const isOfFew = filter.labelIds !== undefined && (await isSeldom(sql, workspaceId, filter))
  const rows = await sql<PlaceRow[]>`
    select l.id, ${keyOf(sql, arrangement)} as key
    from ${isOfFew ? leadsOf(sql, workspaceId, filter) : sql`leads l`}
    where ${filterCondition(sql, workspaceId, filter)}
      ${plainCondition(sql, workspaceId, conditions)}
      ${after === null ? sql`` : afterCondition(sql, arrangement, { time: new Date(Number(after.key)), id: after.id })}
    order by ${sortClause(sql, arrangement)}
    limit ${limit}
    offset ${offset}`
  return rows.map(placeOf)
}

/**
 * The places of a slice of the list in any other order, and how many there are; null when they are more than `most`. All
 * are read once, for both, and no more of them than that.
 */
export async function sortPlaces(
  sql: Sql,
  workspaceId: string,
  { filter, conditions, arrangement }: PlainList,
  { after, offset, limit }: PlainSlice,
  most: number,
): Promise<{ places: Place[]; total: number } | null> {
  const isDescending = arrangement.order === 'desc'
  const direction = isDescending ? sql`desc` : sql`asc`
  const inOrder = sql`s.key is null, s.key ${direction}, s.id ${direction}`
  const rows = await sql<{ total: number; id: string | null; key: PlaceKey }[]>`
    with found as materialized (
      select l.id, ${keyOf(sql, arrangement)} as key
      from ${leadsOf(sql, workspaceId, filter)}
      where ${filterCondition(sql, workspaceId, filter)}
        ${plainCondition(sql, workspaceId, conditions)}
      limit ${most + 1}
    )
    select counted.total, s.id, s.key
    from (select count(*)::integer as total from found) as counted
    left join lateral (
      select s.id, s.key
      from found s
      where counted.total <= ${most}
        ${after === null ? sql`` : afterPlace(sql, after, isDescending)}
      order by ${inOrder}
      limit ${limit}
      offset ${offset}
    ) as s on true
    order by ${inOrder}`
  const total = rows[0]?.total ?? 0
  if (total > most) return null
  return { places: rows.flatMap(({ id, key }) => (id === null ? [] : [placeOf({ id, key })])), total }
}

const placeOf = ({ id, key }: PlaceRow): Place => ({ id, key: key === null ? null : Number(key) })

/** As a number: ranks of choices, milliseconds of times. */
function keyOf(sql: Sql, { by, choices }: Arrangement) {
  const column = sql`l.${sql(plainColumns[by as keyof typeof plainColumns])}`
  if (kindOf(by) === 'number') return sql`${column}`
  if (kindOf(by) === 'time') return sql`(extract(epoch from ${column}) * 1000)`
  return sql`case when ${column} is not null then coalesce(array_position(${[...choices]}::text[], ${column}::text) - 1, ${choices.length}::integer) end`
}

function afterPlace(sql: Sql, after: Place, isDescending: boolean) {
  const beyond = isDescending ? sql`<` : sql`>`
  if (after.key === null) return sql`and s.key is null and s.id ${beyond} ${after.id}::uuid`
  const number = Number(after.key)
  return sql`and (s.key is null or s.key ${beyond} ${number}::numeric or (s.key = ${number}::numeric and s.id ${beyond} ${after.id}::uuid))`
}

export async function countPlain(sql: Sql, workspaceId: string, filter: LeadFilter, conditions: Conditions) {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::integer as total
    from ${leadsOf(sql, workspaceId, filter)}
    where ${filterCondition(sql, workspaceId, filter)}
      ${plainCondition(sql, workspaceId, conditions)}`
  return row?.total ?? 0
}
