import { type Static, Type } from 'typebox'
import { type App, nullable, timestamp, titled } from '../../base/route.ts'
import { text, unpaged } from '../../base/schema-types.ts'
import { readTime } from '../../base/time.ts'
import type { TeamCaller, TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { closed, idSchema, roleSchema, workspaceParams } from '../../team/team-schema.ts'
import { reauthenticate } from '../account/profile.ts'
import { reauthenticationFields } from '../sign-in/sessions.ts'
import { visitorOf } from '../sign-in/visitor.ts'
import type { TeamDeps } from '../users/users.ts'
import {
  createTeamToken,
  listTeamTokens,
  presentToken,
  revokeTeamToken,
  tokenNameSchema,
  tokenSchema,
} from './team-tokens.ts'

const tokenListSchema = Type.Object({ tokens: Type.Array(tokenSchema, unpaged) })
const tokenWithValueSchema = titled('TeamTokenWithValue', {
  token: tokenSchema,
  value: text(100, 'Shown only once, in this response.', { example: 'plt_…' }),
})
const fields = {
  name: tokenNameSchema,
  role: roleSchema,
  expiresAt: Type.Optional(nullable(timestamp('Expiry time. Null if it does not expire.'))),
}
const NewToken = Type.Object(fields, { ...closed, title: 'NewTeamToken' })
const tokenId = { tokenId: idSchema('The token.') }

/** Adds the routes for tokens of one workspace and for tokens of all workspaces: same operations, two paths. */
export function tokenTeamRoutes(app: App, deps: TeamDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Team tokens')
  workspaceTokenRoutes(api, deps)
  installationTokenRoutes(api, deps)
}

function workspaceTokenRoutes(api: TeamApi, deps: TeamDeps): void {
  const path = '/api/team/v1/workspaces/:workspaceId/tokens'
  const audienceText = 'For owners: tokens that work in this workspace.'
  api.get(path, 'owner', {
    operationId: 'listTeamTokens',
    summary: 'List team tokens',
    description: audienceText,
    answers: { 200: tokenListSchema },
    run: ({ member }) => list(deps, member.workspaceId),
  })
  api.post(path, 'owner', {
    operationId: 'createTeamToken',
    summary: 'Create a team token',
    description: `${audienceText} The value is shown only in this response.`,
    body: NewToken,
    answers: { 201: tokenWithValueSchema },
    run: ({ member, body }) => create(deps, member, member.workspaceId, body),
  })
  api.delete(`${path}/:tokenId`, 'owner', {
    operationId: 'revokeTeamToken',
    summary: 'Revoke a team token',
    description: `${audienceText} It stops working immediately.`,
    params: Type.Object({ ...workspaceParams, ...tokenId }),
    run: ({ member, params }) => revokeTeamToken(deps, member, member.workspaceId, params.tokenId),
  })
}

function installationTokenRoutes(api: TeamApi, deps: TeamDeps): void {
  const path = '/api/team/v1/tokens'
  const audienceText =
    'For operators: tokens that work in every workspace. A token with the role owner acts as an operator.'
  api.get(path, 'operator', {
    operationId: 'listInstallationTokens',
    summary: 'List team tokens',
    description: audienceText,
    params: Type.Object({}),
    answers: { 200: tokenListSchema },
    errors: [404],
    run: () => list(deps, null),
  })
  api.post(path, 'operator', {
    operationId: 'createInstallationToken',
    summary: 'Create a team token',
    description: `${audienceText} The value is shown only in this response.`,
    params: Type.Object({}),
    // A session alone is not enough: the token outlives the session and may do more.
    body: Type.Object({ ...fields, ...reauthenticationFields }, { ...closed, title: 'NewInstallationToken' }),
    answers: { 201: tokenWithValueSchema },
    errors: [404, 409, 429],
    run: async ({ caller, body, request }) => {
      await reauthenticate(deps, visitorOf(deps, request), caller, body)
      return create(deps, caller, null, body)
    },
  })
  api.delete(`${path}/:tokenId`, 'operator', {
    operationId: 'revokeInstallationToken',
    summary: 'Revoke a team token',
    description: `${audienceText} It stops working immediately.`,
    params: Type.Object(tokenId),
    errors: [404],
    run: ({ caller, params }) => revokeTeamToken(deps, caller, null, params.tokenId),
  })
}

async function list({ db, clock }: TeamDeps, workspaceId: string | null) {
  const rows = await listTeamTokens(db.sql, workspaceId, clock.now())
  return { tokens: rows.map(presentToken) }
}

async function create(
  deps: TeamDeps,
  caller: TeamCaller,
  workspaceId: string | null,
  newToken: Static<typeof NewToken>,
) {
  const { name, role, expiresAt } = newToken
  const input = { workspaceId, name: name.trim(), role, expiresAt: readTime('expiresAt', expiresAt) }
  const { token, value } = await createTeamToken(deps, caller, input)
  return { token: presentToken(token), value }
}
