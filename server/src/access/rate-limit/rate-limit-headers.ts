import type { FastifyReply } from 'fastify'
import type { Take } from './limiter.ts'

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
