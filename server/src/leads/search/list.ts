import { listMembers } from '../../auth/users/members.ts'
import type { Sql } from '../../base/db.ts'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { conflict, unprocessable } from '../../base/errors.ts'
import { type LeadRow, openLead } from '../lead/encrypted-lead.ts'
import type { Lead, LeadDeps, LeadUser } from '../lead/lead.ts'
import { findLeadsByIds } from '../lead/queries.ts'
import { readSearchTerm } from '../lead/search-lines.ts'
import { type FoundRows, findInDatabase } from './database.ts'
import { noConditions } from './filter-sql.ts'
import { readListCursor, writeListCursor } from './list-cursor.ts'
import { type Found, isForDatabase, isTimely, type LeadFilter, noFilter, type Wanted } from './list-filter.ts'
import type { MemoryIndexes } from './memory-index/client.ts'
import { findMatches } from './search.ts'
import { resolved } from './sorted/conditions.ts'
import { type Arrangement, collationKey, fixedChoices, type Place } from './sorted/order.ts'

export interface ListDeps extends LeadDeps {
  /** Answers for large workspaces from memory; if absent, the database answers everything. */
  memoryIndexes?: MemoryIndexes
  /** Maximum number of leads that the database sorts without an index, and that are decrypted for a page. */
  most?: { maxSorted: number; maxOpened: number }
}

export interface ListRequest {
  filter: LeadFilter
  sort: Pick<Arrangement, 'by' | 'order'> & { language?: Arrangement['language'] }
  limit: number
  /** Page number from 1; ignored if there is a cursor. */
  page: number
  cursor: string | null
}

export interface LeadPage {
  leads: Lead[]
  total: number
  nextCursor: string | null
}

/** How long pages reached by cursor may repeat the total of the first page. */
const totalLastsMs = 60_000

/** Returns a page of leads and the exact total. Pages reached by cursor may repeat the first total for a minute. */
export async function listLeads(deps: ListDeps, user: LeadUser, request: ListRequest): Promise<LeadPage> {
  const { filter, limit } = request
  const { workspaceId } = user
  const now = deps.clock.now()
  const keyring = await deps.keyStore.keyring(workspaceId)
  const choices = isTimely(request.sort) ? [] : await choicesOf(deps, workspaceId, request.sort)
  const arrangement: Arrangement = { language: 'en', ...request.sort, choices }
  const cursor = request.cursor === null ? null : readListCursor(keyring, request.cursor, arrangement, filter)
  const age = cursor === null ? Number.POSITIVE_INFINITY : now.getTime() - cursor.countedAt.getTime()
  const counted = cursor !== null && age >= 0 && age < totalLastsMs ? cursor : null
  const found = await find(deps, keyring, workspaceId, {
    filter,
    conditions: resolved(filter.conditions ?? noConditions, now),
    term: filter.search === null ? null : readSearchTerm(filter.search, user.masked, user.defaultCountry),
    arrangement,
    after: cursor?.after ?? null,
    offset: cursor === null ? (request.page - 1) * limit : 0,
    // One more lead shows whether there is a next page.
    limit: limit + 1,
    needsTotal: counted === null,
  })
  const total = counted?.total ?? found.total ?? 0
  const after = found.places.length <= limit ? undefined : found.places[limit - 1]
  const countedAt = counted?.countedAt ?? now
  const nextCursor =
    after === undefined ? null : writeListCursor(keyring, arrangement, filter, { after, total, countedAt })
  const rows =
    found.rows?.slice(0, limit) ?? (await selectInOrder(deps.db.sql, workspaceId, found.places.slice(0, limit)))
  return { leads: rows.map((row) => openLead(keyring, row)), total, nextCursor }
}

async function find(deps: ListDeps, keyring: Keyring, workspaceId: string, wanted: Wanted): Promise<FoundRows> {
  const { db, memoryIndexes, most } = deps
  const found =
    (await findInMemory(deps, workspaceId, wanted)) ?? (await findInDatabase(db, keyring, workspaceId, wanted, most))
  if (found !== null) return found
  if (!isForDatabase(wanted.filter) && memoryIndexes?.isArranging(workspaceId)) {
    throw conflict('The leads are being loaded into memory for this sort or filter; try again in a few seconds', {
      code: 'LIST_NOT_READY',
    })
  }
  throw unprocessable(
    'Too many leads for this sort or filter; filter by date, status or assignee, or increase PARLEY_SEARCH_MEMORY',
    { code: 'LIST_TOO_LARGE' },
  )
}

const findInMemory = async ({ memoryIndexes }: ListDeps, workspaceId: string, wanted: Wanted): Promise<Found | null> =>
  memoryIndexes === undefined || isForDatabase(wanted.filter) ? null : memoryIndexes.find(workspaceId, wanted)

/** Returns the newest leads that match a search text, without the total. */
export async function findNewestLeads(deps: ListDeps, user: LeadUser, search: string, limit: number): Promise<Lead[]> {
  const term = readSearchTerm(search, user.masked, user.defaultCountry)
  if (term === null) return []
  const { workspaceId } = user
  const keyring = await deps.keyStore.keyring(workspaceId)
  const arrangement = { by: 'createdAt', order: 'desc', language: 'en', choices: [] } as const
  const wanted = {
    ...{ filter: { ...noFilter, search }, conditions: noConditions, term, arrangement },
    ...{ after: null, offset: 0, limit, needsTotal: false },
  }
  const { places } =
    (await findInMemory(deps, workspaceId, wanted)) ??
    (await findMatches(deps.db.sql, keyring, { ...wanted, workspaceId }, wanted))
  const rows = await selectInOrder(deps.db.sql, workspaceId, places)
  return rows.map((row) => openLead(keyring, row))
}

/** Returns the values of the choice column that the list is sorted by, in their order. */
async function choicesOf(
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
async function selectInOrder(sql: Sql, workspaceId: string, places: readonly Place[]): Promise<LeadRow[]> {
  if (places.length === 0) return []
  const ids = places.map(({ id }) => id)
  const byId = new Map((await findLeadsByIds(sql, workspaceId, ids)).map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
