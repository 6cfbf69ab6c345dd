import { createHash } from 'node:crypto'
import { listMembers } from '../../../access/users/members.ts'
import { decodeCursor, encodeCursor } from '../../../base/cursor.ts'
import { badRequest, conflict, unprocessable } from '../../../base/errors.ts'
import { isUuid } from '../../../base/id.ts'
import type { Keyring } from '../../../base/sealing/keyring.ts'
import { instanceScope } from '../../../base/sealing/vault.ts'
import type { LeadUser } from '../../lead/lead.ts'
import { findLeadsByIds } from '../../lead/queries.ts'
import { openLead } from '../../lead/sealed.ts'
import { readSearchTerm } from '../../lead/search-lines.ts'
import { totalLastsMs } from '../list-cursor.ts'
import { filterDigest, isForDatabase, type LeadFilter, type LeadSort } from '../list-filter.ts'
import type { LeadPage, ListDeps, ListRequest } from '../list-page.ts'
import { collationKey } from './collation.ts'
import { type Conditions, resolved } from './conditions.ts'
import { type ArrangedList, maxOpened, openPlaces } from './opened.ts'
import { type Arrangement, comparePlaces, fixedChoices, type Place, type PlaceKey } from './order.ts'
import { arePlain, countPlain, isPlainOrder, maxSorted, selectPlacesByTime, sortPlaces } from './plain.ts'

/** One page of a list in any order, or narrowed by any column. Filters of the leads interface hold beside the conditions. */
export async function listArranged(deps: ListDeps, user: LeadUser, request: ArrangedRequest): Promise<LeadPage> {
  const { filter, limit } = request
  const { workspaceId } = user
  const now = deps.clock.now()
  const keyring = await deps.vault.keyring(workspaceId)
  const arrangement = { ...request.sort, choices: await choicesOf(deps, workspaceId, request.sort) }
  const cursor = request.cursor === null ? null : readArrangedCursor(keyring, request.cursor, arrangement, filter)
  const age = cursor === null ? Number.POSITIVE_INFINITY : now.getTime() - cursor.countedAt.getTime()
  const counted = cursor !== null && age >= 0 && age < totalLastsMs ? cursor : null
  const list: ArrangedList = {
    filter,
    conditions: resolved(filter.conditions ?? noConditions, now),
    term: filter.search === null ? null : readSearchTerm(filter.search, user.masked, user.defaultCountry),
    arrangement,
  }
  const slice: ArrangedSlice = {
    after: cursor?.after ?? null,
    offset: cursor === null ? (request.page - 1) * limit : 0,
    limit: limit + 1,
    knownTotal: counted?.total ?? null,
  }
  const { places, total } =
    (await fromMemory(deps, workspaceId, list, slice)) ??
    (isPlain(list)
      ? await fromDatabase(deps, workspaceId, list, slice)
      : await fromOpened(deps, keyring, workspaceId, list, slice))
  const last = places.length <= limit ? undefined : places[limit - 1]
  const countedAt = counted?.countedAt ?? now
  const nextCursor =
    last === undefined ? null : writeArrangedCursor(keyring, arrangement, filter, { after: last, total, countedAt })
  const ids = places.slice(0, limit).map(({ id }) => id)
  const byId = new Map((await findLeadsByIds(deps.db.sql, workspaceId, ids)).map((row) => [row.id, row]))
  // One that was deleted since is left out, and does not end the walk.
  const rows = ids.flatMap((id) => byId.get(id) ?? [])
  return { leads: rows.map((row) => openLead(keyring, row)), total, nextCursor }
}

export interface ArrangedRequest extends Omit<ListRequest, 'sort'> {
  sort: Omit<Arrangement, 'choices'>
}

export interface ArrangedSlice {
  after: Place | null
  offset: number
  limit: number
  knownTotal: number | null
}

interface Found {
  places: Place[]
  total: number
}

const noConditions: Conditions = { match: 'all', list: [] }

const isPlain = ({ conditions, arrangement, term }: ArrangedList): boolean =>
  term === null && isPlainOrder(arrangement) && arePlain(conditions)

/** The values of the choice that the list is sorted by, in their order. */
async function choicesOf(
  { db, vault }: ListDeps,
  workspaceId: string,
  { by, language }: Omit<Arrangement, 'choices'>,
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
  const members = await listMembers(db.sql, workspaceId, await vault.keyring(instanceScope))
  return members
    .map(({ userId, name }) => ({ userId, key: collationKey(name, language) }))
    .sort((a, b) => (a.key === b.key ? (a.userId < b.userId ? -1 : 1) : a.key < b.key ? -1 : 1))
    .map(({ userId }) => userId)
}

async function fromMemory(
  { memoryIndexes }: ListDeps,
  workspaceId: string,
  list: ArrangedList,
  slice: ArrangedSlice,
): Promise<Found | null> {
  if (memoryIndexes === undefined || isForDatabase(list.filter)) return null
  const { knownTotal, ...rest } = slice
  const answer = await memoryIndexes.arrange(workspaceId, { ...list, ...rest, needsTotal: knownTotal === null })
  return answer === null ? null : { places: answer.places, total: knownTotal ?? answer.total ?? 0 }
}

async function fromDatabase(
  deps: ListDeps,
  workspaceId: string,
  list: ArrangedList,
  slice: ArrangedSlice,
): Promise<Found> {
  const { sql } = deps.db
  const { arrangement } = list
  if (isTimely(arrangement)) {
    const [places, total] = await Promise.all([
      selectPlacesByTime(sql, workspaceId, { ...list, arrangement }, slice),
      slice.knownTotal ?? countPlain(sql, workspaceId, list.filter, list.conditions),
    ])
    return { places, total }
  }
  const found = await sortPlaces(sql, workspaceId, list, slice, deps.maxSorted ?? maxSorted)
  if (found === null) throw tooMany(isComing(deps, workspaceId, list))
  return { places: found.places, total: slice.knownTotal ?? found.total }
}

const isTimely = (arrangement: Arrangement): arrangement is Arrangement & LeadSort =>
  arrangement.by === 'createdAt' || arrangement.by === 'updatedAt'

/** Whether the index that would have the order is being built. */
const isComing = ({ memoryIndexes }: ListDeps, workspaceId: string, { filter }: ArrangedList): boolean =>
  !isForDatabase(filter) && (memoryIndexes?.isArranging(workspaceId) ?? false)

async function fromOpened(
  deps: ListDeps,
  keyring: Keyring,
  workspaceId: string,
  list: ArrangedList,
  { after, offset, limit, knownTotal }: ArrangedSlice,
): Promise<Found> {
  const most = deps.maxOpened ?? maxOpened
  const places = await deps.db.inBulk(() => openPlaces(deps.db.sql, keyring, workspaceId, list, most))
  if (places === null) throw tooMany(isComing(deps, workspaceId, list))
  const compare = comparePlaces(list.arrangement.order)
  const sorted = places.sort(compare)
  const start = after === null ? offset : firstBehind(sorted, after, compare)
  return { places: sorted.slice(start, start + limit), total: knownTotal ?? places.length }
}

function firstBehind(sorted: readonly Place[], after: Place, compare: (a: Place, b: Place) => number): number {
  const found = sorted.findIndex((place) => compare(place, after) > 0)
  return found === -1 ? sorted.length : found
}

const tooMany = (isSoonThere: boolean) =>
  isSoonThere
    ? conflict('The leads are being read into memory for this order or filter: ask again in a few seconds', {
        code: 'LIST_NOT_READY',
      })
    : unprocessable(
        'More leads than Parley keeps in memory for this order or filter: narrow the list by a date, a status or an assignee, or give the service more memory by PARLEY_SEARCH_MEMORY',
        { code: 'LIST_TOO_LARGE' },
      )

/** A place in a walk through an arranged list, with the total that its first page counted. */
interface ArrangedCursor {
  after: Place
  total: number
  countedAt: Date
}

/** What the list is sorted by may be a name: it is sealed. */
function writeArrangedCursor(
  keyring: Keyring,
  arrangement: Arrangement,
  filter: LeadFilter,
  { after, total, countedAt }: ArrangedCursor,
): string {
  const key = after.key === null ? '' : typeof after.key === 'number' ? `n${after.key}` : `t${after.key}`
  const sealed = keyring.seal(placeOf(after.id), key).toString('base64url')
  return encodeCursor([listOf(arrangement, filter), sealed, after.id, total, countedAt.getTime()])
}

/** Reads a cursor of this very order and filter; any other is malformed. */
function readArrangedCursor(
  keyring: Keyring,
  text: string,
  arrangement: Arrangement,
  filter: LeadFilter,
): ArrangedCursor {
  const [list, sealed, id, total, countedAt, extra] = decodeCursor(text) ?? []
  if (list !== listOf(arrangement, filter) || extra !== undefined) throw malformed()
  if (typeof sealed !== 'string' || typeof id !== 'string' || !isUuid(id)) throw malformed()
  if (!Number.isSafeInteger(total) || !Number.isSafeInteger(countedAt)) throw malformed()
  return {
    after: { key: openKey(keyring, id, sealed), id },
    total: Number(total),
    countedAt: new Date(Number(countedAt)),
  }
}

// Statuses and people may be given another order meanwhile, which the places that were reached know nothing of.
const listOf = ({ by, order, language, choices }: Arrangement, filter: LeadFilter): string => {
  const digest = createHash('sha256').update(JSON.stringify(choices)).digest('base64url').slice(0, 12)
  return `${by} ${order} ${language} ${filterDigest(filter)} ${digest}`
}

function openKey(keyring: Keyring, id: string, sealed: string): PlaceKey {
  try {
    const key = keyring.openText(placeOf(id), Buffer.from(sealed, 'base64url'))
    if (key === '') return null
    return key.startsWith('n') ? Number(key.slice(1)) : key.slice(1)
  } catch (cause) {
    throw Object.assign(malformed(), { cause })
  }
}

const placeOf = (id: string) => ({ table: 'leads', row: id, column: 'cursor' })
const malformed = () => badRequest('Invalid cursor format')
