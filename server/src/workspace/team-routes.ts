import { Type } from 'typebox'
import type { Sql } from '../base/db.ts'
import { notFound } from '../base/errors.ts'
import { type App, errors } from '../base/route.ts'
import { unpaged } from '../base/schema-types.ts'
import { memberOf, type TeamCaller, type TeamGuard, teamCallerOf } from '../team/member.ts'
import { teamRoute, workspaceParams } from '../team/team-schema.ts'
import { createWorkspace, type WorkspaceDeps } from './create.ts'
import { newWorkspaceSchema, presentWorkspace, workspacePatchSchema, workspaceSchema } from './schema.ts'
import { cannedReplyTeamRoutes } from './team-routes-canned-replies.ts'
import { labelTeamRoutes } from './team-routes-labels.ts'
import { savedFilterTeamRoutes } from './team-routes-saved-filters.ts'
import { updateWorkspace } from './update.ts'
import { findWorkspace, listAllWorkspaces, listWorkspacesOf, type WorkspaceRow } from './workspace.ts'

const path = '/api/team/v1/workspaces'
const params = Type.Object(workspaceParams)
const oneWorkspace = Type.Object({ workspace: workspaceSchema })

/** Workspaces, their settings and the lists that their people keep. */
export function workspaceTeamRoutes(app: App, deps: WorkspaceDeps, guard: TeamGuard): void {
  listRoute(app, deps, guard)
  createRoute(app, deps, guard)
  readRoute(app, deps, guard)
  changeRoute(app, deps, guard)
  labelTeamRoutes(app, deps, guard)
  cannedReplyTeamRoutes(app, deps, guard)
  savedFilterTeamRoutes(app, deps, guard)
}

function listRoute(app: App, deps: WorkspaceDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: path,
    onRequest: guard.signedIn(),
    schema: {
      ...teamRoute('Workspaces'),
      operationId: 'listWorkspaces',
      summary: 'List workspaces',
      description: 'Those of the signed-in user, or those that the token works in. An operator sees all.',
      response: { 200: Type.Object({ workspaces: Type.Array(workspaceSchema, unpaged) }), ...errors(400, 401) },
    },
    handler: async (request) => {
      const rows = await workspacesFor(deps.db.sql, teamCallerOf(request))
      return { workspaces: rows.map(presentWorkspace) }
    },
  })
}

function createRoute(app: App, deps: WorkspaceDeps, guard: TeamGuard): void {
  app.route({
    method: 'POST',
    url: path,
    onRequest: guard.operator(),
    schema: {
      ...teamRoute('Workspaces'),
      operationId: 'createWorkspace',
      summary: 'Create a workspace',
      description: 'For operators. A signed-in operator becomes its owner; with a token, invite an owner next.',
      body: newWorkspaceSchema,
      response: { 201: oneWorkspace, ...errors(400, 401, 403, 413, 415) },
    },
    handler: async (request, reply) => {
      const { userId, actor } = teamCallerOf(request)
      const row = await createWorkspace(deps, { ...request.body, ownerId: userId, createdBy: actor })
      return reply.code(201).send({ workspace: presentWorkspace(row) })
    },
  })
}

function readRoute(app: App, deps: WorkspaceDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: `${path}/:workspaceId`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Workspaces'),
      operationId: 'getWorkspace',
      summary: 'Get a workspace',
      description: 'Its settings and the role of the caller.',
      params,
      response: { 200: oneWorkspace, ...errors(400, 401, 404) },
    },
    handler: async (request) => {
      const { workspaceId, role } = memberOf(request)
      const row = await findWorkspace(deps.db.sql, workspaceId)
      if (row === undefined) throw notFound('Workspace not found')
      return { workspace: presentWorkspace({ ...row, role }) }
    },
  })
}

function changeRoute(app: App, deps: WorkspaceDeps, guard: TeamGuard): void {
  app.route({
    method: 'PATCH',
    url: `${path}/:workspaceId`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Workspaces'),
      operationId: 'updateWorkspace',
      summary: 'Change a workspace',
      description: 'For admins. Owners also open and close the inbox; operators switch what the plan includes.',
      params,
      body: workspacePatchSchema,
      response: { 200: oneWorkspace, ...errors(400, 401, 403, 404, 413, 415) },
    },
    handler: async (request) => {
      const member = memberOf(request)
      const row = await updateWorkspace(deps, member, request.body)
      return { workspace: presentWorkspace({ ...row, role: member.role }) }
    },
  })
}

function workspacesFor(sql: Sql, caller: TeamCaller): Promise<WorkspaceRow[]> {
  if (caller.isOperator) return listAllWorkspaces(sql)
  if (caller.userId !== null) return listWorkspacesOf(sql, caller.userId)
  return listAllWorkspaces(sql, caller.tokenWorkspaceId)
}
