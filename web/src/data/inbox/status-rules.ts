import type { Message } from './types.ts'

/** How far a message has got. */
export type Rung = Pick<Message, 'status' | 'errorCode'>

const ladder: readonly Message['status'][] = ['pending', 'sent', 'delivered', 'read']

/** The error code of a message whose outcome the service does not know. */
const outcomeUnknown = 'outcome_unknown'

/**
 * Whether a status is news. They climb; a failure stays, but one that was only assumed gives way to what the platform
 * tells.
 */
export function climbs(from: Rung, to: Rung): boolean {
  if (from.status === 'failed') {
    return from.errorCode === outcomeUnknown && to.errorCode !== outcomeUnknown && to.status !== 'pending'
  }
  if (to.status === 'failed') return from.status === 'pending' || from.status === 'sent'
  return ladder.indexOf(to.status) > ladder.indexOf(from.status)
}
