import type { Sql } from '../base/db.ts'
import type { Keyring } from '../base/keyring.ts'
import type { Lead, LeadDeps, LeadUser } from './lead.ts'
import { readListCursor, totalLastsMs, writeListCursor } from './list-cursor.ts'
import {
  afterCondition,
  filterCondition,
  type LeadFilter,
  type LeadSort,
  type Slice,
  type SortPosition,
  sortClause,
} from './list-filter.ts'
import { leadColumns } from './queries.ts'
import { type LeadRow, openLead } from './sealed.ts'
import { countMatches, findMatches } from './search.ts'
import { readSearchTerm } from './search-lines.ts'

export interface ListRequest {
  filter: LeadFilter
  sort: LeadSort
  limit: number
  /** Counted from 1; without meaning when there is a cursor. */
  page: number
  cursor: string | null
}

export interface LeadPage {
  leads: Lead[]
  total: number
  nextCursor: string | null
}

/** One page of a list with its exact total. A walk by cursor may repeat the total of its first page for a minute. */
export async function listLeads(deps: LeadDeps, user: LeadUser, request: ListRequest): Promise<LeadPage> {
  const { filter, sort, limit } = request
  const now = deps.clock.now()
  const cursor = request.cursor === null ? null : readListCursor(request.cursor, sort, filter)
  const keyring = await deps.vault.keyring(user.workspaceId)
  const slice: Slice = {
    after: cursor?.after ?? null,
    offset: cursor === null ? (request.page - 1) * limit : 0,
    limit: limit + 1,
  }
  const age = cursor === null ? Number.POSITIVE_INFINITY : now.getTime() - cursor.countedAt.getTime()
  const counted = cursor !== null && age >= 0 && age < totalLastsMs ? cursor : null
  const { rows, total } = await fetchPage(
    deps.db.sql,
    keyring,
    user.workspaceId,
    request,
    slice,
    counted?.total ?? null,
  )
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const nextCursor =
    last === undefined || rows.length <= limit
      ? null
      : writeListCursor(sort, filter, { after: positionOf(last, sort), total, countedAt: counted?.countedAt ?? now })
  return { leads: shown.map((row) => openLead(keyring, row)), total, nextCursor }
}

async function fetchPage(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  { filter, sort }: ListRequest,
  slice: Slice,
  knownTotal: number | null,
): Promise<{ rows: LeadRow[]; total: number }> {
  const term = filter.search === null ? null : readSearchTerm(filter.search)
  if (term !== null) {
    const search = { workspaceId, filter, sort, term }
    if (knownTotal === null && slice.after === null) return findMatches(sql, keyring, search, slice)
    const total = knownTotal ?? (await countMatches(sql, keyring, search))
    return { rows: (await findMatches(sql, keyring, search, slice)).rows, total }
  }
  const [rows, total] = await Promise.all([
    selectRows(sql, workspaceId, filter, sort, slice),
    knownTotal ?? countLeads(sql, workspaceId, filter),
  ])
  return { rows, total }
}

async function selectRows(
  sql: Sql,
  workspaceId: string,
  filter: LeadFilter,
  sort: LeadSort,
  { after, offset, limit }: Slice,
): Promise<LeadRow[]> {
  return sql<LeadRow[]>`
    select ${leadColumns(sql)}
    from leads l
    where ${filterCondition(sql, workspaceId, filter)}
      ${after === null ? sql`` : afterCondition(sql, sort, after)}
    order by ${sortClause(sql, sort)}
    limit ${limit}
    offset ${offset}`
}

async function countLeads(sql: Sql, workspaceId: string, filter: LeadFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::integer as total
    from leads l
    where ${filterCondition(sql, workspaceId, filter)}`
  return row?.total ?? 0
}

function positionOf(row: LeadRow, sort: LeadSort): SortPosition {
  return { time: sort.by === 'createdAt' ? row.created_at : row.updated_at, id: row.id }
}
