import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ClientAddress } from '../access/client-address.ts'
import type { Limiter } from '../access/rate-limit.ts'
import { setRateLimitHeaders } from '../access/rate-limit-headers.ts'
import type { Vault } from '../base/vault.ts'
import { originNotAllowed, sentTooOften } from './errors.ts'
import { type PublicForm, tokenField } from './form.ts'
import { type Sender, senderOf } from './origin.ts'
import type { RawFields } from './parameters.ts'

/** Whether a request is answered with JSON rather than with a page. */
export function wantsJson(request: FastifyRequest): boolean {
  const accept = request.headers.accept ?? ''
  return isJson(request) || (/[/+]json\b/.test(accept) && !accept.includes('text/html'))
}

export function isJson(request: FastifyRequest): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/.test(request.headers['content-type'] ?? '')
}

/**
 * Lets in posts of our own page, of sites that the form lists, and of what is no browser; throws 403 for others.
 * Scripts of listed sites may read every answer, refusals included.
 */
export function admitSender(reply: FastifyReply, form: PublicForm, publicUrl: string, request: FastifyRequest): Sender {
  const { origin, host } = request.headers
  const body = request.body as RawFields | undefined
  const sender = senderOf(form, publicUrl, { origin, host, hasToken: body?.[tokenField] !== undefined })
  reply.header('vary', 'Origin')
  if (sender === 'foreign') throw originNotAllowed()
  if (sender === 'listed') {
    reply.header('access-control-allow-origin', origin)
    reply.header('access-control-expose-headers', 'retry-after, x-request-id')
    // Else the answer could not be read by the very sites that it is for.
    reply.header('cross-origin-resource-policy', 'cross-origin')
  }
  return sender
}

export interface RateDeps {
  limiter: Limiter
  clientAddress: ClientAddress
  vault: Vault
  submissionsPerMinute: number
}

/** Counts a post by form and client address; throws 429 beyond the limit. The address leaves here only as a digest. */
export async function takeTurn(
  deps: RateDeps,
  form: PublicForm,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (deps.submissionsPerMinute === 0) return
  const keyring = await deps.vault.keyring(form.workspaceId)
  const digest = keyring.stable('form.address', deps.clientAddress(request.raw) ?? '').toString('base64url')
  const take = await deps.limiter.take(`form:${form.id}:${digest}`, deps.submissionsPerMinute)
  setRateLimitHeaders(reply, take)
  if (!take.allowed) throw sentTooOften(take.retryAfterSeconds)
}

/** The first value of each parameter: links of campaigns repeat and break theirs, and people cannot mend them. */
export function looseQuery(url: string): Record<string, string> {
  const query: Record<string, string> = Object.create(null)
  const start = url.indexOf('?')
  if (start === -1) return query
  for (const [name, value] of new URLSearchParams(url.slice(start + 1))) query[name] ??= value
  return query
}
