import { Type } from 'typebox'
import { type App, errors } from '../base/route.ts'
import { memberOf, type TeamGuard } from '../team/member.ts'
import { done, idSchema, teamRoute, workspaceParams } from '../team/team-schema.ts'
import type { WorkspaceDeps } from './create.ts'
import { changeLabel, createLabel, deleteLabel, listLabels } from './labels.ts'
import { labelPatchSchema, labelSchema, newLabelSchema, presentLabel } from './schema.ts'

const path = '/api/team/v1/workspaces/:workspaceId/labels'
const params = Type.Object(workspaceParams)
const labelParams = Type.Object({ ...workspaceParams, labelId: idSchema('The label.') })
const oneLabel = Type.Object({ label: labelSchema })

/** The labels that conversations can carry. */
export function labelTeamRoutes(app: App, deps: WorkspaceDeps, guard: TeamGuard): void {
  listRoute(app, deps, guard)
  createRoute(app, deps, guard)
  changeRoute(app, deps, guard)
  deleteRoute(app, deps, guard)
}

function listRoute(app: App, deps: WorkspaceDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: path,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Labels'),
      operationId: 'listLabels',
      summary: 'List labels',
      description: 'By name.',
      params,
      response: { 200: Type.Object({ labels: Type.Array(labelSchema, { maxItems: 200 }) }), ...errors(400, 401, 404) },
    },
    handler: async (request) => {
      const rows = await listLabels(deps.db.sql, memberOf(request).workspaceId)
      return { labels: rows.map(presentLabel) }
    },
  })
}

function createRoute(app: App, deps: WorkspaceDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: path,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Labels'),
      operationId: 'createLabel',
      summary: 'Create a label',
      description: 'For admins. A workspace has at most 200.',
      params,
      body: newLabelSchema,
      response: { 201: oneLabel, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request, reply) => {
      const label = await createLabel(deps, memberOf(request), request.body)
      return reply.code(201).send({ label: presentLabel(label) })
    },
  })
}

function changeRoute(app: App, deps: WorkspaceDeps, guard: TeamGuard): void {
  app.route({
    method: 'PATCH',
    url: `${path}/:labelId`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Labels'),
      operationId: 'updateLabel',
      summary: 'Rename or recolour a label',
      description: 'For admins.',
      params: labelParams,
      body: labelPatchSchema,
      response: { 200: oneLabel, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request) => {
      const label = await changeLabel(deps, memberOf(request), request.params.labelId, request.body)
      return { label: presentLabel(label) }
    },
  })
}

function deleteRoute(app: App, deps: WorkspaceDeps, guard: TeamGuard): void {
  app.route({
    method: 'DELETE',
    url: `${path}/:labelId`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Labels'),
      operationId: 'deleteLabel',
      summary: 'Delete a label',
      description: 'For admins. Conversations lose it.',
      params: labelParams,
      response: { 200: done, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      await deleteLabel(deps, memberOf(request), request.params.labelId)
      return { success: true }
    },
  })
}
