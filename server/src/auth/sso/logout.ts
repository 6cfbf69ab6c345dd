import formbody from '@fastify/formbody'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { instanceScope } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { hashToken } from '../../base/encryption/secret-token.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import type { App } from '../../base/route.ts'
import { instanceEntry, recordAudit, systemActor } from '../../team/audit.ts'
import { readSigned } from '../oauth/client-assertion.ts'
import { OAuthError } from '../oauth/oauth-error.ts'
import type { Provider } from '../providers/provider.ts'
import { endProviderSessions } from '../sign-in/sessions.ts'
import { sidOf, subjectOf } from './identity.ts'
import { SsoFailure } from './oidc.ts'
import { countRequest, findEnabled, type SsoDeps, ssoPath, targetOf } from './sso-routes.ts'

export interface LogoutDeps extends SsoDeps {
  outgoing: Pick<Outgoing, 'call'>
}

const event = 'http://schemas.openid.net/event/backchannel-logout'
const maxBodyBytes = 32_768
/** How old a token may be, and how far a clock may be ahead. */
const maxAgeSeconds = 300
const skewSeconds = 60

/** Adds the route by which a provider ends sessions (OpenID Connect Back-Channel Logout 1.0). */
export function logoutRoutes(app: App, deps: LogoutDeps): void {
  app.register(async (scope: App) => {
    await scope.register(formbody, { bodyLimit: maxBodyBytes })
    const schema = {
      hide: true,
      params: Type.Object({ providerId: Type.String({ maxLength: 36 }) }),
      body: Type.Object({ logout_token: Type.String({ minLength: 1, maxLength: 16_384 }) }),
    }
    const options = { schema, bodyLimit: maxBodyBytes, attachValidation: true }
    scope.post(ssoPath(':providerId', '/logout'), options, async (request, reply) => {
      await countRequest(deps, request)
      reply.header('cache-control', 'no-store')
      if (request.validationError !== undefined) return refuse(reply, 'logout_token is missing')
      const instanceKeys = await deps.keyStore.keyring(instanceScope)
      const provider = await findEnabled(deps, instanceKeys, request.params.providerId)
      if (provider === undefined) return refuse(reply, 'The provider is unknown')
      try {
        await logOut(deps, instanceKeys, provider, request.body.logout_token)
        return reply.code(200).send('')
      } catch (error) {
        if (error instanceof LogoutRefusal || error instanceof SsoFailure) return refuse(reply, error.message)
        if (error instanceof OAuthError) return refuse(reply, 'logout_token is not signed by the provider')
        throw error
      }
    })
  })
}

function refuse(reply: FastifyReply, description: string): FastifyReply {
  return reply.code(400).send({ error: 'invalid_request', error_description: description })
}

class LogoutRefusal extends Error {}

interface Logout {
  issuer: string
  sub: string | null
  sid: string | null
  jti: string
  expires: Date
}

async function logOut(deps: LogoutDeps, instanceKeys: Keyring, provider: Provider, token: string): Promise<void> {
  const { issuer, jwks_uri: jwksUri } = await deps.oidc.metadata(provider.settings)
  if (jwksUri === undefined) throw new LogoutRefusal('The provider publishes no keys')
  const now = deps.wallClock.now()
  const claims = await readSigned(deps.outgoing, jwksUri, token)
  const logout = checkClaims(claims, { issuer, clientId: provider.settings.clientId, now })
  await deps.db.tx(async (tx) => {
    const used = await tx`
      insert into sso_logouts (provider_id, jti, expires_at)
      values (${provider.id}, ${hashToken(logout.jti)}, ${logout.expires})
      on conflict do nothing`
    if (used.count === 0) throw new LogoutRefusal('logout_token was used before')
    const userId = logout.sub === null ? null : await userOf(logout.sub)
    // A person who never signed in here has no sessions to end.
    if (userId === undefined) return
    const sid = logout.sid === null ? null : sidOf(instanceKeys, logout.issuer, logout.sid)
    const ended = await endProviderSessions(tx, provider.id, { sid, userId })
    if (ended === 0) return
    await recordAudit(tx, instanceEntry(systemActor, 'sso.signed-out', targetOf(provider.id)), now, ended)

    async function userOf(sub: string): Promise<string | undefined> {
      const [row] = await tx<{ user_id: string }[]>`
        select user_id
        from sso_identities
        where provider_id = ${provider.id}
          and subject = ${subjectOf(instanceKeys, logout.issuer, sub)}`
      return row?.user_id
    }
  })
}

/** Checks what the specification demands of a logout token, so that no other token of the provider is taken for one. */
export function checkClaims(
  claims: Record<string, unknown>,
  { issuer, clientId, now }: { issuer: string; clientId: string; now: Date },
): Logout {
  const { iss, aud, iat, exp, events, sub, sid, jti, nonce } = claims
  const seconds = now.getTime() / 1000
  if (iss !== issuer) throw new LogoutRefusal('iss is not the issuer')
  if (![aud].flat().includes(clientId)) throw new LogoutRefusal('aud is not this client')
  if (typeof iat !== 'number' || iat > seconds + skewSeconds || iat < seconds - maxAgeSeconds) {
    throw new LogoutRefusal('iat is not recent')
  }
  if (exp !== undefined && (typeof exp !== 'number' || exp < seconds - skewSeconds)) {
    throw new LogoutRefusal('logout_token has expired')
  }
  const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, event)
  if (!isLogout) throw new LogoutRefusal('events does not name a logout')
  if (nonce !== undefined) throw new LogoutRefusal('nonce must be absent')
  const named = { sub: textOf(sub), sid: textOf(sid) }
  if (named.sub === null && named.sid === null) throw new LogoutRefusal('sub and sid are missing')
  const id = textOf(jti)
  if (id === null) throw new LogoutRefusal('jti is missing')
  const expires = new Date((iat + maxAgeSeconds + skewSeconds) * 1000)
  return { issuer, ...named, jti: id, expires }
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value.length <= 1000 ? value : null
