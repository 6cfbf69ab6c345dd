import type { FastifyReply } from 'fastify'
import { tooManyRequests } from '../../base/errors.ts'
import type { Limiter, Take } from './limiter.ts'

export interface Limits {
  /** Requests a minute and key; 0 turns the limit off. */
  leadsPerMinute: number
  /** Also for the feed of events, which is counted by itself. */
  inboxPerMinute: number
}

/** What is limited: the feed of events has a limit of its own beside those of the two faces. */
type Limited = 'leads' | 'inbox' | 'events'

/** Takes one request from the key's limit; null when there is none. */
export async function countRequest(
  limits: Limits,
  limiter: Limiter,
  { keyId }: { keyId: string },
  what: Limited,
): Promise<Take | null> {
  const limit = limitOf(limits, what)
  return limit === 0 ? null : limiter.take(`${what}:${keyId}`, limit)
}

export function limitOf(limits: Limits, what: Limited): number {
  return what === 'leads' ? limits.leadsPerMinute : limits.inboxPerMinute
}

/** The 429 of every limit per minute. */
export function rateLimited({ retryAfterSeconds }: Take): Error {
  return tooManyRequests(`Rate limit reached. Try again in ${retryAfterSeconds} s.`, retryAfterSeconds, {
    code: 'RATE_LIMITED',
  })
}

// The names are a draft's and may change: they stand here and nowhere else.

/** Puts the state of a limit on the answer, whatever the answer becomes. */
export function setRateLimitHeaders(reply: FastifyReply, take: Take): void {
  reply.header('ratelimit-limit', take.limit)
  reply.header('ratelimit-remaining', take.remaining)
  reply.header('ratelimit-reset', take.resetSeconds)
  reply.header('ratelimit-policy', `${take.limit};w=60`)
}

/** For an answer that counts against no key, since none was accepted. */
export function setUncountedHeaders(reply: FastifyReply, limit: number): void {
  setRateLimitHeaders(reply, { allowed: true, limit, remaining: limit, resetSeconds: 0, retryAfterSeconds: 0 })
}
