import { Type } from 'typebox'
import { isScope, purposes, type Scope } from '../api-keys/caller.ts'
import { maxClientIdLength, type OAuthClient } from './clients.ts'
import { OAuthError } from './oauth-error.ts'
import { answerUrl, isOwnResource, isRegistered } from './redirects.ts'

/** Scopes that clients can ask for: those that the tools for agents need. */
export const oauthScopes: readonly Scope[] = purposes.replying.scopes

const parameter = (maxLength: number, description: string) => Type.Optional(Type.String({ maxLength, description }))

/** Parameters of the request as the client put them into the address. Their values are checked one by one. */
export const requestParameters = {
  response_type: parameter(100, 'Must be `code`.'),
  client_id: parameter(maxClientIdLength, 'The client.'),
  redirect_uri: parameter(2000, 'One of those that the client registered.'),
  state: parameter(2000, 'Returned to the client unchanged.'),
  scope: parameter(1000, 'Requested scopes, separated by spaces. Unknown ones are ignored.'),
  code_challenge: parameter(200, 'PKCE challenge.'),
  code_challenge_method: parameter(20, 'Must be `S256`.'),
  resource: parameter(2000, 'Address of `/mcp`.'),
}

export type RequestParameters = { [name in keyof typeof requestParameters]?: string | undefined }

export interface AuthorizationRequest {
  client: OAuthClient
  redirectUri: string
  state: string | null
  codeChallenge: string
  /** At most these can be granted. */
  scopes: Scope[]
}

interface RequestDeps {
  publicUrl: string
  find(clientId: string): Promise<OAuthClient>
}

/**
 * Checks an authorization request. Throws while it is not certain that the redirect URI belongs to the client: nobody is
 * redirected then. Later problems are returned with the address that tells the client.
 */
export async function checkRequest(
  { publicUrl, find }: RequestDeps,
  asked: RequestParameters,
): Promise<AuthorizationRequest | { error: OAuthError; redirectTo: string }> {
  const { client_id: clientId, redirect_uri: redirectUri, state = null } = asked
  if (clientId === undefined) throw new OAuthError('invalid_request', 'client_id is missing')
  const client = await find(clientId)
  if (redirectUri === undefined || !isRegistered(client.redirectUris, redirectUri)) {
    throw new OAuthError('invalid_request', 'redirect_uri is not one of those that the client registered')
  }
  try {
    return { client, redirectUri, state, ...readGrant(publicUrl, asked) }
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    return { error, redirectTo: refusalUrl(publicUrl, { redirectUri, state }, error) }
  }
}

function readGrant(
  publicUrl: string,
  asked: RequestParameters,
): Pick<AuthorizationRequest, 'codeChallenge' | 'scopes'> {
  const { code_challenge: codeChallenge = '', code_challenge_method: method, scope, resource } = asked
  if (asked.response_type !== 'code') throw new OAuthError('unsupported_response_type', 'response_type must be code')
  if (method !== 'S256' || !/^[\w-]{43}$/.test(codeChallenge)) {
    throw new OAuthError('invalid_request', 'code_challenge with code_challenge_method S256 is required')
  }
  if (!isOwnResource(publicUrl, resource)) throw new OAuthError('invalid_target', 'resource is another server')
  return { codeChallenge, scopes: readScopes(scope) }
}

function readScopes(scope: string | undefined): Scope[] {
  if (scope === undefined || scope.trim() === '') return [...oauthScopes]
  const named = new Set(scope.split(' ').filter(isScope))
  const scopes = oauthScopes.filter((one) => named.has(one))
  if (scopes.length === 0) throw new OAuthError('invalid_scope', `scope must name some of ${oauthScopes.join(' ')}`)
  return scopes
}

/** Returns the address that tells the client why it gets no code. `iss` shows it who answers (RFC 9207). */
export const refusalUrl = (
  publicUrl: string,
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  { code, message }: OAuthError,
): string => answerUrl(redirectUri, { error: code, error_description: message, state, iss: publicUrl })
