import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Configuration } from 'oidc-provider'
import { newId } from '../../server/src/base/id.ts'
import { type Html, html } from '../../server/src/base/text/html.ts'

export interface IdentityProvider {
  issuer: string
  close(): Promise<void>
}

/** A person at the simulated provider. */
interface Person {
  name: string
  email: string
  isVerified: boolean
  groups: readonly string[]
}

export const clientId = 'parley'
export const clientSecret = 'simulated secret'
const maxPeople = 100
const maxBodyLength = 4096
const maxTextLength = 200

const people: readonly Person[] = [
  { name: 'Ana Lima', email: 'ana@sso.example.com', isVerified: true, groups: ['support', 'admins'] },
  { name: 'Bea Reis', email: 'bea@sso.example.com', isVerified: true, groups: ['sales'] },
  { name: 'Caio Mota', email: 'caio@sso.example.com', isVerified: true, groups: [] },
  { name: 'Dora Luz', email: 'dora@elsewhere.example.net', isVerified: false, groups: ['support'] },
]

/**
 * Starts an OpenID provider on loopback, at which everybody signs in as a person of their choice, to try single sign-on of the
 * service. It sends people back only to that service. Its package is for development.
 */
export async function openIdentityProvider(port: number, serviceUrl: string): Promise<IdentityProvider> {
  const { default: Provider, interactionPolicy } = await import('oidc-provider')
  const known = new Map(people.map((person) => [person.email, person]))
  let serve: (request: IncomingMessage, response: ServerResponse) => unknown = () => {}
  const server = createServer((request, response) => void serve(request, response))
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const policy = interactionPolicy.base()
  // Each visit asks: who tries single sign-on wants to be several people.
  policy
    .get('login')
    ?.checks.add(
      new interactionPolicy.Check(
        'choice',
        'People choose who they are',
        ({ oidc }) => oidc.result?.login === undefined,
      ),
    )
  const provider = new Provider(issuer, configurationOf(known, serviceUrl, policy))
  // The path contains an id that the app chooses when the provider is added.
  Object.assign(provider.Client.prototype, {
    redirectUriAllowed: (uri: string) => uri.startsWith(`${serviceUrl}/sso/`) && new URL(uri).href === uri,
  })
  const handle = provider.callback()
  serve = async (request, response) => {
    try {
      if (request.url === '/') return sendPage(response, aboutPage(issuer))
      if (!request.url?.startsWith('/interaction/')) return await handle(request, response)
      if (request.method !== 'POST') return sendPage(response, choicePage([...known.values()]))
      const person = await readPerson(request)
      if (person === null) return sendPage(response, choicePage([...known.values()]), 400)
      if (known.size < maxPeople || known.has(person.email)) known.set(person.email, person)
      await provider.interactionFinished(request, response, { login: { accountId: person.email } })
    } catch {
      // An interaction that is over, or of another browser.
      if (!response.headersSent) sendPage(response, html`<p>This sign-in is over. Begin again.</p>`, 400)
    }
  }
  return {
    issuer,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function configurationOf(
  known: ReadonlyMap<string, Person>,
  serviceUrl: string,
  policy: NonNullable<NonNullable<Configuration['interactions']>['policy']>,
): Configuration {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = { ...privateKey.export({ format: 'jwk' }), kid: newId(new Date()), use: 'sig', alg: 'RS256' }
  return {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [`${serviceUrl}/sso/any/callback`] }],
    jwks: { keys: [key] } as Configuration['jwks'] & object,
    cookies: { keys: [newId(new Date())] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { policy, url: (_ctx, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    findAccount: (_ctx, accountId) => ({
      accountId,
      claims: async () => {
        const { name = '', email = '', isVerified = false, groups = [] } = known.get(accountId) ?? {}
        return { sub: accountId, name, email, email_verified: isVerified, groups: [...groups] }
      },
    }),
    // Nobody is asked what the service may see.
    loadExistingGrant: async ({ oidc }) => {
      const { client, session } = oidc
      const grant = new oidc.provider.Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' })
      grant.addOIDCScope('openid email profile groups')
      await grant.save()
      return grant
    },
  }
}

/** Reads the form of a person; null if it is incomplete. */
async function readPerson(request: IncomingMessage): Promise<Person | null> {
  let text = ''
  for await (const chunk of request) {
    text += String(chunk)
    if (text.length > maxBodyLength) return null
  }
  const form = new URLSearchParams(text)
  const value = (name: string) => (form.get(name) ?? '').trim().slice(0, maxTextLength)
  const [name, email] = [value('name'), value('email').toLowerCase()]
  if (name === '' || !email.includes('@')) return null
  const groups = value('groups').split(',')
  return {
    ...{ name, email, isVerified: form.has('isVerified') },
    groups: groups.map((group) => group.trim()).filter((group) => group !== ''),
  }
}

const hidden = (name: string, value: string) => html`<input type="hidden" name="${name}" value="${value}">`

const choicePage = (list: readonly Person[]): Html => html`<h1>Who are you?</h1>
${list.map(
  ({ name, email, isVerified, groups }) => html`<form method="post"><p>
${hidden('name', name)}${hidden('email', email)}${hidden('groups', groups.join(','))}${isVerified && hidden('isVerified', 'on')}
<button>${name}</button> ${email}${!isVerified && ' (not verified)'}${groups.length > 0 && `, groups: ${groups.join(', ')}`}</p></form>`,
)}
<h2>Another person</h2>
<form method="post">
<p><label>Name <input name="name" required maxlength="100"></label></p>
<p><label>Email <input name="email" type="email" required maxlength="200"></label></p>
<p><label>Groups, separated by commas <input name="groups" maxlength="200"></label></p>
<p><label><input type="checkbox" name="isVerified" checked> Email is verified</label></p>
<p><button>Sign in</button></p>
</form>`

const aboutPage = (issuer: string): Html => html`<h1>Simulated identity provider</h1>
<p>Add it in Parley, in Settings → Single sign-on:</p>
<dl><dt>Issuer URL</dt><dd><code>${issuer}</code></dd>
<dt>Client ID</dt><dd><code>${clientId}</code></dd>
<dt>Client secret</dt><dd><code>${clientSecret}</code></dd>
<dt>Claim with groups</dt><dd><code>groups</code></dd></dl>
<p>Everybody signs in as a person of their choice. It has no authentication.</p>`

function sendPage(response: ServerResponse, body: Html, status = 200): void {
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Simulated identity provider</title></head>
<body style="font:16px/1.5 system-ui,sans-serif;max-width:640px;margin:48px auto;padding:0 16px">${body}</body></html>`
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
    })
    .end(page.text)
}
