import { Type } from 'typebox'
import type { App } from '../base/route.ts'
import type { TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { idSchema, workspaceParams } from '../team/team-schema.ts'
import type { WorkspaceDeps } from './create.ts'
import { changeLabel, createLabel, deleteLabel, listLabels } from './labels.ts'
import { labelPatchSchema, labelSchema, newLabelSchema, presentLabel } from './schema.ts'

const path = '/api/team/v1/workspaces/:workspaceId/labels'
const labelParams = Type.Object({ ...workspaceParams, labelId: idSchema('The label.') })
const oneLabel = Type.Object({ label: labelSchema })

/** The labels that conversations can carry. */
export function labelTeamRoutes(app: App, deps: WorkspaceDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Labels')
  api.get(path, 'member', {
    operationId: 'listLabels',
    summary: 'List labels',
    description: 'By name.',
    answers: { 200: Type.Object({ labels: Type.Array(labelSchema, { maxItems: 200 }) }) },
    allErrors: [400, 401, 404],
    run: async ({ member }) => {
      const rows = await listLabels(deps.db.sql, member.workspaceId)
      return { labels: rows.map(presentLabel) }
    },
  })
  api.post(path, 'admin', {
    operationId: 'createLabel',
    summary: 'Create a label',
    description: 'For admins. A workspace has at most 200.',
    body: newLabelSchema,
    answers: { 201: oneLabel },
    errors: [409],
    run: async ({ member, body }) => {
      const label = await createLabel(deps, member, body)
      return { label: presentLabel(label) }
    },
  })
  api.patch(`${path}/:labelId`, 'admin', {
    operationId: 'updateLabel',
    summary: 'Rename or recolour a label',
    description: 'For admins.',
    params: labelParams,
    body: labelPatchSchema,
    answers: { 200: oneLabel },
    errors: [409],
    run: async ({ member, params, body }) => {
      const label = await changeLabel(deps, member, params.labelId, body)
      return { label: presentLabel(label) }
    },
  })
  api.delete(`${path}/:labelId`, 'admin', {
    operationId: 'deleteLabel',
    summary: 'Delete a label',
    description: 'For admins. Conversations lose it.',
    params: labelParams,
    run: ({ member, params }) => deleteLabel(deps, member, params.labelId),
  })
}
