import type { Db, Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { LeadRow } from '../lead/encrypted-lead.ts'
import { leadColumns } from '../lead/queries.ts'
import {
  afterCondition,
  arePlainConditions,
  filterCondition,
  isPlainOrder,
  isRare,
  leadLabel,
  leadsWithLabels,
  sortClause,
  sortKeyColumn,
} from './filter-sql.ts'
import { isTimeOrder, type PageQuery, type PageResult, type TimeOrder } from './list-filter.ts'
import { searchPage } from './search.ts'
import { decryptAndSort } from './sorted/decrypt-and-sort.ts'
import type { Place, SortKey } from './sorted/order.ts'

/** Maximum number of leads to sort, or decrypt, for one page. Beyond it, only the memory index can answer. */
const defaultLimits = { maxSorted: 100_000, maxOpened: 20_000 }

/** `rows` has the leads of the places if they were read along with them. */
export type FoundRows = PageResult & { rows?: LeadRow[] }

/**
 * Returns a page from the database: by an index with the requested order, by search tokens, or by reading all matching
 * leads. Returns null if there are too many of these.
 */
export async function findInDatabase(
  db: Db,
  keyring: Keyring,
  workspaceId: string,
  query: PageQuery,
  { maxSorted, maxOpened } = defaultLimits,
): Promise<FoundRows | null> {
  const { sql } = db
  const { term, conditions, sortOrder } = query
  const needsNoDecryption = term === null && arePlainConditions(conditions)
  if (isTimeOrder(sortOrder)) {
    if (needsNoDecryption) return selectPage(sql, workspaceId, { ...query, sortOrder })
    const isSearched = term !== null && conditions.list.length === 0
    if (isSearched) return searchPage(sql, keyring, { ...query, workspaceId, term, sortOrder })
  }
  if (needsNoDecryption && isPlainOrder(sortOrder)) return sortInDatabase(sql, workspaceId, query, maxSorted)
  return db.inBulk(() => decryptAndSort(sql, keyring, workspaceId, query, maxOpened))
}

async function selectPage(
  sql: Sql,
  workspaceId: string,
  query: PageQuery & { sortOrder: TimeOrder },
): Promise<FoundRows> {
  const [rows, total] = await Promise.all([
    selectRows(sql, workspaceId, query),
    query.needsTotal ? countLeads(sql, workspaceId, query) : null,
  ])
  const time = query.sortOrder.by === 'createdAt' ? 'created_at' : 'updated_at'
  return { places: rows.map((row) => ({ id: row.id, key: row[time].getTime() })), rows, total }
}

async function selectRows(
  sql: Sql,
  workspaceId: string,
  { filter, conditions, sortOrder, after, offset, limit }: PageQuery & { sortOrder: TimeOrder },
): Promise<LeadRow[]> {
  const hasFew = filter.labelIds !== undefined && (await isRare(sql, workspaceId, filter))
  return sql<LeadRow[]>`
    select ${leadColumns(sql)}
    from ${hasFew ? leadsWithLabels(sql, workspaceId, filter) : sql`leads l`}
    where ${filterCondition(sql, workspaceId, filter, conditions)}
      ${afterCondition(sql, sortOrder, after)}
    order by ${sortClause(sql, sortOrder)}
    limit ${limit}
    offset ${offset}`
}

async function countLeads(sql: Sql, workspaceId: string, { filter, conditions }: PageQuery): Promise<number> {
  const { withoutLabelIds, ...others } = filter
  // Missing labels are checked outside the subquery: their cost estimate would keep the planner from using an index.
  const [row] =
    withoutLabelIds === undefined
      ? await sql<{ total: number }[]>`
        select count(*)::integer as total
        from ${leadsWithLabels(sql, workspaceId, filter)}
        where ${filterCondition(sql, workspaceId, filter, conditions)}`
      : await sql<{ total: number }[]>`
        select count(*)::integer as total
        from (
          select l.id
          from ${leadsWithLabels(sql, workspaceId, others)}
          where ${filterCondition(sql, workspaceId, others, conditions)}
          offset 0
        ) as l
        where ${leadLabel(sql, workspaceId, withoutLabelIds)} is null`
  return row?.total ?? 0
}

/**
 * Returns a page in any other order, with the total; null if more than `most` leads match. Reads the matching leads
 * once for both, and at most `most` + 1 of them.
 */
async function sortInDatabase(
  sql: Sql,
  workspaceId: string,
  { filter, conditions, sortOrder, after, offset, limit }: PageQuery,
  maxLeads: number,
): Promise<PageResult | null> {
  const isDescending = sortOrder.order === 'desc'
  const direction = isDescending ? sql`desc` : sql`asc`
  const inOrder = sql`s.key is null, s.key ${direction}, s.id ${direction}`
  const rows = await sql<{ total: number; id: string | null; key: SortKey }[]>`
    with found as materialized (
      select l.id, ${sortKeyColumn(sql, sortOrder)} as key
      from ${leadsWithLabels(sql, workspaceId, filter)}
      where ${filterCondition(sql, workspaceId, filter, conditions)}
      limit ${maxLeads + 1}
    )
    select counted.total, s.id, s.key
    from (select count(*)::integer as total from found) as counted
    left join lateral (
      select s.id, s.key
      from found s
      where counted.total <= ${maxLeads}
        ${after === null ? sql`` : afterPlace(sql, after, isDescending)}
      order by ${inOrder}
      limit ${limit}
      offset ${offset}
    ) as s on true
    order by ${inOrder}`
  const total = rows[0]?.total ?? 0
  if (total > maxLeads) return null
  const places = rows.flatMap(({ id, key }) => (id === null ? [] : [{ id, key: key === null ? null : Number(key) }]))
  return { places, total }
}

function afterPlace(sql: Sql, after: Place, isDescending: boolean) {
  const beyond = isDescending ? sql`<` : sql`>`
  if (after.key === null) return sql`and s.key is null and s.id ${beyond} ${after.id}::uuid`
  const number = Number(after.key)
  return sql`and (s.key is null or s.key ${beyond} ${number}::numeric or (s.key = ${number}::numeric and s.id ${beyond} ${after.id}::uuid))`
}
