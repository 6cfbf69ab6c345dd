import { type Static, Type } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Db, Sql, Tx } from '../base/db.ts'
import type { KeyStore } from '../base/encryption/key-store.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { createMentionTest, createStep, type ErasureScope, type ErasureStep } from '../base/erasure.ts'
import { forbidden, notFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { type App, oneOf, timestamp } from '../base/route.ts'
import { visiblePattern } from '../base/schema-types.ts'
import { withIsoTimes } from '../base/time.ts'
import { type Member, roleCovers, type TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'
import { addItem, changeItem, deleteItem, type OwnedList, refuseIfFull } from './owned-list.ts'
import { lockWorkspace } from './workspace.ts'

const filterPages = ['inbox', 'leads', 'reports'] as const
type FilterPage = (typeof filterPages)[number]

/** A named view of a page. */
interface SavedFilter {
  id: string
  /** The owner; null for shared filters. */
  userId: string | null
  page: FilterPage
  name: string
  /** Query string of the page. */
  query: string
  createdAt: Date
  updatedAt: Date
}

interface FilterDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
}

const savedFilters: OwnedList = {
  item: 'saved_filter',
  table: (sql) => sql`saved_filters`,
  owner: (sql) => sql`user_id`,
  maxItems: 100,
  fullMessage: 'There are 100 filters already. Delete one first.',
  notFoundMessage: 'Saved filter not found',
}

type FilterRow = Omit<SavedFilter, 'name' | 'query'> & { content: Buffer }

const columns = (sql: Sql) => sql`
  f.id, f.user_id as "userId", f.page, f.content, f.created_at as "createdAt", f.updated_at as "updatedAt"`

const filterContext = (id: string) => ({ table: 'saved_filters', row: id, column: 'content' })

/** Returns the member's own and shared filters, in the member's order; others follow sorted by name. */
async function listSavedFilters({ db, keyStore }: FilterDeps, by: Member): Promise<SavedFilter[]> {
  const rows = await db.sql<(FilterRow & { place: number | null })[]>`
    select ${columns(db.sql)}, array_position(o.filter_ids, f.id) as place
    from saved_filters f
    left join saved_filter_orders o
      on o.workspace_id = ${by.workspaceId}
      and o.user_id = ${by.userId}
      and o.page = f.page
    where f.workspace_id = ${by.workspaceId}
      and (f.user_id is null or f.user_id = ${by.userId})`
  const positions = new Map(rows.map(({ id, place }) => [id, place ?? Number.POSITIVE_INFINITY]))
  const comparePositions = (a: SavedFilter, b: SavedFilter) => {
    const [first = 0, second = 0] = [positions.get(a.id), positions.get(b.id)]
    return first === second ? 0 : first - second
  }
  const filters = await keyStore.withKeyring(by.workspaceId, async (keyring) =>
    rows.map(({ place: _, ...row }) => decryptFilter(keyring, row)),
  )
  return filters.sort((a, b) => comparePositions(a, b) || a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1))
}

/** Returns a filter that a person can see; undefined if there is none. For work on their behalf. */
export async function findSavedFilter(
  { db, keyStore }: Pick<FilterDeps, 'db' | 'keyStore'>,
  workspaceId: string,
  userId: string,
  id: string,
): Promise<SavedFilter | undefined> {
  const [row] = await db.sql<FilterRow[]>`
    select ${columns(db.sql)}
    from saved_filters f
    where f.workspace_id = ${workspaceId}
      and f.id = ${id}
      and (f.user_id is null or f.user_id = ${userId})`
  if (row === undefined) return undefined
  return keyStore.withKeyring(workspaceId, async (keyring) => decryptFilter(keyring, row))
}

/** Stores the member's order of a page's filters. Unknown ids are ignored. */
async function orderSavedFilters(
  { db }: FilterDeps,
  by: Member,
  page: FilterPage,
  ids: readonly string[],
): Promise<void> {
  if (by.userId === null) throw forbidden('Tokens cannot order filters. Sign in as a member.')
  await db.sql`
    insert into saved_filter_orders (workspace_id, user_id, page, filter_ids)
    values (${by.workspaceId}, ${by.userId}, ${page}, ${[...new Set(ids)]}::uuid[])
    on conflict (workspace_id, user_id, page)
    do update set filter_ids = excluded.filter_ids`
}

/** Creates an own filter, or a shared one, for admins. At most 100 of each (409). */
async function createSavedFilter(
  { db, keyStore, clock }: FilterDeps,
  by: Member,
  { shared = false, page, name, query }: Static<typeof NewFilter>,
): Promise<SavedFilter> {
  const userId = ownerOf(by, shared)
  return keyStore.withKeyring(by.workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const now = clock.now()
      const filter = { id: newId(now), userId, page, name: name.trim(), query, createdAt: now, updatedAt: now }
      const { name: _, query: _query, ...row } = filter
      await addItem(tx, savedFilters, { by, now }, { ...row, content: encryptFilter(keyring, filter) }, userId)
      return filter
    }),
  )
}

async function changeSavedFilter(
  { db, keyStore, clock }: FilterDeps,
  by: Member,
  id: string,
  patch: Static<typeof FilterPatch>,
): Promise<SavedFilter> {
  return keyStore.withKeyring(by.workspaceId, (keyring) =>
    db.tx(async (tx) => {
      const now = clock.now()
      // Lock the workspace before the filter, in the same order as creating one.
      if (patch.shared !== undefined) await lockWorkspace(tx, by.workspaceId)
      const before = decryptFilter(keyring, await lockFilter(tx, by, id))
      const userId = patch.shared === undefined ? before.userId : ownerOf(by, patch.shared)
      if (userId !== before.userId) await refuseIfFull(tx, savedFilters, by.workspaceId, userId)
      const { name = before.name, query = before.query } = patch
      const filter = { ...before, userId, name: name.trim(), query, updatedAt: now }
      const values = { userId, content: encryptFilter(keyring, filter), updatedAt: now }
      const isShared = before.userId === null || userId === null
      await changeItem(tx, savedFilters, { by, id, now }, values, tx`id`, isShared)
      return filter
    }),
  )
}

async function deleteSavedFilter({ db, clock }: FilterDeps, by: Member, id: string): Promise<void> {
  await db.tx(async (tx) => {
    const row = await lockFilter(tx, by, id)
    await deleteItem(tx, savedFilters, { by, id, now: clock.now() }, row.userId === null)
  })
}

/** Throws 404 for another member's filter, and 403 for a shared one that the caller may not change. */
async function lockFilter(tx: Tx, by: Member, id: string): Promise<FilterRow> {
  const [row] = await tx<FilterRow[]>`
    select ${columns(tx)}
    from saved_filters f
    where f.workspace_id = ${by.workspaceId}
      and f.id = ${id}
      and (f.user_id is null or f.user_id = ${by.userId})
    for update`
  if (row === undefined) throw notFound(savedFilters.notFoundMessage)
  if (row.userId === null) requireAdmin(by)
  return row
}

function ownerOf(by: Member, shared: boolean): string | null {
  if (shared) {
    requireAdmin(by)
    return null
  }
  if (by.userId === null) throw forbidden('Tokens cannot have filters of their own. Create a shared filter.')
  return by.userId
}

function requireAdmin({ role }: Member): void {
  if (!roleCovers(role, 'admin')) throw forbidden('Only admins can change shared filters')
}

/** The encrypted part of a filter. */
type FilterContent = Pick<SavedFilter, 'name' | 'query'>

function encryptFilter(keyring: Keyring, { id, name, query }: SavedFilter): Buffer {
  return keyring.encrypt(filterContext(id), JSON.stringify({ name, query }))
}

function decryptFilter(keyring: Keyring, { content, ...row }: FilterRow): SavedFilter {
  return { ...row, ...(JSON.parse(keyring.decryptText(filterContext(row.id), content)) as FilterContent) }
}

/** Erases saved filters that search for the customer's phone or e-mail, or have them in their name. */
export async function eraseFilters(tx: Tx, { workspaceId, keyring, customer }: ErasureScope): Promise<ErasureStep> {
  const mentions = createMentionTest(customer)
  const rows = await tx<{ id: string; content: Buffer }[]>`
    select id, content
    from saved_filters
    where workspace_id = ${workspaceId}`
  const ids = rows.flatMap(({ id, content }) => {
    const { name, query } = JSON.parse(keyring.decryptText(filterContext(id), content)) as FilterContent
    const texts = [name, ...new URLSearchParams(query).values()]
    return texts.some(mentions) ? id : []
  })
  if (ids.length === 0) return createStep({}, false)
  await tx`
    delete from saved_filters
    where workspace_id = ${workspaceId}
      and id = any (${ids}::uuid[])`
  return createStep({ savedFilters: ids.length }, false)
}

const path = '/api/team/v1/workspaces/:workspaceId/saved-filters'
const filterParams = Type.Object({ ...workspaceParams, filterId: idSchema('The saved filter.') })

const page = oneOf(filterPages, { description: 'Page on which it is used.', example: 'inbox' })
const fields = {
  name: Type.String({ minLength: 1, maxLength: 80, pattern: visiblePattern, example: 'Waiting for me' }),
  query: Type.String({
    maxLength: 2000,
    pattern: '^[^?#\\s]*$',
    description: 'Query string of the page, without the `?`.',
    example: 'view=mine&sort=waiting',
  }),
}
const shared = Type.Boolean({
  description: 'Whether it is shared with all members. Only admins can set it.',
  example: false,
})

const Filter = Type.Object(
  {
    id: idSchema('The saved filter.'),
    page,
    ...fields,
    shared,
    createdAt: timestamp('Creation time.'),
    updatedAt: timestamp('Time of the last change.'),
  },
  { title: 'SavedFilter' },
)
const NewFilter = Type.Object({ page, ...fields, shared: Type.Optional(shared) }, closed)
const FilterPatch = Type.Partial(Type.Object({ ...fields, shared }), { ...closed, minProperties: 1 })
const oneFilter = Type.Object({ savedFilter: Filter })

export function savedFilterTeamRoutes(app: App, deps: FilterDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Saved filters')
  api.get(path, 'member', {
    operationId: 'listSavedFilters',
    summary: 'List saved filters',
    description:
      "The caller's own and shared filters, in the order that the caller has set; others follow sorted by name.",
    answers: { 200: Type.Object({ savedFilters: Type.Array(Filter, { maxItems: 200 }) }) },
    allErrors: [400, 401, 404],
    run: async ({ member }) => ({ savedFilters: (await listSavedFilters(deps, member)).map(present) }),
  })
  api.post(path, 'member', {
    operationId: 'createSavedFilter',
    summary: 'Save a filter',
    description: 'Each member can have 100 filters, and a workspace 100 shared ones.',
    body: NewFilter,
    answers: { 201: oneFilter },
    errors: [409],
    run: async ({ member, body }) => ({ savedFilter: present(await createSavedFilter(deps, member, body)) }),
  })
  api.patch(`${path}/:filterId`, 'member', {
    operationId: 'updateSavedFilter',
    summary: 'Change a saved filter',
    description: "The caller's own; for admins, shared ones too. Only admins can share and unshare filters.",
    params: filterParams,
    body: FilterPatch,
    answers: { 200: oneFilter },
    errors: [409],
    run: async ({ member, params, body }) => ({
      savedFilter: present(await changeSavedFilter(deps, member, params.filterId, body)),
    }),
  })
  api.delete(`${path}/:filterId`, 'member', {
    operationId: 'deleteSavedFilter',
    summary: 'Delete a saved filter',
    description: "The caller's own; for admins, shared ones too.",
    params: filterParams,
    run: ({ member, params }) => deleteSavedFilter(deps, member, params.filterId),
  })
  api.put(`${path}/order`, 'member', {
    operationId: 'orderSavedFilters',
    summary: 'Order saved filters',
    description:
      "Sets the order in which the caller sees the filters of a page, including shared ones. Other members' order does not change.",
    body: Type.Object(
      {
        page,
        ids: Type.Array(idSchema('A saved filter.'), { maxItems: 200, description: 'Ids in the new order.' }),
      },
      closed,
    ),
    run: ({ member, body }) => orderSavedFilters(deps, member, body.page, body.ids),
  })
}

const present = ({ userId, ...filter }: SavedFilter) => ({ ...withIsoTimes(filter), shared: userId === null })
