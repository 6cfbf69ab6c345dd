import { forbidden, unavailable } from '../../base/errors.ts'
import type { Take } from '../rate-limit/limiter.ts'
import { rateLimited } from '../rate-limit/request-limits.ts'
import type { Caller } from './caller.ts'

export type Face = 'leads' | 'inbox'

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
