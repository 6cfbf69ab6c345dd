import type * as OpenIdClient from 'openid-client'
import { loadLater } from '../../base/load-later.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import type { Provider } from '../providers/provider.ts'
import type { ProviderSettings } from '../providers/provider-schema.ts'

const openid = loadLater<typeof OpenIdClient>('openid-client')

/** Why a sign-in at a provider failed: `unavailable` if it did not answer. The message has no personal data. */
export class SsoFailure extends Error {
  readonly reason: 'unavailable' | 'denied' | 'failed'

  constructor(reason: SsoFailure['reason'], message: string, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
  }
}

/** What the browser keeps between leaving for the provider and coming back. */
export interface Attempt {
  state: string
  nonce: string
  verifier: string
}

export type Claims = Readonly<Record<string, unknown>>

/** OpenID Connect with the configured providers. */
export interface Oidc {
  /** Returns the address at which the person signs in, and what to keep for `finish`. */
  start(provider: Provider, redirectUri: string): Promise<{ url: string; attempt: Attempt }>
  /**
   * Exchanges the code of the answer and returns the claims of the ID token, completed by those of the user info. Checks
   * state, issuer, audience, nonce, expiry, PKCE and signature. Throws `SsoFailure`.
   */
  finish(provider: Provider, answer: URL, attempt: Attempt): Promise<Claims>
  /** Returns the provider's metadata. Throws `SsoFailure`. */
  metadata(settings: Pick<ProviderSettings, 'issuer' | 'clientId'>): Promise<Metadata>
}

type Metadata = OpenIdClient.ServerMetadata

const defaultTimeoutMs = 8_000
const maxAnswerBytes = 262_144
/** Short, because a provider may move its endpoints. Its keys are read at every sign-in, so they may rotate any time. */
const cachedMs = 10 * 60_000
const maxCached = 40

export function createOidc(outgoing: Pick<Outgoing, 'call'>, timeoutMs = defaultTimeoutMs): Oidc {
  const cache = new Map<string, { metadata: Metadata; until: number }>()
  const request = guardedFetch(outgoing, timeoutMs)

  const metadata: Oidc['metadata'] = async ({ issuer, clientId }) => {
    const known = cache.get(issuer)
    if (known !== undefined && performance.now() < known.until) return known.metadata
    const client = openid()
    const found = await attempted(() =>
      client.discovery(new URL(issuer), clientId, undefined, undefined, {
        [client.customFetch]: request,
        timeout: (timeoutMs + 1000) / 1000,
        execute: isPlain(issuer) ? [client.allowInsecureRequests] : [],
      }),
    )
    // A copy without functions, from which each sign-in makes a configuration of its own.
    const read = JSON.parse(JSON.stringify(found.serverMetadata())) as Metadata
    if (cache.size >= maxCached) cache.clear()
    cache.set(issuer, { metadata: read, until: performance.now() + cachedMs })
    return read
  }

  const configure = async ({ settings }: Provider): Promise<OpenIdClient.Configuration> => {
    const client = openid()
    const server = await metadata(settings)
    const { clientId, clientSecret } = settings
    // The default of the specification, and of clients that are registered without a choice.
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authenticate = methods.includes('client_secret_basic')
      ? client.ClientSecretBasic(clientSecret)
      : client.ClientSecretPost(clientSecret)
    const config = new client.Configuration(server, clientId, { client_secret: clientSecret }, authenticate)
    config[client.customFetch] = request
    // The guarded client gives up first, and says why.
    config.timeout = (timeoutMs + 1000) / 1000
    if (isPlain(settings.issuer)) client.allowInsecureRequests(config)
    // Also checks the signature of the ID token, which the connection to the provider vouches for otherwise.
    client.enableNonRepudiationChecks(config)
    return config
  }

  return {
    metadata,
    start: async (provider, redirectUri) => {
      const client = openid()
      const config = await configure(provider)
      const attempt = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      }
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: scopesFor(config.serverMetadata(), provider.settings),
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, attempt }
    },
    finish: async (provider, answer, attempt) => {
      const config = await configure(provider)
      return attempted(() => exchangeCode(config, provider.settings, answer, attempt))
    },
  }
}

async function exchangeCode(
  config: OpenIdClient.Configuration,
  { groupsClaim }: ProviderSettings,
  answer: URL,
  { state, nonce, verifier }: Attempt,
): Promise<Claims> {
  const client = openid()
  const tokens = await client.authorizationCodeGrant(config, answer, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  })
  const claims = tokens.claims()
  if (claims === undefined) throw new SsoFailure('failed', 'The provider sent no ID token')
  const isComplete = claims.email !== undefined && (groupsClaim === null || hasClaim(claims, groupsClaim))
  if (isComplete || config.serverMetadata().userinfo_endpoint === undefined) return claims
  const info = await client.fetchUserInfo(config, tokens.access_token, claims.sub)
  // An address counts only with the statement of the same source whether it is verified.
  const { email: _, email_verified: __, ...rest } = claims
  return claims.email === undefined ? { ...info, ...rest } : { ...info, ...claims, ...emailOf(claims) }
}

const emailOf = ({ email, email_verified }: Claims) => ({ email, email_verified })

const isPlain = (issuer: string): boolean => issuer.startsWith('http:')

/** Some providers send groups only for a scope of that name. */
function scopesFor({ scopes_supported: supported }: Metadata, { groupsClaim }: ProviderSettings): string {
  return groupsClaim !== null && supported?.includes('groups') ? 'openid email profile groups' : 'openid email profile'
}

/** Returns a claim, by its whole name or with dots for nested ones. */
export function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Claims)[part]
  }
  return value
}

const hasClaim = (claims: Claims, name: string): boolean => claimAt(claims, name) !== undefined

/** Sends requests to addresses that a provider's metadata names, which must not reach the operator's network. */
function guardedFetch(outgoing: Pick<Outgoing, 'call'>, timeoutMs: number): OpenIdClient.CustomFetch {
  return async (url, { method, headers, body }) => {
    const answer = await outgoing.call({
      method: method === 'POST' ? 'POST' : 'GET',
      url,
      headers: { ...headers },
      body: body === undefined || body === null ? null : String(body),
      timeoutMs,
      maxAnswerBytes,
    })
    if (answer.outcome === 'failed')
      throw new SsoFailure('unavailable', `The provider cannot be reached: ${answer.code}`)
    if (answer.status >= 500) throw new SsoFailure('unavailable', `The provider answers ${answer.status}`)
    if (!answer.isWhole) throw new SsoFailure('failed', 'The answer of the provider is too large')
    const isEmpty = [204, 205, 304].includes(answer.status)
    const sent = Object.entries(answer.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')] as [string, string]],
    )
    return new Response(isEmpty ? null : answer.body, { status: answer.status, headers: sent })
  }
}

/** Turns every error of the library into an `SsoFailure`. */
async function attempted<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toFailure(error)
  }
}

function toFailure(error: unknown): unknown {
  for (let each: unknown = error; each instanceof Error; each = each.cause) if (each instanceof SsoFailure) return each
  if (!(error instanceof Error)) return error
  const { code, error: answered } = error as Error & { code?: string; error?: string }
  if (answered === 'access_denied') return new SsoFailure('denied', 'The provider refused access', error)
  if (answered === 'temporarily_unavailable') {
    return new SsoFailure('unavailable', 'The provider is temporarily unavailable', error)
  }
  const detail = [error.message, code, answered].filter((part) => typeof part === 'string' && part !== '')
  return new SsoFailure('failed', detail.join(': ').slice(0, 300), error)
}
