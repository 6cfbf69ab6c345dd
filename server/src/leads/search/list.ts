import { listMembers } from '../../auth/users/members.ts'
import type { Db, Fragment, Sql } from '../../base/db.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { conflict, unprocessable } from '../../base/errors.ts'
import { decryptLead, decryptListedLead, type LeadRow, type ListedLeadRow } from '../lead/encrypted-lead.ts'
import type { Lead, LeadDeps, LeadUser, ListedLead } from '../lead/lead.ts'
import { findLeadsByIds, leadColumns, listedLeadColumns } from '../lead/queries.ts'
import { parseSearchTerm } from '../lead/search-lines.ts'
import {
  afterCondition,
  arePlainConditions,
  filterCondition,
  isPlainOrder,
  isRare,
  leadLabel,
  leadsWithLabels,
  noConditions,
  sortClause,
  sortKeyColumn,
} from './filter-sql.ts'
import { parseListCursor, writeListCursor } from './list-cursor.ts'
import type { LeadFilter, PageQuery, PageResult, TimeOrder } from './list-filter.ts'
import { isTimeOrder, needsDatabase, noFilter } from './list-filter.ts'
import type { MemoryIndexes } from './memory-index/client.ts'
import { findMatches, searchPage } from './search.ts'
import { resolveConditions } from './sorted/conditions.ts'
import { decryptAndSort } from './sorted/decrypt-and-sort.ts'
import { collationKey, fixedChoices, type Place, type SortKey, type SortOrder } from './sorted/order.ts'

export interface ListDeps extends LeadDeps {
  /** Answers for large workspaces from memory; if absent, the database answers everything. */
  memoryIndexes?: MemoryIndexes
  /** Maximum number of leads that the database sorts without an index, and that are decrypted for a page. */
  limits?: { maxSorted: number; maxOpened: number }
}

export interface ListRequest {
  filter: LeadFilter
  sort: Pick<SortOrder, 'by' | 'order'> & { language?: SortOrder['language'] }
  limit: number
  /** Page number from 1; ignored if there is a cursor. */
  page: number
  cursor: string | null
}

export interface LeadPage<L = Lead> {
  leads: L[]
  total: number
  nextCursor: string | null
}

/** How long pages reached by cursor may repeat the total of the first page. */
const totalTtlMs = 60_000

type ListRow = TimedRow & Pick<LeadRow, 'deletedAt'>

/** What a list reads of each lead. */
interface LeadView<R extends ListRow, L> {
  columns: (sql: Sql) => Fragment
  decrypt: (keyring: Keyring, row: R) => L
}

const listedView: LeadView<ListedLeadRow, ListedLead> = { columns: listedLeadColumns, decrypt: decryptListedLead }
const leadView: LeadView<LeadRow, Lead> = { columns: leadColumns, decrypt: decryptLead }

/** Returns a page of leads and the exact total. Pages reached by cursor may repeat the first total for a minute. */
export const listLeads = (deps: ListDeps, user: LeadUser, request: ListRequest): Promise<LeadPage<ListedLead>> =>
  readPage(deps, user, request, listedView)

/** The same without the plaintext cache, for work that reads every page once. */
export const listLeadsOnce = (deps: ListDeps, user: LeadUser, request: ListRequest): Promise<LeadPage> =>
  readPage(deps, user, request, leadView)

async function readPage<R extends ListRow, L>(
  deps: ListDeps,
  user: LeadUser,
  request: ListRequest,
  view: LeadView<R, L>,
): Promise<LeadPage<L>> {
  const { filter, limit } = request
  const { sql } = deps.db
  const { workspaceId } = user
  const now = deps.clock.now()
  const keyring = await deps.keyStore.keyring(workspaceId)
  const choices = isTimeOrder(request.sort) ? [] : await readChoices(deps, workspaceId, request.sort)
  const sortOrder: SortOrder = { language: 'en', ...request.sort, choices }
  const cursor = request.cursor === null ? null : parseListCursor(keyring, request.cursor, sortOrder, filter)
  const age = cursor === null ? Number.POSITIVE_INFINITY : now.getTime() - cursor.countedAt.getTime()
  const counted = cursor !== null && age >= 0 && age < totalTtlMs ? cursor : null
  const query: PageQuery = {
    filter,
    conditions: resolveConditions(filter.conditions ?? noConditions, now),
    term: filter.search === null ? null : parseSearchTerm(filter.search, user.masked, user.defaultCountry),
    sortOrder,
    after: cursor?.after ?? null,
    offset: cursor === null ? (request.page - 1) * limit : 0,
    // One more lead shows whether there is a next page.
    limit: limit + 1,
    needsTotal: counted === null,
  }
  const found = await find<R>(deps, keyring, workspaceId, query, view.columns(sql))
  const total = counted?.total ?? found.total ?? 0
  const after = lastPlace(found, request)
  const countedAt = counted?.countedAt ?? now
  const nextCursor =
    after === undefined ? null : writeListCursor(keyring, sortOrder, filter, { after, total, countedAt })
  const rows =
    'rows' in found
      ? found.rows.slice(0, limit)
      : await selectInOrder<R>(sql, workspaceId, found.places.slice(0, limit), view.columns(sql))
  return { leads: rows.map((row) => view.decrypt(keyring, row)), total, nextCursor }
}

/** Returns the last place of the page; undefined if no lead follows. */
function lastPlace(found: FoundPage<ListRow>, { limit, sort }: ListRequest): Place | undefined {
  if ('places' in found) return found.places.length > limit ? found.places[limit - 1] : undefined
  const last = found.rows.length > limit ? found.rows[limit - 1] : undefined
  return last && placeOf(last, sort.by)
}

async function find<R extends ListRow>(
  deps: ListDeps,
  keyring: Keyring,
  workspaceId: string,
  query: PageQuery,
  columns: Fragment,
): Promise<FoundPage<R>> {
  const { db, memoryIndexes, limits } = deps
  const found =
    (await findInMemory(deps, workspaceId, query)) ??
    (await findInDatabase<R>(db, keyring, workspaceId, query, columns, limits))
  if (found !== null) return found
  if (!needsDatabase(query.filter) && memoryIndexes?.isLoading(workspaceId)) {
    throw conflict('The leads are being loaded into memory for this sort or filter; try again in a few seconds', {
      code: 'LIST_NOT_READY',
    })
  }
  throw unprocessable(
    'Too many leads for this sort or filter; filter by date, status or assignee, or increase PARLEY_SEARCH_MEMORY',
    { code: 'LIST_TOO_LARGE' },
  )
}

const findInMemory = async (
  { memoryIndexes }: ListDeps,
  workspaceId: string,
  query: PageQuery,
): Promise<PageResult | null> =>
  memoryIndexes === undefined || needsDatabase(query.filter) ? null : memoryIndexes.find(workspaceId, query)

/** Returns the newest leads that match a search text, without the total. */
export async function findNewestLeads(deps: ListDeps, user: LeadUser, search: string, limit: number): Promise<Lead[]> {
  const term = parseSearchTerm(search, user.masked, user.defaultCountry)
  if (term === null) return []
  const { workspaceId } = user
  const keyring = await deps.keyStore.keyring(workspaceId)
  const sortOrder = { by: 'createdAt', order: 'desc', language: 'en', choices: [] } as const
  const query = {
    ...{ filter: { ...noFilter, search }, conditions: noConditions, term, sortOrder },
    ...{ after: null, offset: 0, limit, needsTotal: false },
  }
  const { places } =
    (await findInMemory(deps, workspaceId, query)) ??
    (await findMatches(deps.db.sql, keyring, { ...query, workspaceId }, query))
  const rows = await selectInOrder<LeadRow>(deps.db.sql, workspaceId, places, leadColumns(deps.db.sql))
  return rows.map((row) => decryptLead(keyring, row))
}

/** Returns the values of the choice column that the list is sorted by, in their order. */
async function readChoices(
  { db, keyStore }: ListDeps,
  workspaceId: string,
  { by, language = 'en' }: ListRequest['sort'],
): Promise<readonly string[]> {
  if (by === 'status') {
    const [row] = await db.sql<{ lead_statuses: string[] }[]>`
      select lead_statuses
      from workspaces
      where id = ${workspaceId}`
    return row?.lead_statuses ?? []
  }
  if (by.startsWith('field:')) {
    const [row] = await db.sql<{ choices: string[] }[]>`
      select choices
      from lead_fields
      where workspace_id = ${workspaceId}
        and key = ${by.slice('field:'.length)}
        and type = 'select'`
    return row?.choices ?? []
  }
  if (by !== 'assignedTo') return fixedChoices[by as keyof typeof fixedChoices] ?? []
  const members = await listMembers(db.sql, workspaceId, await keyStore.keyring(instanceScope))
  return members
    .map(({ userId, name }) => ({ userId, key: collationKey(name, language) }))
    .sort((a, b) => (a.key === b.key ? (a.userId < b.userId ? -1 : 1) : a.key < b.key ? -1 : 1))
    .map(({ userId }) => userId)
}

/** Returns the leads in the order of the places. Skips leads deleted since, which does not end the paging. */
async function selectInOrder<R extends ListRow>(
  sql: Sql,
  workspaceId: string,
  places: readonly Place[],
  columns: Fragment,
): Promise<R[]> {
  if (places.length === 0) return []
  const ids = places.map(({ id }) => id)
  const byId = new Map((await findLeadsByIds<R>(sql, workspaceId, ids, columns)).map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** Maximum number of leads to sort, or decrypt, for one page. Beyond it, only the memory index can answer. */
const defaultLimits = { maxSorted: 100_000, maxOpened: 20_000 }

/** A row in the order of a time; times may be in the database's text format. */
interface TimedRow {
  id: string
  createdAt: Date | string
  updatedAt: Date | string
}

/** The rows themselves where they were read along with their places. */
type FoundPage<R> = PageResult | { rows: R[]; total: number | null }

/**
 * Returns a page from the database: by an index with the requested order, by search tokens, or by reading all matching
 * leads. Returns null if there are too many of these.
 */
async function findInDatabase<R extends TimedRow>(
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
    if (needsNoDecryption) {
      const [rows, total] = await Promise.all([
        selectRows<R>(sql, workspaceId, { ...query, sortOrder }, columns),
        query.needsTotal ? countLeads(sql, workspaceId, query) : null,
      ])
      return { rows, total }
    }
    const isSearched = term !== null && conditions.list.length === 0
    if (isSearched) return searchPage(sql, keyring, { ...query, workspaceId, term, sortOrder })
  }
  if (needsNoDecryption && isPlainOrder(sortOrder)) return sortInDatabase(sql, workspaceId, query, maxSorted)
  return db.inBulk(() => decryptAndSort(sql, keyring, workspaceId, query, maxOpened))
}

/** Returns the place of a row in the order of a time. */
const placeOf = (row: TimedRow, by: SortOrder['by']): Place => {
  return { id: row.id, key: new Date(by === 'createdAt' ? row.createdAt : row.updatedAt).getTime() }
}

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
