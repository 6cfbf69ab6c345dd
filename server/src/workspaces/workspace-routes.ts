import { Type } from 'typebox'
import type { Sql } from '../base/db.ts'
import { notFound } from '../base/errors.ts'
import type { App } from '../base/route.ts'
import { unpaged } from '../base/schema-types.ts'
import { withIsoTimes } from '../base/time.ts'
import type { TeamCaller, TeamGuard } from '../team/member.ts'
import { teamApi } from '../team/team-api.ts'
import { cannedReplyTeamRoutes } from './canned-replies.ts'
import { createWorkspace, updateWorkspace, type WorkspaceDeps } from './change.ts'
import { instructionTeamRoutes } from './instructions/instruction-routes.ts'
import { labelTeamRoutes } from './labels.ts'
import { savedFilterTeamRoutes } from './saved-filters.ts'
import { newWorkspaceSchema, workspacePatchSchema, workspaceSchema } from './schema.ts'
import { serviceTeamRoutes } from './service/service-routes.ts'
import { teamTeamRoutes } from './teams/teams.ts'
import { findWorkspace, listAllWorkspaces, listWorkspacesOf, type WorkspaceRow } from './workspace.ts'

const path = '/api/team/v1/workspaces'
const oneWorkspace = Type.Object({ workspace: workspaceSchema })

export function workspaceTeamRoutes(app: App, deps: WorkspaceDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Workspaces')
  api.get(path, 'signed-in', {
    operationId: 'listWorkspaces',
    summary: 'List workspaces',
    description: 'Returns the workspaces of the signed-in user or token; for operators, all workspaces.',
    answers: { 200: Type.Object({ workspaces: Type.Array(workspaceSchema, unpaged) }) },
    allErrors: [400, 401],
    run: async ({ caller }) => {
      const rows = await workspacesFor(deps.db.sql, caller)
      return { workspaces: rows.map(withIsoTimes) }
    },
  })
  api.post(path, 'operator', {
    operationId: 'createWorkspace',
    summary: 'Create a workspace',
    description: 'For operators. A signed-in operator becomes its owner. With a token, invite an owner afterwards.',
    body: newWorkspaceSchema,
    answers: { 201: oneWorkspace },
    run: async ({ caller, body }) => {
      const { userId, actor } = caller
      const row = await createWorkspace(deps, { ...body, ownerId: userId, createdBy: actor })
      return { workspace: withIsoTimes(row) }
    },
  })
  api.get(`${path}/:workspaceId`, 'member', {
    operationId: 'getWorkspace',
    summary: 'Get a workspace',
    description: 'Returns its settings and the role of the caller.',
    answers: { 200: oneWorkspace },
    allErrors: [400, 401, 404],
    run: async ({ member }) => {
      const { workspaceId, role } = member
      const row = await findWorkspace(deps.db.sql, workspaceId)
      if (row === undefined) throw notFound('Workspace not found')
      return { workspace: withIsoTimes({ ...row, role }) }
    },
  })
  api.patch(`${path}/:workspaceId`, 'admin', {
    operationId: 'updateWorkspace',
    summary: 'Change a workspace',
    description:
      'For admins. Only owners can open and close the inbox; only operators can change what the plan includes.',
    body: workspacePatchSchema,
    answers: { 200: oneWorkspace },
    run: async ({ member, body }) => {
      const row = await updateWorkspace(deps, member, body)
      return { workspace: withIsoTimes({ ...row, role: member.role }) }
    },
  })
  instructionTeamRoutes(app, deps, guard)
  labelTeamRoutes(app, deps, guard)
  cannedReplyTeamRoutes(app, deps, guard)
  savedFilterTeamRoutes(app, deps, guard)
  teamTeamRoutes(app, deps, guard)
  serviceTeamRoutes(app, deps, guard)
}

function workspacesFor(sql: Sql, caller: TeamCaller): Promise<WorkspaceRow[]> {
  if (caller.isOperator) return listAllWorkspaces(sql)
  if (caller.userId !== null) return listWorkspacesOf(sql, caller.userId)
  return listAllWorkspaces(sql, caller.tokenWorkspaceId)
}
