import { timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ClientAddress } from '../../auth/api-keys/authenticate.ts'
import type { Limiter } from '../../auth/rate-limit/limiter.ts'
import { setRateLimitHeaders } from '../../auth/rate-limit/request-limits.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { isUuid, newId } from '../../base/id.ts'
import { addressGroup } from '../../base/outgoing/address.ts'
import { originNotAllowed, type PublicForm, sentTooOften, tokenField } from '../form/form.ts'
import type { RawFields } from './submission.ts'

/** Returns whether the response must be JSON rather than a page. */
export function wantsJson(request: FastifyRequest): boolean {
  const accept = request.headers.accept ?? ''
  return isJson(request) || (/[/+]json\b/.test(accept) && !accept.includes('text/html'))
}

export function isJson(request: FastifyRequest): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/.test(request.headers['content-type'] ?? '')
}

/**
 * Allows posts from our own page, from sites that the form lists, and from programs; throws 403 for others. Scripts of
 * listed sites can read every response, including errors.
 */
export function authorizeSender(
  reply: FastifyReply,
  form: PublicForm,
  publicUrl: string,
  request: FastifyRequest,
): Sender {
  const { origin } = request.headers
  const sender = senderOf(form, publicUrl, request)
  reply.header('vary', 'Origin')
  if (sender === 'foreign') throw originNotAllowed()
  if (sender === 'listed') {
    reply.header('access-control-allow-origin', origin)
    reply.header('access-control-expose-headers', 'retry-after, x-request-id')
    // Otherwise the listed sites could not read the response.
    reply.header('cross-origin-resource-policy', 'cross-origin')
  }
  return sender
}

export interface RateDeps {
  limiter: Limiter
  clientAddress: ClientAddress
  keyStore: KeyStore
  submissionsPerMinute: number
}

// The owner of a /48 has 65,536 /64 networks.
const widerGroupFactor = 4

/**
 * Counts a post by form and client network, so that changing addresses within it does not help. Throws 429 beyond the
 * limit. Stores addresses only as digests.
 */
export async function countPost(
  deps: RateDeps,
  form: PublicForm,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (deps.submissionsPerMinute === 0) return
  const keyring = await deps.keyStore.keyring(form.workspaceId)
  const address = deps.clientAddress(request.raw) ?? ''
  const takeUnit = (group: string, limit: number) => {
    const digest = keyring.stable('form.address', group).toString('base64url')
    return deps.limiter.take(`form:${form.id}:${digest}`, limit)
  }
  const group = addressGroup(address)
  const take = await takeUnit(group, deps.submissionsPerMinute)
  setRateLimitHeaders(reply, take)
  if (!take.allowed) throw sentTooOften(take.retryAfterSeconds)
  const wider = addressGroup(address, 48)
  if (wider === group) return
  const widerTake = await takeUnit(wider, widerGroupFactor * deps.submissionsPerMinute)
  if (!widerTake.allowed) throw sentTooOften(widerTake.retryAfterSeconds)
}

/** Returns the first value of each parameter. Campaign links repeat and break theirs, and visitors cannot fix them. */
export function parseLooseQuery(url: string): Record<string, string> {
  const query: Record<string, string> = Object.create(null)
  const start = url.indexOf('?')
  if (start === -1) return query
  for (const [name, value] of new URLSearchParams(url.slice(start + 1))) query[name] ??= value
  return query
}

/** Origin of a post: our own page, a site that the form lists, a client without an `Origin` header, or another site. */
export type Sender = 'own' | 'listed' | 'unsaid' | 'foreign'

function senderOf(form: PublicForm, publicUrl: string, { headers, body }: FastifyRequest): Sender {
  const { origin, host } = headers
  if (origin === undefined) return 'unsaid'
  if (isOwn(origin, host, publicUrl)) return 'own'
  if (form.allowedOrigins.includes('*') || form.allowedOrigins.includes(origin)) return 'listed'
  // Browsers that hide the origin send `null`, also on our own page. An invalid token is still refused later.
  const hasToken = (body as RawFields | undefined)?.[tokenField] !== undefined
  return origin === 'null' && hasToken ? 'own' : 'foreign'
}

// The service may be reached under another host name than configured. No site can make a browser send our Host.
function isOwn(origin: string, host: string | undefined, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false
  return origin === new URL(publicUrl).origin || new URL(origin).host === host?.toLowerCase()
}

/** Shorter than a person takes to fill in a form. */
const minFillMs = 2_000
const maxFillMs = 24 * 3_600_000

export type TokenResult = { ok: true; nonce: string } | { ok: false; problem: 'tampered' | 'too fast' | 'too old' }

/** Issues a token for one served page: a nonce with the time of issue, signed by the workspace for this form. */
export function issueToken(keyring: Keyring, formId: string, now: Date): string {
  const nonce = newId(now)
  return `${nonce}.${sign(keyring, formId, nonce).toString('base64url')}`
}

export function verifyToken(keyring: Keyring, formId: string, token: string, now: Date): TokenResult {
  const [nonce = '', signature = '', extra] = token.split('.')
  const signatureBytes = Buffer.from(signature, 'base64url')
  const isOurs =
    extra === undefined &&
    isUuid(nonce) &&
    signatureBytes.length === 16 &&
    timingSafeEqual(sign(keyring, formId, nonce), signatureBytes)
  if (!isOurs) return { ok: false, problem: 'tampered' }
  const ageMs = now.getTime() - issuedAtMs(nonce)
  if (ageMs < minFillMs) return { ok: false, problem: 'too fast' }
  if (ageMs > maxFillMs) return { ok: false, problem: 'too old' }
  return { ok: true, nonce }
}

function sign(keyring: Keyring, formId: string, nonce: string): Buffer {
  return keyring.stable('form.token', `${formId} ${nonce}`)
}

function issuedAtMs(nonce: string): number {
  return Number.parseInt(nonce.slice(0, 8) + nonce.slice(9, 13), 16)
}
