import type { Db, Fragment, Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
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
import type { Place, SortKey, SortOrder } from './sorted/order.ts'

/** Maximum number of leads to sort, or decrypt, for one page. Beyond it, only the memory index can answer. */
const defaultLimits = { maxSorted: 100_000, maxOpened: 20_000 }

/** A row in the order of a time; times may be in the database's text format. */
export interface TimedRow {
  id: string
  created_at: Date | string
  updated_at: Date | string
}

/** The rows themselves where they were read along with their places. */
export type FoundPage<R> = PageResult | { rows: R[]; total: number | null }

/**
 * Returns a page from the database: by an index with the requested order, by search tokens, or by reading all matching
 * leads. Returns null if there are too many of these.
 */
export async function findInDatabase<R extends TimedRow>(
  db: Db,
  keyring: Keyring,
  workspaceId: string,
  query: PageQuery,
  columns: Fragment,
  { maxSorted, maxOpened } = defaultLimits,
): Promise<FoundPage<R> | null> {
  const { sql } = db
  const { term, conditions, sortOrder } = query
  const needsNoDecryption = term === null && arePlainConditions(conditions)
  if (isTimeOrder(sortOrder)) {
    if (needsNoDecryption) return selectPage(sql, workspaceId, { ...query, sortOrder }, columns)
    const isSearched = term !== null && conditions.list.length === 0
    if (isSearched) return searchPage(sql, keyring, { ...query, workspaceId, term, sortOrder })
  }
  if (needsNoDecryption && isPlainOrder(sortOrder)) return sortInDatabase(sql, workspaceId, query, maxSorted)
  return db.inBulk(() => decryptAndSort(sql, keyring, workspaceId, query, maxOpened))
}

async function selectPage<R extends TimedRow>(
  sql: Sql,
  workspaceId: string,
  query: PageQuery & { sortOrder: TimeOrder },
  columns: Fragment,
): Promise<FoundPage<R>> {
  const [rows, total] = await Promise.all([
    selectRows<R>(sql, workspaceId, query, columns),
    query.needsTotal ? countLeads(sql, workspaceId, query) : null,
  ])
  return { rows, total }
}

/** Returns the place of a row in the order of a time. */
export const placeOf = (row: TimedRow, by: SortOrder['by']): Place => ({
  id: row.id,
  key: new Date(by === 'createdAt' ? row.created_at : row.updated_at).getTime(),
})

async function selectRows<R extends TimedRow>(
  sql: Sql,
  workspaceId: string,
  { filter, conditions, sortOrder, after, offset, limit }: PageQuery & { sortOrder: TimeOrder },
  columns: Fragment,
): Promise<R[]> {
  const hasFew = filter.labelIds !== undefined && (await isRare(sql, workspaceId, filter))
  const inOrder = sortClause(sql, sortOrder)
  // The subquery keeps a sort from evaluating the columns, such as long notes, for leads outside the page.
  return sql<R[]>`
    select ${columns}
    from (
      select l.*
      from ${hasFew ? leadsWithLabels(sql, workspaceId, filter) : sql`leads l`}
      where ${filterCondition(sql, workspaceId, filter, conditions)}
        ${afterCondition(sql, sortOrder, after)}
      order by ${inOrder}
      limit ${limit}
      offset ${offset}
    ) as l
    order by ${inOrder}`
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
