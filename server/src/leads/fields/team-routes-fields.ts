import { Type } from 'typebox'
import { type App, errors } from '../../base/route.ts'
import { memberOf, type TeamGuard } from '../../team/member.ts'
import { closed, idSchema, teamRoute, workspaceParams } from '../../team/team-schema.ts'
import type { LeadDeps } from '../lead/lead.ts'
import { changeLeadField, createLeadField, maxFields, orderLeadFields } from './change-fields.ts'
import { listLeadFields } from './lead-fields.ts'
import { LeadFieldDefinition, LeadFieldPatch, NewLeadField, presentLeadField } from './schema.ts'

type Deps = Pick<LeadDeps, 'db' | 'clock'>

const path = '/api/team/v1/workspaces/:workspaceId/lead-fields'
const params = Type.Object(workspaceParams)
const oneField = Type.Object({ field: LeadFieldDefinition })
const fieldList = Type.Object({ fields: Type.Array(LeadFieldDefinition, { maxItems: maxFields }) })

/** The custom fields that the workspace defines for its leads. */
export function leadFieldTeamRoutes(app: App, deps: Deps, guard: TeamGuard): void {
  listRoute(app, deps, guard)
  createRoute(app, deps, guard)
  changeRoute(app, deps, guard)
  orderRoute(app, deps, guard)
}

function listRoute(app: App, deps: Deps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: path,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Lead fields'),
      operationId: 'listLeadFields',
      summary: 'List the fields of leads',
      description: 'In the order of the workspace, archived ones included.',
      params,
      response: { 200: fieldList, ...errors(400, 401, 404) },
    },
    handler: async (request) => {
      const fields = await listLeadFields(deps.db.sql, memberOf(request).workspaceId)
      return { fields: fields.map(presentLeadField) }
    },
  })
}

function createRoute(app: App, deps: Deps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: path,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Lead fields'),
      operationId: 'createLeadField',
      summary: 'Define a field of leads',
      description:
        'For admins. A workspace has at most 50 in use. Leads that have a custom field of this key already keep its values.',
      params,
      body: NewLeadField,
      response: { 201: oneField, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request, reply) => {
      const field = await createLeadField(deps, memberOf(request), request.body)
      return reply.code(201).send({ field: presentLeadField(field) })
    },
  })
}

function changeRoute(app: App, deps: Deps, guard: TeamGuard): void {
  app.route({
    method: 'PATCH',
    url: `${path}/:fieldId`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Lead fields'),
      operationId: 'updateLeadField',
      summary: 'Change, archive or bring back a field of leads',
      description: 'For admins. Fields are never deleted: an archived one is offered nowhere, and its values stay.',
      params: Type.Object({ ...workspaceParams, fieldId: idSchema('The field.') }),
      body: LeadFieldPatch,
      response: { 200: oneField, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request) => {
      const field = await changeLeadField(deps, memberOf(request), request.params.fieldId, request.body)
      return { field: presentLeadField(field) }
    },
  })
}

function orderRoute(app: App, deps: Deps, guard: TeamGuard): void {
  app.route({
    method: 'PUT',
    url: `${path}/order`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Lead fields'),
      operationId: 'orderLeadFields',
      summary: 'Order the fields of leads',
      description: 'For admins. Names every field once, archived ones included, in the order wanted.',
      params,
      body: Type.Object(
        { ids: Type.Array(idSchema('A field.'), { maxItems: maxFields, description: 'In the order wanted.' }) },
        closed,
      ),
      response: { 200: fieldList, ...errors(400, 401, 403, 404, 413, 415, 422) },
    },
    handler: async (request) => {
      const fields = await orderLeadFields(deps, memberOf(request), request.body.ids)
      return { fields: fields.map(presentLeadField) }
    },
  })
}
