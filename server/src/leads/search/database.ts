import type { Db, Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { LeadRow } from '../lead/encrypted-lead.ts'
import { leadColumns } from '../lead/queries.ts'
import {
  afterCondition,
  arePlain,
  filterCondition,
  isPlainOrder,
  isSeldom,
  labelOf,
  leadsOf,
  placeKeyColumn,
  sortClause,
} from './filter-sql.ts'
import { type Found, isTimely, type Timely, type Wanted } from './list-filter.ts'
import { searchPage } from './search.ts'
import { openPlaces } from './sorted/decrypt-and-sort.ts'
import type { Place, PlaceKey } from './sorted/order.ts'

/** Maximum number of leads to sort, or decrypt, for one page. Beyond it, only the memory index can answer. */
const usualMost = { maxSorted: 100_000, maxOpened: 20_000 }

/** `rows` has the leads of the places if they were read along with them. */
export type FoundRows = Found & { rows?: LeadRow[] }

/**
 * Returns a page from the database: by an index with the requested order, by search tokens, or by reading all matching
 * leads. Returns null if there are too many of these.
 */
export async function findInDatabase(
  db: Db,
  keyring: Keyring,
  workspaceId: string,
  wanted: Wanted,
  { maxSorted, maxOpened } = usualMost,
): Promise<FoundRows | null> {
  const { sql } = db
  const { term, conditions, arrangement } = wanted
  const isUnsearched = term === null && arePlain(conditions)
  if (isTimely(arrangement)) {
    if (isUnsearched) return selectPage(sql, workspaceId, { ...wanted, arrangement })
    const isSearched = term !== null && conditions.list.length === 0
    if (isSearched) return searchPage(sql, keyring, { ...wanted, workspaceId, term, arrangement })
  }
  if (isUnsearched && isPlainOrder(arrangement)) return sortPlaces(sql, workspaceId, wanted, maxSorted)
  return db.inBulk(() => openPlaces(sql, keyring, workspaceId, wanted, maxOpened))
}

async function selectPage(sql: Sql, workspaceId: string, wanted: Wanted & { arrangement: Timely }): Promise<FoundRows> {
  const [rows, total] = await Promise.all([
    selectRows(sql, workspaceId, wanted),
    wanted.needsTotal ? countLeads(sql, workspaceId, wanted) : null,
  ])
  const time = wanted.arrangement.by === 'createdAt' ? 'created_at' : 'updated_at'
  return { places: rows.map((row) => ({ id: row.id, key: row[time].getTime() })), rows, total }
}

async function selectRows(
  sql: Sql,
  workspaceId: string,
  { filter, conditions, arrangement, after, offset, limit }: Wanted & { arrangement: Timely },
): Promise<LeadRow[]> {
  const isOfFew = filter.labelIds !== undefined && (await isSeldom(sql, workspaceId, filter))
  return sql<LeadRow[]>`
    select ${leadColumns(sql)}
    from ${isOfFew ? leadsOf(sql, workspaceId, filter) : sql`leads l`}
    where ${filterCondition(sql, workspaceId, filter, conditions)}
      ${afterCondition(sql, arrangement, after)}
    order by ${sortClause(sql, arrangement)}
    limit ${limit}
    offset ${offset}`
}

async function countLeads(sql: Sql, workspaceId: string, { filter, conditions }: Wanted): Promise<number> {
  const { withoutLabelIds, ...others } = filter
  // Missing labels are checked outside the subquery: their cost estimate would keep the planner from using an index.
  const [row] =
    withoutLabelIds === undefined
      ? await sql<{ total: number }[]>`
        select count(*)::integer as total
        from ${leadsOf(sql, workspaceId, filter)}
        where ${filterCondition(sql, workspaceId, filter, conditions)}`
      : await sql<{ total: number }[]>`
        select count(*)::integer as total
        from (
          select l.id
          from ${leadsOf(sql, workspaceId, others)}
          where ${filterCondition(sql, workspaceId, others, conditions)}
          offset 0
        ) as l
        where ${labelOf(sql, workspaceId, withoutLabelIds)} is null`
  return row?.total ?? 0
}

/**
 * Returns a page in any other order, with the total; null if more than `most` leads match. Reads the matching leads
 * once for both, and at most `most` + 1 of them.
 */
async function sortPlaces(
  sql: Sql,
  workspaceId: string,
  { filter, conditions, arrangement, after, offset, limit }: Wanted,
  most: number,
): Promise<Found | null> {
  const isDescending = arrangement.order === 'desc'
  const direction = isDescending ? sql`desc` : sql`asc`
  const inOrder = sql`s.key is null, s.key ${direction}, s.id ${direction}`
  const rows = await sql<{ total: number; id: string | null; key: PlaceKey }[]>`
    with found as materialized (
      select l.id, ${placeKeyColumn(sql, arrangement)} as key
      from ${leadsOf(sql, workspaceId, filter)}
      where ${filterCondition(sql, workspaceId, filter, conditions)}
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
  const places = rows.flatMap(({ id, key }) => (id === null ? [] : [{ id, key: key === null ? null : Number(key) }]))
  return { places, total }
}

function afterPlace(sql: Sql, after: Place, isDescending: boolean) {
  const beyond = isDescending ? sql`<` : sql`>`
  if (after.key === null) return sql`and s.key is null and s.id ${beyond} ${after.id}::uuid`
  const number = Number(after.key)
  return sql`and (s.key is null or s.key ${beyond} ${number}::numeric or (s.key = ${number}::numeric and s.id ${beyond} ${after.id}::uuid))`
}
