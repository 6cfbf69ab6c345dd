import type { Clock } from '../base/clock.ts'
import type { Db, Tx } from '../base/db.ts'
import { type ErasureScope, type ErasureStep, goOn, mentionFinder } from '../base/erasure.ts'
import { forbidden, notFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import type { Keyring } from '../base/sealing/keyring.ts'
import type { Vault } from '../base/sealing/vault.ts'
import { type Member, roleCovers } from '../team/member.ts'
import { addItem, changeItem, deleteItem, type OwnedList, refuseWhenFull } from './owned-list.ts'
import { lockWorkspace } from './workspace.ts'

export const filterPages = ['inbox', 'leads'] as const
export type FilterPage = (typeof filterPages)[number]

/** A way of looking at a page, under a name. */
export interface SavedFilter {
  id: string
  /** Whose it is; null: everybody's. */
  userId: string | null
  page: FilterPage
  name: string
  /** The query of the page's address. */
  query: string
  createdAt: Date
  updatedAt: Date
}

export interface FilterDeps {
  db: Db
  vault: Vault
  clock: Clock
}

const savedFilters: OwnedList = {
  item: 'saved_filter',
  table: (sql) => sql`saved_filters`,
  owner: (sql) => sql`user_id`,
  most: 100,
  isFull: 'There are 100 filters already. Delete one first.',
  isMissing: 'Saved filter not found',
}

interface FilterRow {
  id: string
  user_id: string | null
  page: FilterPage
  content: Buffer
  created_at: Date
  updated_at: Date
}

const filterPlace = (id: string) => ({ table: 'saved_filters', row: id, column: 'content' })

/** The member's own and everybody's, in the order that the member has set; what is not in it follows by name. */
export async function listSavedFilters({ db, vault }: FilterDeps, by: Member): Promise<SavedFilter[]> {
  const rows = await db.sql<(FilterRow & { place: number | null })[]>`
    select f.id, f.user_id, f.page, f.content, f.created_at, f.updated_at, array_position(o.filter_ids, f.id) as place
    from saved_filters f
    left join saved_filter_orders o
      on o.workspace_id = ${by.workspaceId}
      and o.user_id = ${by.userId}
      and o.page = f.page
    where f.workspace_id = ${by.workspaceId}
      and (f.user_id is null or f.user_id = ${by.userId})`
  const places = new Map(rows.map(({ id, place }) => [id, place ?? Number.POSITIVE_INFINITY]))
  const byPlace = (a: SavedFilter, b: SavedFilter) => {
    const [first = 0, second = 0] = [places.get(a.id), places.get(b.id)]
    return first === second ? 0 : first - second
  }
  const filters = await vault.withKeyring(by.workspaceId, async (keyring) => rows.map((row) => open(keyring, row)))
  return filters.sort((a, b) => byPlace(a, b) || a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1))
}

/** Sets in which order the member sees the filters of a page; ids that are none of theirs mean nothing. */
export async function orderSavedFilters(
  { db }: FilterDeps,
  by: Member,
  page: FilterPage,
  ids: readonly string[],
): Promise<void> {
  if (by.userId === null) throw forbidden('A token has no order of its own. Sign in to set one.')
  await db.sql`
    insert into saved_filter_orders (workspace_id, user_id, page, filter_ids)
    values (${by.workspaceId}, ${by.userId}, ${page}, ${[...new Set(ids)]}::uuid[])
    on conflict (workspace_id, user_id, page)
    do update set filter_ids = excluded.filter_ids`
}

/** One of the member's own, or of everybody's, which is an admin's to make. At most 100 of each (409). */
export async function createSavedFilter(
  { db, vault, clock }: FilterDeps,
  by: Member,
  { shared, page, name, query }: Pick<SavedFilter, 'page' | 'name' | 'query'> & { shared: boolean },
): Promise<SavedFilter> {
  const userId = ownerOf(by, shared)
  return vault.withKeyring(by.workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const now = clock.now()
      const filter = { id: newId(now), userId, page, name: name.trim(), query, createdAt: now, updatedAt: now }
      const insert = () => tx`
        insert into saved_filters (workspace_id, id, user_id, page, content, created_at, updated_at)
        values (${by.workspaceId}, ${filter.id}, ${userId}, ${page}, ${seal(keyring, filter)}, ${now}, ${now})`
      await addItem(tx, savedFilters, { by, id: filter.id, now }, insert, userId)
      return filter
    }),
  )
}

export async function changeSavedFilter(
  { db, vault, clock }: FilterDeps,
  by: Member,
  id: string,
  patch: { name?: string; query?: string; shared?: boolean },
): Promise<SavedFilter> {
  return vault.withKeyring(by.workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const now = clock.now()
      // Before the filter, in the order of whoever makes one.
      if (patch.shared !== undefined) await lockWorkspace(tx, by.workspaceId)
      const before = open(keyring, await lockFilter(tx, by, id))
      const userId = patch.shared === undefined ? before.userId : ownerOf(by, patch.shared)
      if (userId !== before.userId) await refuseWhenFull(tx, savedFilters, by.workspaceId, userId)
      const { name = before.name, query = before.query } = patch
      const filter = { ...before, userId, name: name.trim(), query, updatedAt: now }
      const update = () => tx<{ id: string }[]>`
        update saved_filters
        set user_id = ${userId},
          content = ${seal(keyring, filter)},
          updated_at = ${now}
        where workspace_id = ${by.workspaceId}
          and id = ${id}
        returning id`
      await changeItem(tx, savedFilters, { by, id, now }, update, before.userId === null || userId === null)
      return filter
    }),
  )
}

export async function deleteSavedFilter({ db, clock }: FilterDeps, by: Member, id: string): Promise<void> {
  await db.tx(async (tx) => {
    const row = await lockFilter(tx, by, id)
    await deleteItem(tx, savedFilters, { by, id, now: clock.now() }, row.user_id === null)
  })
}

/** Throws 404 for another member's, and 403 when everybody's is not the caller's to change. */
async function lockFilter(tx: Tx, by: Member, id: string): Promise<FilterRow> {
  const [row] = await tx<FilterRow[]>`
    select id, user_id, page, content, created_at, updated_at
    from saved_filters
    where workspace_id = ${by.workspaceId}
      and id = ${id}
      and (user_id is null or user_id = ${by.userId})
    for update`
  if (row === undefined) throw notFound(savedFilters.isMissing)
  if (row.user_id === null) requireAdmin(by)
  return row
}

function ownerOf(by: Member, shared: boolean): string | null {
  if (shared) {
    requireAdmin(by)
    return null
  }
  if (by.userId === null) throw forbidden('A token has no filters of its own. Make one for everybody.')
  return by.userId
}

function requireAdmin({ role }: Member): void {
  if (!roleCovers(role, 'admin')) throw forbidden('Only an admin changes the filters of everybody')
}

function seal(keyring: Keyring, { id, name, query }: Pick<SavedFilter, 'id' | 'name' | 'query'>): Buffer {
  return keyring.seal(filterPlace(id), JSON.stringify({ name, query }))
}

function open(keyring: Keyring, row: FilterRow): SavedFilter {
  const content = JSON.parse(keyring.openText(filterPlace(row.id), row.content)) as Pick<SavedFilter, 'name' | 'query'>
  const { id, user_id: userId, page, created_at: createdAt, updated_at: updatedAt } = row
  return { id, userId, page, ...content, createdAt, updatedAt }
}

/** Erases saved filters that look for the customer by phone or e-mail, or are named so. */
export async function eraseFilters(tx: Tx, { workspaceId, keyring, customer }: ErasureScope): Promise<ErasureStep> {
  const mentions = mentionFinder(customer)
  const rows = await tx<{ id: string; content: Buffer }[]>`
    select id, content
    from saved_filters
    where workspace_id = ${workspaceId}`
  const ids = rows.flatMap(({ id, content }) => {
    const { name, query } = JSON.parse(keyring.openText(filterPlace(id), content)) as { name: string; query: string }
    const texts = [name, ...new URLSearchParams(query).values()]
    return texts.some(mentions) ? id : []
  })
  if (ids.length === 0) return goOn({}, false)
  await tx`
    delete from saved_filters
    where workspace_id = ${workspaceId}
      and id = any (${ids}::uuid[])`
  return goOn({ savedFilters: ids.length }, false)
}
