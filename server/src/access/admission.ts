import { forbidden, tooManyRequests, unavailable } from '../base/errors.ts'
import type { Caller } from './caller.ts'
import type { Limiter, Take } from './rate-limit.ts'

export type Face = 'leads' | 'inbox'

export interface Limits {
  /** Requests a minute and key; 0 turns the limit off. */
  leadsPerMinute: number
  inboxPerMinute: number
}

/** Takes one request from the key's limit; null when there is none. */
export async function countRequest(limits: Limits, limiter: Limiter, caller: Caller, face: Face): Promise<Take | null> {
  const limit = limitOf(limits, face)
  return limit === 0 ? null : limiter.take(`${face}:${caller.keyId}`, limit)
}

export function limitOf(limits: Limits, face: Face): number {
  return face === 'leads' ? limits.leadsPerMinute : limits.inboxPerMinute
}

/** Throws what keeps a known caller out: 403 the plan, 429 the rate, 503 the inbox, in this order. */
export function checkAdmission({ workspace }: Caller, face: Face, take: Take | null): void {
  if (face === 'leads' && !workspace.leadsEnabled) throw forbidden('The plan of this workspace does not include leads')
  if (face === 'inbox' && !workspace.inboxEnabled) {
    throw forbidden('The plan of this workspace does not include the inbox')
  }
  if (take !== null && !take.allowed) throw rateLimited(take)
  if (face === 'inbox' && !workspace.inboxAvailable) {
    throw unavailable('The inbox is not available for this workspace at the moment', { code: 'CHAT_INBOX_UNAVAILABLE' })
  }
}

/** The 429 of every limit per minute. */
export function rateLimited({ retryAfterSeconds }: Take): Error {
  return tooManyRequests(`Rate limit reached. Try again in ${retryAfterSeconds} s.`, retryAfterSeconds, {
    code: 'RATE_LIMITED',
  })
}
