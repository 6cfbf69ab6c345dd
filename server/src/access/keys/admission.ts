import { forbidden, tooManyRequests, unavailable } from '../../base/errors.ts'
import type { Limiter, Take } from '../rate-limit/limiter.ts'
import type { Caller } from './caller.ts'

export type Face = 'leads' | 'inbox'
/** What is limited: the feed of events has a limit of its own beside those of the two faces. */
type Limited = Face | 'events'

export interface Limits {
  /** Requests a minute and key; 0 turns the limit off. */
  leadsPerMinute: number
  /** Also for the feed of events, which is counted by itself. */
  inboxPerMinute: number
}

/** Takes one request from the key's limit; null when there is none. */
export async function countRequest(
  limits: Limits,
  limiter: Limiter,
  caller: Caller,
  what: Limited,
): Promise<Take | null> {
  const limit = limitOf(limits, what)
  return limit === 0 ? null : limiter.take(`${what}:${caller.keyId}`, limit)
}

export function limitOf(limits: Limits, what: Limited): number {
  return what === 'leads' ? limits.leadsPerMinute : limits.inboxPerMinute
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

/** The faces whose events a caller may read. The inbox being away hides nothing that has happened. */
export function readableFaces({ workspace, may }: Caller): Face[] {
  const faces: Face[] = []
  if (may('leads.read') && workspace.leadsEnabled) faces.push('leads')
  if (may('inbox.read') && workspace.inboxEnabled) faces.push('inbox')
  return faces
}

/** Throws what keeps a known caller from the feed of events: 403 the plan, 429 the rate, in this order. */
export function checkFeedAdmission(caller: Caller, take: Take | null): void {
  if (readableFaces(caller).length === 0) {
    throw forbidden('The plan of this workspace includes no events that this key may read')
  }
  if (take !== null && !take.allowed) throw rateLimited(take)
}

/** The 429 of every limit per minute. */
export function rateLimited({ retryAfterSeconds }: Take): Error {
  return tooManyRequests(`Rate limit reached. Try again in ${retryAfterSeconds} s.`, retryAfterSeconds, {
    code: 'RATE_LIMITED',
  })
}
