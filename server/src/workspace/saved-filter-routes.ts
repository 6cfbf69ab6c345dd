import { Type } from 'typebox'
import { type App, oneOf, timestamp } from '../base/route.ts'
import { visible } from '../base/schema-types.ts'
import type { TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../team/team-schema.ts'
import {
  changeSavedFilter,
  createSavedFilter,
  deleteSavedFilter,
  type FilterDeps,
  filterPages,
  listSavedFilters,
  orderSavedFilters,
  type SavedFilter,
} from './saved-filters.ts'

const path = '/api/team/v1/workspaces/:workspaceId/saved-filters'
const filterParams = Type.Object({ ...workspaceParams, filterId: idSchema('The saved filter.') })

const page = oneOf(filterPages, { description: 'Where it is used.', example: 'inbox' })
const fields = {
  name: Type.String({ minLength: 1, maxLength: 80, pattern: visible, example: 'Waiting for me' }),
  query: Type.String({
    maxLength: 2000,
    pattern: '^[^?#\\s]*$',
    description: "The query of the page's address, without the `?`.",
    example: 'view=mine&sort=waiting',
  }),
}
const shared = Type.Boolean({ description: "Everybody's rather than the caller's own; for admins.", example: false })

const Filter = Type.Object(
  {
    id: idSchema('The saved filter.'),
    page,
    ...fields,
    shared,
    createdAt: timestamp('When it was made.'),
    updatedAt: timestamp('When it last changed.'),
  },
  { title: 'SavedFilter' },
)
const oneFilter = Type.Object({ savedFilter: Filter })

/** Ways of looking at the inbox and the leads, under a name: a member's own and everybody's. */
export function savedFilterTeamRoutes(app: App, deps: FilterDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Saved filters')
  api.get(path, 'member', {
    operationId: 'listSavedFilters',
    summary: 'List saved filters',
    description: "The caller's own and everybody's, in the order that the caller has set; others follow by name.",
    answers: { 200: Type.Object({ savedFilters: Type.Array(Filter, { maxItems: 200 }) }) },
    allErrors: [400, 401, 404],
    run: async ({ member }) => ({
      savedFilters: (await listSavedFilters(deps, member)).map(present),
    }),
  })
  api.post(path, 'member', {
    operationId: 'createSavedFilter',
    summary: 'Save a filter',
    description: "A member has at most 100 of their own, a workspace 100 of everybody's.",
    body: Type.Object({ page, ...fields, shared: Type.Optional(shared) }, closed),
    answers: { 201: oneFilter },
    errors: [409],
    run: async ({ member, body }) => {
      const { shared: isShared = false, ...wanted } = body
      const filter = await createSavedFilter(deps, member, { ...wanted, shared: isShared })
      return { savedFilter: present(filter) }
    },
  })
  api.patch(`${path}/:filterId`, 'member', {
    operationId: 'updateSavedFilter',
    summary: 'Change a saved filter',
    description: "The caller's own; admins also everybody's. Admins share and unshare it.",
    params: filterParams,
    body: Type.Partial(Type.Object({ ...fields, shared }), { ...closed, minProperties: 1 }),
    answers: { 200: oneFilter },
    errors: [409],
    run: async ({ member, params, body }) => {
      const filter = await changeSavedFilter(deps, member, params.filterId, body)
      return { savedFilter: present(filter) }
    },
  })
  api.delete(`${path}/:filterId`, 'member', {
    operationId: 'deleteSavedFilter',
    summary: 'Delete a saved filter',
    description: "The caller's own; admins also everybody's.",
    params: filterParams,
    run: ({ member, params }) => deleteSavedFilter(deps, member, params.filterId),
  })
  api.put(`${path}/order`, 'member', {
    operationId: 'orderSavedFilters',
    summary: 'Order saved filters',
    description:
      "Sets in which order the caller sees the filters of a page, everybody's among their own. Nobody else's order changes.",
    body: Type.Object(
      {
        page,
        ids: Type.Array(idSchema('A saved filter.'), { maxItems: 200, description: 'The first comes first.' }),
      },
      closed,
    ),
    run: async ({ member, body }) => {
      const { page: of, ids } = body
      await orderSavedFilters(deps, member, of, ids)
    },
  })
}

function present({ id, page: of, name, query, userId, createdAt, updatedAt }: SavedFilter) {
  const times = { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() }
  return { id, page: of, name, query, shared: userId === null, ...times }
}
