import type { Message } from './types.ts'

/** How far a message has got. */
export type DeliveryStatus = Pick<Message, 'status' | 'errorCode'>

const statusOrder: readonly Message['status'][] = ['pending', 'sent', 'delivered', 'read']

/** The error code of a message whose outcome the service does not know. */
const outcomeUnknown = 'outcome_unknown'

/**
 * Whether a status is news. They climb; a failure stays, but one that was only assumed gives way to what the platform
 * tells.
 */
export function isStatusAdvance(from: DeliveryStatus, to: DeliveryStatus): boolean {
  if (from.status === 'failed') {
    return from.errorCode === outcomeUnknown && to.errorCode !== outcomeUnknown && to.status !== 'pending'
  }
  if (to.status === 'failed') return from.status === 'pending' || from.status === 'sent'
  return statusOrder.indexOf(to.status) > statusOrder.indexOf(from.status)
}
