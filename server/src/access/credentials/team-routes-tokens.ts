import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { Type } from 'typebox'
import { invalid } from '../../base/errors.ts'
import { type App, errors, nullable, timestamp, titled } from '../../base/route.ts'
import { text, unpaged } from '../../base/schema-types.ts'
import { readIsoTime } from '../../base/time.ts'
import { type TeamGuard, teamCallerOf } from '../../team/member.ts'
import { closed, done, idSchema, roleSchema, teamRoute, workspaceParams } from '../../team/team-schema.ts'
import { proveCaller } from '../account/two-factor.ts'
import { proofFields } from '../sign-in/schema.ts'
import { visitorOf } from '../sign-in/visitor.ts'
import type { TeamDeps } from '../users/team-deps.ts'
import { createTeamToken, listTeamTokens, revokeTeamToken } from './team-tokens.ts'
import { presentToken, tokenNameSchema, tokenSchema } from './token-schema.ts'

/** Tokens that are for one workspace, or for the whole installation: the same routes at two addresses. */
interface TokenScope {
  operationIds: { list: string; create: string; revoke: string }
  path: string
  params: Record<string, ReturnType<typeof idSchema>>
  onRequest: onRequestHookHandler
  workspaceIdOf(request: FastifyRequest): string | null
  whose: string
  /** What a session alone must not make: it outlives the session, and may do more. */
  needsProof: boolean
}

export function tokenTeamRoutes(app: App, deps: TeamDeps, guard: TeamGuard): void {
  const scopes: TokenScope[] = [
    {
      operationIds: { list: 'listTeamTokens', create: 'createTeamToken', revoke: 'revokeTeamToken' },
      path: '/api/team/v1/workspaces/:workspaceId/tokens',
      params: workspaceParams,
      onRequest: guard.member('owner'),
      workspaceIdOf: (request) => request.member?.workspaceId ?? null,
      whose: 'For owners: tokens that work in this workspace.',
      needsProof: false,
    },
    {
      operationIds: {
        list: 'listInstallationTokens',
        create: 'createInstallationToken',
        revoke: 'revokeInstallationToken',
      },
      path: '/api/team/v1/tokens',
      params: {},
      onRequest: guard.operator(),
      workspaceIdOf: () => null,
      whose: 'For operators: tokens that work in every workspace. With the role owner they are operators themselves.',
      needsProof: true,
    },
  ]
  for (const scope of scopes) {
    listRoute(app, deps, scope)
    createRoute(app, deps, scope)
    revokeRoute(app, deps, scope)
  }
}

function listRoute(app: App, deps: TeamDeps, scope: TokenScope): void {
  const { path, params, onRequest, workspaceIdOf, whose } = scope
  app.route({
    method: 'GET',
    url: path,
    onRequest,
    schema: {
      ...teamRoute('Team tokens'),
      operationId: scope.operationIds.list,
      summary: 'List team tokens',
      description: whose,
      params: Type.Object(params),
      response: { 200: Type.Object({ tokens: Type.Array(tokenSchema, unpaged) }), ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const rows = await listTeamTokens(deps.db.sql, workspaceIdOf(request), deps.clock.now())
      return { tokens: rows.map(presentToken) }
    },
  })
}

function createRoute(
  app: App,
  deps: TeamDeps,
  { operationIds, path, params, onRequest, workspaceIdOf, whose, needsProof }: TokenScope,
): void {
  const value = text(100, 'Shown only here.', { example: 'plt_…' })
  const fields = {
    name: tokenNameSchema,
    role: roleSchema,
    expiresAt: Type.Optional(nullable(timestamp('When it stops working. Null: when it is revoked.'))),
  }
  const proven = Type.Object({ ...fields, ...proofFields }, { ...closed, title: 'NewInstallationToken' })
  const body = needsProof ? proven : (Type.Object(fields, { ...closed, title: 'NewTeamToken' }) as typeof proven)
  app.route({
    method: 'POST',
    url: path,
    onRequest,
    schema: {
      ...teamRoute('Team tokens'),
      operationId: operationIds.create,
      summary: 'Create a team token',
      description: `${whose} Its value is in this answer and nowhere else.`,
      params: Type.Object(params),
      body,
      response: {
        201: titled('TeamTokenWithValue', { token: tokenSchema, value }),
        ...errors(400, 401, 403, 404, ...(needsProof ? ([409, 429] as const) : []), 413, 415),
      },
    },
    handler: async (request, reply) => {
      const { name, role, expiresAt } = request.body
      if (needsProof) await proveCaller(deps, visitorOf(deps, request), teamCallerOf(request), request.body)
      const input = { workspaceId: workspaceIdOf(request), name: name.trim(), role, expiresAt: readExpiry(expiresAt) }
      const { token, value } = await createTeamToken(deps, teamCallerOf(request), input)
      return reply.code(201).send({ token: presentToken(token), value })
    },
  })
}

function revokeRoute(
  app: App,
  deps: TeamDeps,
  { operationIds, path, params, onRequest, workspaceIdOf, whose }: TokenScope,
): void {
  app.route({
    method: 'DELETE',
    url: `${path}/:tokenId`,
    onRequest,
    schema: {
      ...teamRoute('Team tokens'),
      operationId: operationIds.revoke,
      summary: 'Revoke a team token',
      description: `${whose} It stops working at once.`,
      params: Type.Object({ ...params, tokenId: idSchema('The token.') }),
      response: { 200: done, ...errors(400, 401, 403, 404) },
    },
    handler: async (request) => {
      const { tokenId } = request.params as { tokenId: string }
      await revokeTeamToken(deps, teamCallerOf(request), workspaceIdOf(request), tokenId)
      return { success: true }
    },
  })
}

function readExpiry(text: string | null | undefined): Date | null {
  if (text === undefined || text === null) return null
  const time = readIsoTime(text)
  if (time === null) throw invalid('expiresAt', 'must be an ISO 8601 time')
  return time
}
