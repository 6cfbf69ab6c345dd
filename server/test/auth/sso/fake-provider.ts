import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type Configuration } from 'oidc-provider'
import { newId } from '../../../src/base/id.ts'
import { atEnd } from '../../support/file-lifecycle.ts'

export const clientId = 'parley'
export const clientSecret = 'secret of the client that the provider knows'

/** Claims of a person at the provider. */
export type Account = Record<string, unknown> & { sub: string }

interface SigningKey {
  privateKey: KeyObject
  jwk: Record<string, unknown>
}

export function createKey(): SigningKey {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const kid = newId(new Date())
  return { privateKey, jwk: { ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' } }
}

export type FakeProvider = Awaited<ReturnType<typeof startProvider>>

/** Starts a real OpenID provider on this machine, at which the person in `account` is signed in. */
export async function startProvider(redirectUris: string[], logoutUri: string) {
  const state = {
    account: { sub: 'nobody' } as Account,
    /** Answers instead of the provider; true if it has. */
    intercept: null as ((request: IncomingMessage, response: ServerResponse) => boolean) | null,
    key: createKey(),
    /** Id of the session at the provider that its last visit began. */
    lastSid: '',
  }
  let serve: (request: IncomingMessage, response: ServerResponse) => unknown = () => {}
  const server = createServer((request, response) => {
    if (state.intercept?.(request, response)) return
    void serve(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  /** Makes the provider, with the key of the moment: a new one replaces what it published before. */
  const make = (): Provider => {
    const provider = new Provider(issuer, configurationOf(state, redirectUris, logoutUri))
    provider.on('authorization.success', ({ oidc }) => {
      state.lastSid = oidc.session?.sidFor(clientId) ?? ''
    })
    const handle = provider.callback()
    serve = async (request, response) => {
      if (!request.url?.startsWith('/interaction/')) return handle(request, response)
      await provider.interactionFinished(request, response, { login: { accountId: state.account.sub } })
    }
    return provider
  }
  let provider = make()

  return {
    issuer,
    state,
    rotateKeys: () => {
      state.key = createKey()
      provider = make()
    },
    /** Sends a logout as the provider does. */
    logOut: async (sub: string, sid: string) => {
      const client = await provider.Client.find(clientId)
      await (client as unknown as { backchannelLogout(sub: string, sid: string): Promise<void> }).backchannelLogout(
        sub,
        sid,
      )
    },
    /** Signs any claims by the provider's key, or another one. */
    sign: (claims: object, key: SigningKey = state.key) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const head = part({ alg: 'RS256', typ: 'logout+jwt', kid: key.jwk.kid })
      const text = `${head}.${part(claims)}`
      return `${text}.${sign('sha256', Buffer.from(text), key.privateKey).toString('base64url')}`
    },
    visit: (url: string) => visit(issuer, url),
  }
}

function configurationOf(
  state: { account: Account; key: SigningKey },
  redirectUris: string[],
  logoutUri: string,
): Configuration {
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: redirectUris,
        backchannel_logout_uri: logoutUri,
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [state.key.jwk] } as Configuration['jwks'] & object,
    cookies: { keys: ['a key of the test'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    // Its own refuses addresses of this machine.
    fetch: (url, { dispatcher: _, ...options }: RequestInit & { dispatcher?: unknown } = {}) => fetch(url, options),
    findAccount: (_ctx, accountId) => ({ accountId, claims: async () => ({ ...state.account, sub: accountId }) }),
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      })
      grant.addOIDCScope('openid email profile groups')
      await grant.save()
      return grant
    },
  }
}

/** Follows the provider's own pages as a browser of one visit does. Returns where it leads back to. */
async function visit(issuer: string, start: string): Promise<string> {
  const cookies = new Map<string, string>()
  let url = start
  for (let step = 0; step < 10 && url.startsWith(issuer); step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(url, { headers: { cookie }, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const next = answer.headers.get('location')
    if (next === null) throw new Error(`The provider answers ${answer.status}: ${await answer.text()}`)
    url = new URL(next, url).href
  }
  return url
}
