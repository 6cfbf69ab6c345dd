import { Type } from 'typebox'
import { createToken, hashToken } from '../../base/encryption/secret-token.ts'
import { badRequest, invalid, tooManyRequests } from '../../base/errors.ts'
import { withColumnNames } from '../../base/postgres/rows.ts'
import { type App, nullable, oneOf } from '../../base/route.ts'
import { text, uuid } from '../../base/schema-types.ts'
import type { Member, TeamGuard } from '../../team/member.ts'
import { type TeamApi, teamApi } from '../../team/team-api.ts'
import { closed } from '../../team/team-schema.ts'
import { scopes } from '../api-keys/caller.ts'
import { changeKeyAs, refuseUnknownConnections } from '../api-keys/change-key.ts'
import { checkKeySettings, newKeySchema, statusAt } from '../api-keys/key-schema.ts'
import { selectApiKey } from '../api-keys/queries.ts'
import { checkRequest, type RequestParameters, refusalUrl, requestParameters } from './authorization-request.ts'
import { findClient, type OAuthClient } from './clients.ts'
import { OAuthError } from './oauth-error.ts'
import type { OAuthDeps } from './oauth-routes.ts'
import { answerUrl, isLocalRedirect, redirectHost, servesOAuth } from './redirects.ts'

const codeMs = 60_000
const dayMs = 24 * 3_600_000
/** Codes of a workspace in a day; used and expired ones are kept for so long. */
const maxCodesPerDay = 500
const redirectTo = text(16_000, 'Where to send the browser.', {
  example: 'https://app.example.com/callback?code=plc_…&iss=https%3A%2F%2Fparley.example.com',
})

const requestSchema = nullable(
  Type.Object(
    {
      name: text(100, 'Name that the program gives itself. Anyone can choose any name.', { example: 'Claude' }),
      host: nullable(
        text(300, 'Host of its metadata document, which proves who wrote it; null if it registered itself.', {
          example: 'app.example.com',
        }),
      ),
      redirectHost: text(300, 'Host to which the browser is sent back, or the scheme of an app.', {
        example: 'app.example.com',
      }),
      isLocal: Type.Boolean({ description: 'Whether it is sent to a program on its own machine.', example: false }),
      scopes: Type.Array(oneOf(scopes, { title: 'Scope' }), {
        maxItems: scopes.length,
        description: 'What it asks for. Grant some of them.',
        example: ['inbox.read'],
      }),
    },
    {
      title: 'AuthorizationRequest',
      description: 'What to show to the person who decides; null if the request is invalid.',
    },
  ),
)

const { name, scopes: granted, connectionIds, phoneVisibility, approval } = newKeySchema.properties
const example = {
  request: {
    response_type: 'code',
    client_id: 'https://app.example.com/client.json',
    redirect_uri: 'https://app.example.com/callback',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  },
  name: 'Claude',
  scopes: ['inbox.read'],
}

/** Adds the routes of the page on which a person decides about the request of a program. */
export function consentTeamRoutes(app: App, deps: OAuthDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'API keys')
  requestRoute(api, deps)
  grantRoute(api, deps)
}

async function check(deps: OAuthDeps, asked: RequestParameters) {
  const { publicUrl } = deps
  if (!servesOAuth(publicUrl)) throw badRequest('OAuth is off: set PARLEY_URL to an https:// address')
  try {
    return await checkRequest({ publicUrl, find: (id) => findClient(deps, id) }, asked)
  } catch (error) {
    // The error is the program's: a 401 here would mean that the person is not signed in.
    throw error instanceof OAuthError ? badRequest(error.message) : error
  }
}

function requestRoute(api: TeamApi, deps: OAuthDeps): void {
  api.get('/api/team/v1/oauth/request', 'signed-in', {
    operationId: 'getAuthorizationRequest',
    summary: 'Get an OAuth authorization request',
    description: 'Checks the parameters that a program put into the address of `/oauth/authorize`, and describes it.',
    query: Type.Object(requestParameters),
    answers: {
      200: Type.Object({
        request: requestSchema,
        problem: nullable(text(1000, 'What is wrong with it; null if nothing is.', { example: null })),
        declineTo: redirectTo,
      }),
    },
    run: async ({ query }) => {
      const found = await check(deps, query)
      if ('error' in found) return { request: null, problem: found.error.message, declineTo: found.redirectTo }
      const { client, redirectUri, scopes: asked } = found
      return {
        request: {
          ...{ name: client.name, host: client.host, redirectHost: redirectHost(redirectUri) },
          ...{ isLocal: isLocalRedirect(redirectUri), scopes: asked },
        },
        problem: null,
        declineTo: refusalUrl(deps.publicUrl, found, new OAuthError('access_denied', 'The person declined')),
      }
    },
  })
}

function grantRoute(api: TeamApi, deps: OAuthDeps): void {
  api.post('/api/team/v1/workspaces/:workspaceId/oauth/grants', 'admin', {
    operationId: 'grantAuthorizationRequest',
    summary: 'Grant an OAuth authorization request',
    description:
      'For admins. Returns the address that gives the program a code, valid once and for a minute. It exchanges the code for tokens of a new API key with these settings. With `keyId` it gets that key again, which keeps its name, visibility and approval, and its former tokens end.',
    body: Type.Object(
      {
        request: Type.Object(requestParameters, closed),
        ...{ name, scopes: granted, connectionIds, phoneVisibility, approval },
        keyId: Type.Optional(uuid('A key of the same program, to connect it again instead of making a key.')),
      },
      { ...closed, example },
    ),
    answers: { 200: Type.Object({ redirectTo }) },
    allErrors: [400, 401, 403, 404],
    run: async ({ member, body: { request, keyId, ...settings } }) => {
      const found = await check(deps, request)
      if ('error' in found) throw badRequest(found.error.message)
      for (const [at, scope] of settings.scopes.entries()) {
        if (!found.scopes.includes(scope)) throw invalid(`scopes[${at}]`, `must be one of ${found.scopes.join(', ')}`)
      }
      if (keyId !== undefined) {
        await requireKeyOf(deps, member, keyId, found.client)
        const { scopes: newScopes, connectionIds: newIds = [] } = settings
        await changeKeyAs(deps, member, keyId, { scopes: newScopes, connectionIds: newIds })
      }
      const code = `plc_${createToken()}`
      const { client, redirectUri, codeChallenge } = found
      await storeCode(deps, member, code, {
        ...{ keyId: keyId ?? null, clientId: client.id, redirectUri, codeChallenge },
        // A program that a person uses gets no conversations of its own accord.
        settings: { ...settings, answersNewConversations: false },
      })
      return { redirectTo: answerUrl(redirectUri, { code, state: found.state, iss: deps.publicUrl }) }
    },
  })
}

async function requireKeyOf({ db, clock }: OAuthDeps, by: Member, keyId: string, client: OAuthClient): Promise<void> {
  const key = await selectApiKey(db.sql, by.workspaceId, keyId)
  if (key === null || key.oauthClient !== client.id || statusAt(key, clock.now()) !== 'active') {
    throw invalid('keyId', 'must be the id of an active API key of the same program')
  }
}

interface NewCode {
  keyId: string | null
  clientId: string
  redirectUri: string
  codeChallenge: string
  settings: Parameters<typeof checkKeySettings>[0]
}

async function storeCode(deps: OAuthDeps, by: Member, code: string, grant: NewCode): Promise<void> {
  const now = deps.clock.now()
  const { expiresAt: _, ...settings } = checkKeySettings(grant.settings, now)
  await deps.db.tx(async (tx) => {
    await refuseUnknownConnections(deps, tx, by.workspaceId, settings.connectionIds)
    const [made] = await tx<[{ count: number }]>`
      select count(*)::integer as count
      from oauth_codes
      where workspace_id = ${by.workspaceId}
        and expires_at > ${new Date(now.getTime() - dayMs)}`
    if (made.count >= maxCodesPerDay) throw tooManyRequests('Too many apps were connected today. Try again later', 3600)
    const row = {
      ...{ ...grant, settings: tx.json(settings), workspaceId: by.workspaceId, codeHash: hashToken(code) },
      ...{ createdBy: by.creatorId, actorType: by.actor.type, actorId: by.actor.id },
      ...{ createdAt: now, expiresAt: new Date(now.getTime() + codeMs) },
    }
    await tx`insert into oauth_codes ${tx.row(withColumnNames(row))}`
  })
}
