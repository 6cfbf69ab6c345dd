import { Type } from 'typebox'
import { memberOf, type TeamGuard } from '../base/member.ts'
import { type App, errors, postman } from '../base/route.ts'
import { unpaged } from '../base/schema-types.ts'
import { closed, done, idSchema, roleSchema, teamRoute, workspaceParams } from '../base/team-schema.ts'
import { instanceScope } from '../base/vault.ts'
import { changeRole, leaveTeam } from './change-team.ts'
import { listMembers } from './members.ts'
import type { TeamDeps } from './team-deps.ts'
import { memberSchema, presentMember } from './team-schema.ts'

const path = '/api/team/v1/workspaces/:workspaceId/members'
const memberParams = Type.Object({ ...workspaceParams, userId: idSchema('The member.') })

/** The people of a workspace. */
export function memberTeamRoutes(app: App, deps: TeamDeps, guard: TeamGuard): void {
  listRoute(app, deps, guard)
  changeRoute(app, deps, guard)
  removeRoute(app, deps, guard)
}

function listRoute(app: App, deps: TeamDeps, guard: TeamGuard): void {
  app.route({
    method: 'GET',
    url: path,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Members'),
      operationId: 'listMembers',
      summary: 'List members',
      description: 'Those who joined first come first.',
      params: Type.Object(workspaceParams),
      response: { 200: Type.Object({ members: Type.Array(memberSchema, unpaged) }), ...errors(401, 404) },
    },
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      const members = await deps.vault.withKeyring(instanceScope, (instanceKeys) =>
        listMembers(deps.db.sql, workspaceId, instanceKeys),
      )
      return { members: members.map(presentMember) }
    },
  })
}

function changeRoute(app: App, deps: TeamDeps, guard: TeamGuard): void {
  app.route({
    method: 'PATCH',
    url: `${path}/:userId`,
    onRequest: guard.member('admin'),
    schema: {
      ...teamRoute('Members'),
      operationId: 'updateMember',
      summary: "Change a member's role",
      ...postman({ skip: true }),
      description: 'For admins; only owners make or unmake owners. The last owner stays one (409).',
      params: memberParams,
      body: Type.Object({ role: roleSchema }, closed),
      response: { 200: done, ...errors(400, 401, 403, 404, 409, 413, 415) },
    },
    handler: async (request) => {
      await changeRole(deps, memberOf(request), request.params.userId, request.body.role)
      return { success: true }
    },
  })
}

function removeRoute(app: App, deps: TeamDeps, guard: TeamGuard): void {
  app.route({
    method: 'DELETE',
    url: `${path}/:userId`,
    onRequest: guard.member('member'),
    schema: {
      ...teamRoute('Members'),
      operationId: 'removeMember',
      summary: 'Remove a member',
      ...postman({ skip: true }),
      description: 'For admins; anyone may leave. Only owners remove owners, and the last owner stays (409).',
      params: memberParams,
      response: { 200: done, ...errors(400, 401, 403, 404, 409) },
    },
    handler: async (request) => {
      await leaveTeam(deps, memberOf(request), request.params.userId)
      return { success: true }
    },
  })
}
