import type { Sql } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Lead, LeadUser } from '../lead/lead.ts'
import { findLeadsByIds, leadColumns } from '../lead/queries.ts'
import { type LeadRow, openLead } from '../lead/sealed.ts'
import { readSearchTerm, type SearchTerm } from '../lead/search-lines.ts'
import { listArranged } from './arranged/list-arranged.ts'
import { readListCursor, totalLastsMs, writeListCursor } from './list-cursor.ts'
import {
  afterCondition,
  filterCondition,
  isForDatabase,
  isSeldom,
  type LeadFilter,
  type LeadSort,
  labelOf,
  leadsOf,
  noFilter,
  type Slice,
  type SortPosition,
  sortClause,
} from './list-filter.ts'
import type { LeadPage, ListDeps, ListRequest } from './list-page.ts'
import { countMatches, findMatches, probeMatches } from './search.ts'

/** One page of a list with its exact total. A walk by cursor may repeat the total of its first page for a minute. */
export async function listLeads(deps: ListDeps, user: LeadUser, request: ListRequest): Promise<LeadPage> {
  const { filter, sort, limit } = request
  if (!isTimely(sort) || filter.conditions !== undefined) {
    return listArranged(deps, user, { ...request, sort: { language: 'en', ...sort } })
  }
  const now = deps.clock.now()
  const cursor = request.cursor === null ? null : readListCursor(request.cursor, sort, filter)
  const keyring = await deps.vault.keyring(user.workspaceId)
  const slice: Slice = {
    after: cursor?.after ?? null,
    offset: cursor === null ? (request.page - 1) * limit : 0,
    // One more tells whether there is a next page.
    limit: limit + 1,
  }
  const age = cursor === null ? Number.POSITIVE_INFINITY : now.getTime() - cursor.countedAt.getTime()
  const counted = cursor !== null && age >= 0 && age < totalLastsMs ? cursor : null
  const wanted: Wanted = {
    workspaceId: user.workspaceId,
    filter,
    sort,
    slice,
    term: filter.search === null ? null : readSearchTerm(filter.search, user.masked, user.defaultCountry),
    knownTotal: counted?.total ?? null,
  }
  const found = (await fromMemoryIndex(deps, wanted)) ?? (await fromDatabase(deps.db.sql, keyring, wanted))
  const last = found.places.length <= limit ? undefined : found.places[limit - 1]
  const nextCursor =
    last === undefined
      ? null
      : writeListCursor(sort, filter, { after: last, total: found.total, countedAt: counted?.countedAt ?? now })
  const rows = await found.rows(limit)
  return { leads: rows.map((row) => openLead(keyring, row)), total: found.total, nextCursor }
}

const isTimely = (sort: ListRequest['sort']): sort is LeadSort => sort.by === 'createdAt' || sort.by === 'updatedAt'

const newestFirst = { by: 'createdAt', order: 'desc' } as const

/** The newest leads that a text finds, without counting how many it would find. */
export async function findNewestLeads(deps: ListDeps, user: LeadUser, search: string, limit: number): Promise<Lead[]> {
  const term = readSearchTerm(search, user.masked, user.defaultCountry)
  if (term === null) return []
  const keyring = await deps.vault.keyring(user.workspaceId)
  const { workspaceId } = user
  const slice = { after: null, offset: 0, limit }
  const wanted = { workspaceId, filter: { ...noFilter, search }, sort: newestFirst, term }
  const remembered = await fromMemoryIndex(deps, { ...wanted, slice, knownTotal: 0 })
  const rows =
    remembered === null
      ? await selectInOrder(deps.db.sql, workspaceId, (await findMatches(deps.db.sql, keyring, wanted, slice)).places)
      : await remembered.rows(limit)
  return rows.map((row) => openLead(keyring, row))
}

interface Wanted {
  workspaceId: string
  filter: LeadFilter
  sort: LeadSort
  slice: Slice
  term: SearchTerm | null
  knownTotal: number | null
}

interface FoundPage {
  /** Where the leads of the slice stood when they were found. */
  places: SortPosition[]
  /** The first so many of them. One that was deleted since is left out, and does not end the walk. */
  rows: (limit: number) => Promise<LeadRow[]>
  total: number
}

async function fromMemoryIndex({ db, memoryIndexes }: ListDeps, wanted: Wanted): Promise<FoundPage | null> {
  const { workspaceId, filter, sort, slice, term, knownTotal } = wanted
  if (memoryIndexes === undefined || isForDatabase(filter)) return null
  const after = slice.after === null ? null : { id: slice.after.id, time: slice.after.time.getTime() }
  const query = { ...slice, after, filter, sort, term, needsTotal: knownTotal === null }
  const answer = await memoryIndexes.find(workspaceId, query)
  if (answer === null) return null
  const places = answer.places.map(({ id, time }) => ({ id, time: new Date(time) }))
  const rows = (limit: number) => selectInOrder(db.sql, workspaceId, places.slice(0, limit))
  return { places, rows, total: knownTotal ?? answer.total ?? 0 }
}

async function fromDatabase(sql: Sql, keyring: Keyring, wanted: Wanted): Promise<FoundPage> {
  if (wanted.term !== null) return searchDatabase(sql, keyring, { ...wanted, term: wanted.term })
  const [rows, total] = await Promise.all([selectRows(sql, wanted), wanted.knownTotal ?? countLeads(sql, wanted)])
  const places = rows.map((row) => ({
    id: row.id,
    time: wanted.sort.by === 'createdAt' ? row.created_at : row.updated_at,
  }))
  return { places, rows: async (limit) => rows.slice(0, limit), total }
}

async function searchDatabase(
  sql: Sql,
  keyring: Keyring,
  { slice, knownTotal, ...search }: Wanted & { term: SearchTerm },
): Promise<FoundPage> {
  const page = (places: SortPosition[], total: number) => ({
    places,
    rows: (limit: number) => selectInOrder(sql, search.workspaceId, places.slice(0, limit)),
    total,
  })
  if (knownTotal !== null) {
    const places =
      (await probeMatches(sql, keyring, search, slice)) ?? (await findMatches(sql, keyring, search, slice)).places
    return page(places, knownTotal)
  }
  const { places, total } = await findMatches(sql, keyring, search, slice)
  return page(places, slice.after === null ? total : await countMatches(sql, keyring, search))
}

async function selectRows(sql: Sql, { workspaceId, filter, sort, slice }: Wanted): Promise<LeadRow[]> {
  const isOfFew = filter.labelIds !== undefined && (await isSeldom(sql, workspaceId, filter))
  return sql<LeadRow[]>`
    select ${leadColumns(sql)}
    from ${isOfFew ? leadsOf(sql, workspaceId, filter) : sql`leads l`}
    where ${filterCondition(sql, workspaceId, filter)}
      ${slice.after === null ? sql`` : afterCondition(sql, sort, slice.after)}
    order by ${sortClause(sql, sort)}
    limit ${slice.limit}
    offset ${slice.offset}`
}

async function countLeads(sql: Sql, { workspaceId, filter }: Wanted): Promise<number> {
  const { withoutLabelIds, ...others } = filter
  // Labels that are not there are looked at outside: what that costs would hide from the planner whether it reads the leads
  // by an index.
  const [row] =
    withoutLabelIds === undefined
      ? await sql<{ total: number }[]>`
        select count(*)::integer as total
        from ${leadsOf(sql, workspaceId, filter)}
        where ${filterCondition(sql, workspaceId, filter)}`
      : await sql<{ total: number }[]>`
        select count(*)::integer as total
        from (
          select l.id
          from ${leadsOf(sql, workspaceId, others)}
          where ${filterCondition(sql, workspaceId, others)}
          offset 0
        ) as l
        where ${labelOf(sql, workspaceId, withoutLabelIds)} is null`
  return row?.total ?? 0
}

/** The leads that are still there, in the order in which they were found. */
async function selectInOrder(sql: Sql, workspaceId: string, places: readonly SortPosition[]): Promise<LeadRow[]> {
  if (places.length === 0) return []
  const ids = places.map(({ id }) => id)
  const byId = new Map((await findLeadsByIds(sql, workspaceId, ids)).map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
