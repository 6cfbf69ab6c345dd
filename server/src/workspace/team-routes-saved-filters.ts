import { Type } from 'typebox'
import { type App, errors, oneOf, timestamp } from '../base/route.ts'
import { visible } from '../base/schema-types.ts'
import { memberOf, type TeamGuard } from '../team/member.ts'
import { closed, done, idSchema, teamRoute, workspaceParams } from '../team/team-schema.ts'
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
const params = Type.Object(workspaceParams)
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
  listRoute(app, deps, guard)
  createRoute(app, deps, guard)
  changeRoute(app, deps, guard)
  deleteRoute(app, deps, guard)
  orderRoute(app, deps, guard)
}

function listRoute(app: App, deps: FilterDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: path,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Saved filters'),
      operationId: 'listSavedFilters',
      summary: 'List saved filters',
      description: "The caller's own and everybody's, in the order that the caller has set; others follow by name.",
      params,
      response: { 200: Type.Object({ savedFilters: Type.Array(Filter, { maxItems: 200 }) }), ...errors(400, 401, 404) },
    },
    handler: async (request) => ({
      savedFilters: (await listSavedFilters(deps, memberOf(request))).map(present),
    }),
  })
}

function createRoute(app: App, deps: FilterDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: path,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Saved filters'),
      operationId: 'createSavedFilter',
      summary: 'Save a filter',
      description: "A member has at most 100 of their own, a workspace 100 of everybody's.",
      params,
      body: Type.Object({ page, ...fields, shared: Type.Optional(shared) }, closed),
      response: { 201: oneFilter, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request, reply) => {
      const { shared: isShared = false, ...wanted } = request.body
      const filter = await createSavedFilter(deps, memberOf(request), { ...wanted, shared: isShared })
      return reply.code(201).send({ savedFilter: present(filter) })
    },
  })
}

function changeRoute(app: App, deps: FilterDeps, guard: TeamGuard): void {
  app.route({
    method: 'PATCH',
    url: `${path}/:filterId`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Saved filters'),
      operationId: 'updateSavedFilter',
      summary: 'Change a saved filter',
      description: "The caller's own; admins also everybody's. Admins share and unshare it.",
      params: filterParams,
      body: Type.Partial(Type.Object({ ...fields, shared }), { ...closed, minProperties: 1 }),
      response: { 200: oneFilter, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request) => {
      const filter = await changeSavedFilter(deps, memberOf(request), request.params.filterId, request.body)
      return { savedFilter: present(filter) }
    },
  })
}

function deleteRoute(app: App, deps: FilterDeps, guard: TeamGuard): void {
  app.route({
    method: 'DELETE',
    url: `${path}/:filterId`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Saved filters'),
      operationId: 'deleteSavedFilter',
      summary: 'Delete a saved filter',
      description: "The caller's own; admins also everybody's.",
      params: filterParams,
      response: { 200: done, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      await deleteSavedFilter(deps, memberOf(request), request.params.filterId)
      return { success: true }
    },
  })
}

function orderRoute(app: App, deps: FilterDeps, guard: TeamGuard): void {
  app.route({
    method: 'PUT',
    url: `${path}/order`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Saved filters'),
      operationId: 'orderSavedFilters',
      summary: 'Order saved filters',
      description:
        "Sets in which order the caller sees the filters of a page, everybody's among their own. Nobody else's order changes.",
      params,
      body: Type.Object(
        {
          page,
          ids: Type.Array(idSchema('A saved filter.'), { maxItems: 200, description: 'The first comes first.' }),
        },
        closed,
      ),
      response: { 200: done, ...errors(400, 401, 403, 404, 413, 415) },
    },
    handler: async (request) => {
      const { page: of, ids } = request.body
      await orderSavedFilters(deps, memberOf(request), of, ids)
      return { success: true }
    },
  })
}

function present({ id, page: of, name, query, userId, createdAt, updatedAt }: SavedFilter) {
  const times = { createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() }
  return { id, page: of, name, query, shared: userId === null, ...times }
}
