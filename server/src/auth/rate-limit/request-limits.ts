import type { FastifyReply } from 'fastify'
import { tooManyRequests } from '../../base/errors.ts'
import type { Limiter, RateLimitResult } from './limiter.ts'

export interface Limits {
  /** Requests per minute and key; 0 for no limit. */
  leadsPerMinute: number
  /** Applies to the event feed too, which is counted separately. */
  inboxPerMinute: number
}

/** A separately counted resource. */
type LimitedResource = 'leads' | 'inbox' | 'events'

/** Takes one request from the key's limit. Returns null if there is no limit. */
export async function countRequest(
  limits: Limits,
  limiter: Limiter,
  { keyId }: { keyId: string },
  resource: LimitedResource,
): Promise<RateLimitResult | null> {
  const limit = limitOf(limits, resource)
  return limit === 0 ? null : limiter.take(`${resource}:${keyId}`, limit)
}

export function limitOf(limits: Limits, resource: LimitedResource): number {
  return resource === 'leads' ? limits.leadsPerMinute : limits.inboxPerMinute
}

/** Returns the 429 for a limit per minute. */
export function rateLimited({ retryAfterSeconds }: RateLimitResult): Error {
  return tooManyRequests(`Rate limit reached. Try again in ${retryAfterSeconds} s.`, retryAfterSeconds, {
    code: 'RATE_LIMITED',
  })
}

/** Takes one unit of a limit per minute. Throws the 429 if none is left. */
export async function takeOrRefuse(limiter: Limiter, key: string, perMinute: number): Promise<void> {
  const take = await limiter.take(key, perMinute)
  if (!take.allowed) throw rateLimited(take)
}

// The header names are from a draft and may change. Use them only in this file.

/** Sets the headers with the state of a limit, for any response. */
export function setRateLimitHeaders(reply: FastifyReply, take: RateLimitResult): void {
  reply.header('ratelimit-limit', take.limit)
  reply.header('ratelimit-remaining', take.remaining)
  reply.header('ratelimit-reset', take.resetSeconds)
  reply.header('ratelimit-policy', `${take.limit};w=60`)
}

/** Sets the headers for a response that counts against no key, because none was accepted. */
export function setUncountedHeaders(reply: FastifyReply, limit: number): void {
  setRateLimitHeaders(reply, { allowed: true, limit, remaining: limit, resetSeconds: 0, retryAfterSeconds: 0 })
}
