import { Type } from 'typebox'
import type { App } from '../../base/route.ts'
import type { TeamGuard } from '../../team/member.ts'
import { teamApi } from '../../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import type { LeadDeps } from '../lead/lead.ts'
import { changeLeadField, createLeadField, maxFields, orderLeadFields } from './change-fields.ts'
import { listLeadFields } from './lead-fields.ts'
import { LeadFieldDefinition, LeadFieldPatch, NewLeadField, presentLeadField } from './schema.ts'

type Deps = Pick<LeadDeps, 'db' | 'clock'>

const path = '/api/team/v1/workspaces/:workspaceId/lead-fields'
const oneField = Type.Object({ field: LeadFieldDefinition })
const fieldList = Type.Object({ fields: Type.Array(LeadFieldDefinition, { maxItems: maxFields }) })

/** The custom fields that the workspace defines for its leads. */
export function leadFieldTeamRoutes(app: App, deps: Deps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Lead fields')
  api.get(path, 'member', {
    operationId: 'listLeadFields',
    summary: 'List the fields of leads',
    description: 'In the order of the workspace, archived ones included.',
    answers: { 200: fieldList },
    allErrors: [400, 401, 404],
    run: async ({ member }) => {
      const fields = await listLeadFields(deps.db.sql, member.workspaceId)
      return { fields: fields.map(presentLeadField) }
    },
  })
  api.post(path, 'admin', {
    operationId: 'createLeadField',
    summary: 'Define a field of leads',
    description:
      'For admins. A workspace has at most 50 in use. Leads that have a custom field of this key already keep its values.',
    body: NewLeadField,
    answers: { 201: oneField },
    errors: [409],
    run: async ({ member, body }) => {
      const field = await createLeadField(deps, member, body)
      return { field: presentLeadField(field) }
    },
  })
  api.patch(`${path}/:fieldId`, 'admin', {
    operationId: 'updateLeadField',
    summary: 'Change, archive or bring back a field of leads',
    description: 'For admins. Fields are never deleted: an archived one is offered nowhere, and its values stay.',
    params: Type.Object({ ...workspaceParams, fieldId: idSchema('The field.') }),
    body: LeadFieldPatch,
    answers: { 200: oneField },
    errors: [409],
    run: async ({ member, params, body }) => {
      const field = await changeLeadField(deps, member, params.fieldId, body)
      return { field: presentLeadField(field) }
    },
  })
  api.put(`${path}/order`, 'admin', {
    operationId: 'orderLeadFields',
    summary: 'Order the fields of leads',
    description: 'For admins. Names every field once, archived ones included, in the order wanted.',
    body: Type.Object(
      { ids: Type.Array(idSchema('A field.'), { maxItems: maxFields, description: 'In the order wanted.' }) },
      closed,
    ),
    answers: { 200: fieldList },
    errors: [422],
    run: async ({ member, body }) => {
      const fields = await orderLeadFields(deps, member, body.ids)
      return { fields: fields.map(presentLeadField) }
    },
  })
}
