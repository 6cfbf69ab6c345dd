import { type Static, Type } from 'typebox'
import type { Clock } from '../../base/clock.ts'
import { instanceScope, type KeyStore } from '../../base/encryption/key-store.ts'
import { isSameSecret } from '../../base/encryption/secret-token.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import { compileCheck } from '../../base/validation.ts'
import { OAuthError } from './oauth-error.ts'
import { redirectProblem } from './redirects.ts'

/** A program that asks people for access. Everything in it is what the program says about itself. */
export interface OAuthClient {
  id: string
  name: string
  redirectUris: readonly string[]
  /** Host of its metadata document, which proves who wrote it; null for a program that registered itself. */
  host: string | null
  /** Address of the public keys with which it signs token requests; null for a client without a key. */
  jwksUri: string | null
}

export interface ClientDeps {
  keyStore: Pick<KeyStore, 'keyring'>
  documents: ClientDocuments
}

export const maxClientIdLength = 2000
const maxRedirectUris = 10
const maxNameLength = 60
const unnamed = 'Unnamed app'

/** Returns the client of an id. Throws `invalid_client`, also if its document cannot be read. */
export async function findClient({ keyStore, documents }: ClientDeps, id: string): Promise<OAuthClient> {
  if (id.length > maxClientIdLength) throw unknownClient()
  return id.startsWith('https://') ? documents.read(id) : readRegistration(keyStore, id)
}

const unknownClient = () => new OAuthError('invalid_client', 'The client is unknown: register it again')

// Registration stores nothing: the id contains what was registered, and a digest by a key of this installation. So
// nobody can fill a table, and there are no unused registrations to remove.

/** Returns the id for a client that registers itself. Throws `invalid_redirect_uri`. */
export async function registerClient(
  keyStore: Pick<KeyStore, 'keyring'>,
  input: { redirect_uris: readonly string[]; client_name?: string },
): Promise<OAuthClient> {
  const redirectUris = checkRedirectUris(input.redirect_uris)
  const name = readableName(input.client_name)
  const content = Buffer.from(JSON.stringify([name, ...redirectUris])).toString('base64url')
  const id = `${content}.${await digestOf(keyStore, content)}`
  if (id.length > maxClientIdLength) throw new OAuthError('invalid_redirect_uri', 'redirect_uris are too long together')
  return { id, name, redirectUris, host: null, jwksUri: null }
}

async function readRegistration(keyStore: Pick<KeyStore, 'keyring'>, id: string): Promise<OAuthClient> {
  const [content = '', digest = ''] = id.split('.')
  if (`${content}.${digest}` !== id || !isSameSecret(digest, await digestOf(keyStore, content))) throw unknownClient()
  const [name = unnamed, ...redirectUris] = JSON.parse(Buffer.from(content, 'base64url').toString()) as string[]
  return { id, name, redirectUris, host: null, jwksUri: null }
}

async function digestOf(keyStore: Pick<KeyStore, 'keyring'>, content: string): Promise<string> {
  return (await keyStore.keyring(instanceScope)).stable('oauth.client', content).toString('base64url')
}

function checkRedirectUris(uris: readonly string[]): string[] {
  for (const [at, uri] of uris.entries()) {
    const problem = redirectProblem(uri)
    if (problem !== null) throw new OAuthError('invalid_redirect_uri', `redirect_uris[${at}] ${problem}`)
  }
  return [...new Set(uris)]
}

const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** Returns the name that a client gives itself, as one short line without invisible characters. */
const readableName = (name: string | undefined): string =>
  (name ?? '').replace(hidden, ' ').trim().slice(0, maxNameLength).toWellFormed().trim() || unnamed

/** Metadata of a client, in a registration or a document. Other fields are ignored. */
export const clientMetadata = Type.Object({
  client_name: Type.Optional(Type.String({ maxLength: 1000 })),
  redirect_uris: Type.Array(Type.String({ maxLength: 2000 }), { minItems: 1, maxItems: maxRedirectUris }),
})

const clientDocument = Type.Object({
  ...clientMetadata.properties,
  client_id: Type.String(),
  token_endpoint_auth_method: Type.Optional(Type.String()),
  jwks_uri: Type.Optional(Type.String({ maxLength: 2000 })),
})
const checkDocument = compileCheck(clientDocument)

/** Client ID metadata documents, read from their addresses. */
export interface ClientDocuments {
  read(url: string): Promise<OAuthClient>
}

const maxCached = 200
const [shortestMs, defaultMs, longestMs] = [5 * 60_000, 3_600_000, 24 * 3_600_000]
export const documentRequest = {
  method: 'GET',
  headers: { accept: 'application/json' },
  body: null,
  timeoutMs: 5000,
  maxAnswerBytes: 16_384,
  canRepeat: true,
} as const

/** Caches documents as long as their servers allow, from 5 minutes to a day; longer while they are unreachable. */
export function createClientDocuments(outgoing: Pick<Outgoing, 'call'>, clock: Clock): ClientDocuments {
  const cache = new Map<string, { client: OAuthClient; until: number }>()
  return {
    read: async (url) => {
      if (!isDocumentUrl(url)) throw new OAuthError('invalid_client', 'client_id is not the address of a document')
      const now = clock.now().getTime()
      const known = cache.get(url)
      if (known !== undefined && now < known.until) return known.client
      const answer = await outgoing.call({ ...documentRequest, url })
      if (answer.outcome === 'failed' || answer.status !== 200 || !answer.isWhole) {
        if (known !== undefined) return known.client
        throw new OAuthError('invalid_client', 'The metadata document of the client cannot be read')
      }
      const client = readDocument(url, answer.body)
      cache.delete(url)
      cache.set(url, { client, until: now + cachedMs(answer.headers['cache-control']) })
      const [oldest] = cache.keys()
      if (cache.size > maxCached && oldest !== undefined) cache.delete(oldest)
      return client
    },
  }
}

// The parser normalizes dots, cases and ports, so an address that it leaves unchanged has only one spelling.
const isDocumentUrl = (text: string): boolean =>
  URL.canParse(text) && new URL(text).href === text && new URL(text).pathname !== '/' && !/[#@]/.test(text)

function cachedMs(cacheControl = ''): number {
  const seconds = /(?:^|,)\s{0,9}max-age=(\d{1,9})/.exec(cacheControl.toLowerCase())?.[1]
  return Math.min(Math.max(seconds === undefined ? defaultMs : Number(seconds) * 1000, shortestMs), longestMs)
}

function readDocument(url: string, body: Buffer): OAuthClient {
  const refuse = (why: string) => new OAuthError('invalid_client', `The metadata document of the client ${why}`)
  let document: Static<typeof clientDocument>
  try {
    document = JSON.parse(body.toString('utf8'))
  } catch {
    throw refuse('is not JSON')
  }
  const [issue] = checkDocument(document, '')
  if (issue !== undefined) throw refuse(`is not valid: ${issue.path} ${issue.message}`)
  if (document.client_id !== url) throw refuse('has another client_id')
  const problem = document.redirect_uris.map(redirectProblem).find((one) => one !== null)
  if (problem !== undefined) throw refuse(`has a redirect_uri that ${problem}`)
  const { redirect_uris: redirectUris, token_endpoint_auth_method: method = 'none', jwks_uri: jwksUri } = document
  const common = { id: url, name: readableName(document.client_name), redirectUris, host: new URL(url).host }
  if (method === 'none') return { ...common, jwksUri: null }
  // A client that says that it signs must sign: without its key, a thief of its codes could claim to be it.
  if (method !== 'private_key_jwt') throw refuse('needs token_endpoint_auth_method none or private_key_jwt')
  if (jwksUri === undefined || !URL.canParse(jwksUri) || new URL(jwksUri).origin !== new URL(url).origin) {
    throw refuse('needs a jwks_uri on its own origin')
  }
  return { ...common, jwksUri }
}
