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
