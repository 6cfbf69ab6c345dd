import formbody from '@fastify/formbody'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../base/errors.ts'
import { addressGroup } from '../../base/outgoing/address.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import type { App } from '../../base/route.ts'
import { invalidInput } from '../../base/validation.ts'
import type { KeyDeps } from '../api-keys/change-key.ts'
import type { Limiter } from '../rate-limit/limiter.ts'
import { takeOrRefuse } from '../rate-limit/request-limits.ts'
import type { TeamDeps } from '../users/users.ts'
import { oauthScopes } from './authorization-request.ts'
import { assertionAlgorithms, assertionType, checkAssertion } from './client-assertion.ts'
import { type ClientDeps, clientMetadata, findClient, registerClient } from './clients.ts'
import { OAuthError } from './oauth-error.ts'
import { resourceOf, servesOAuth } from './redirects.ts'
import { exchangeToken, revokeToken, type TokenForm, tokenForm } from './tokens.ts'

export interface OAuthDeps extends KeyDeps, ClientDeps, Pick<TeamDeps, 'publicUrl' | 'clientAddressOf'> {
  outgoing: Pick<Outgoing, 'call'>
  limiter: Limiter
}

/** Page of the web app on which people decide about a request. */
const authorizePath = '/oauth/authorize'
const metadataPath = '/.well-known/oauth-authorization-server'
const paths = { register: '/oauth/register', token: '/oauth/token', revoke: '/oauth/revoke' } as const

const perMinute = { register: 20, token: 120, client: 60 }
const maxBodyBytes = 32_768

/**
 * Serves the endpoints of an OAuth 2.1 authorization server that programs call: metadata, registration, tokens and their
 * revocation. Does nothing if the public URL is unencrypted.
 */
export function oauthRoutes(app: App, deps: OAuthDeps): void {
  if (!servesOAuth(deps.publicUrl)) return
  // An encapsulated scope: only its errors and bodies have the form that OAuth prescribes.
  app.register(async (scope: App) => {
    await scope.register(formbody, { bodyLimit: maxBodyBytes })
    scope.setErrorHandler(sendOAuthError)
    // No cookie is read here, so pages of any origin may call.
    scope.addHook('onRequest', (_request, reply, done) => {
      reply.headers({ 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' })
      done()
    })
    const metadata = metadataOf(deps.publicUrl)
    scope.get(metadataPath, { schema: { hide: true } }, async () => metadata)
    for (const path of [metadataPath, ...Object.values(paths)]) {
      scope.options(path, { schema: { hide: true } }, (_request, reply) => reply.code(204).headers(preflight).send())
    }
    registrationRoute(scope, deps)
    tokenRoutes(scope, deps)
  })
}

const preflight = {
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'content-type, authorization, mcp-protocol-version',
  'access-control-max-age': '600',
}

/** Returns the metadata of the authorization server (RFC 8414). */
const metadataOf = (publicUrl: string) => ({
  issuer: publicUrl,
  authorization_endpoint: publicUrl + authorizePath,
  token_endpoint: publicUrl + paths.token,
  registration_endpoint: publicUrl + paths.register,
  revocation_endpoint: publicUrl + paths.revoke,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
  token_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
  revocation_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
  scopes_supported: oauthScopes,
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
  protected_resources: [resourceOf(publicUrl)],
  service_documentation: `${publicUrl}/docs/agents.md`,
})

function registrationRoute(scope: App, deps: OAuthDeps): void {
  const schema = { hide: true, body: clientMetadata }
  scope.post(paths.register, { schema, bodyLimit: maxBodyBytes }, async ({ raw, body }, reply) => {
    await countRequest(deps, `register:${addressGroup(deps.clientAddressOf(raw))}`, perMinute.register)
    const { id, name, redirectUris } = await registerClient(deps.keyStore, body)
    // What the client asked for otherwise is replaced by what it gets, as RFC 7591 allows.
    return reply.code(201).send({
      client_id: id,
      client_id_issued_at: Math.floor(deps.clock.now().getTime() / 1000),
      client_name: name,
      redirect_uris: redirectUris,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: oauthScopes.join(' '),
    })
  })
}

function tokenRoutes(scope: App, deps: OAuthDeps): void {
  const options = { schema: { hide: true, body: tokenForm }, bodyLimit: maxBodyBytes }
  const audiences = [deps.publicUrl, deps.publicUrl + paths.token]
  const authenticate = async ({ client_id: id, client_assertion: assertion, ...form }: TokenForm) => {
    if (id === undefined) throw new OAuthError('invalid_client', 'client_id is missing')
    const client = await findClient(deps, id)
    const { jwksUri } = client
    if (jwksUri === null) return client
    if (assertion === undefined || form.client_assertion_type !== assertionType) {
      throw new OAuthError('invalid_client', 'client_assertion is missing: the client signs its requests')
    }
    await checkAssertion({ outgoing: deps.outgoing, audiences }, { ...client, jwksUri }, assertion, deps.clock.now())
    return client
  }
  const tokenDeps = { ...deps, authenticate }
  const count = async ({ raw, body }: { raw: FastifyRequest['raw']; body: TokenForm }) => {
    const group = addressGroup(deps.clientAddressOf(raw))
    await countRequest(deps, `token:${group}`, perMinute.token)
    // Per client and address, because nobody must be able to use up what a client may do elsewhere.
    await countRequest(deps, `client:${group}:${(body.client_id ?? '').slice(-100)}`, perMinute.client)
  }
  scope.post(paths.token, options, async (request, reply) => {
    await count(request)
    return reply.header('pragma', 'no-cache').send(await exchangeToken(tokenDeps, request.body))
  })
  scope.post(paths.revoke, options, async (request, reply) => {
    await count(request)
    await revokeToken(tokenDeps, request.body)
    return reply.send({})
  })
}

const countRequest = ({ limiter }: OAuthDeps, key: string, limit: number): Promise<void> =>
  takeOrRefuse(limiter, `oauth:${key}`, limit)

/** Sends errors as OAuth prescribes them; throws those that are not the client's to the server's error handler. */
function sendOAuthError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = clientError(error, request.routeOptions.url === paths.register)
  if (known === null) throw error
  const { statusCode, message, headers, code } = known
  return reply.code(statusCode).headers(headers).send({ error: code, error_description: message })
}

function clientError(error: unknown, isRegistration: boolean) {
  if (error instanceof OAuthError) return error
  const code = isRegistration ? 'invalid_client_metadata' : 'invalid_request'
  if (error instanceof ApiError) {
    const { statusCode, message, headers } = error
    return { statusCode, message, headers, code: statusCode === 429 ? 'temporarily_unavailable' : code }
  }
  const { validation, statusCode = 500 } = error as {
    validation?: Parameters<typeof invalidInput>[0]
    statusCode?: number
  }
  if (validation !== undefined) {
    const [issue] = invalidInput(validation, 'body').issues
    const isRedirect = isRegistration && issue?.path.startsWith('redirect_uris')
    const message = `${issue?.path || 'The body'} ${issue?.message}`
    return { statusCode: 400, message, headers: {}, code: isRedirect ? 'invalid_redirect_uri' : code }
  }
  if (statusCode < 400 || statusCode >= 500) return null
  const message = statusCode === 415 ? 'The body has the wrong Content-Type' : 'The body cannot be read'
  return { statusCode, message, headers: {}, code }
}
