import type { Message } from './types.ts'

export type DeliveryStatus = Pick<Message, 'status' | 'errorCode'>

const statusOrder: readonly Message['status'][] = ['pending', 'sent', 'delivered', 'read']

const outcomeUnknown = 'outcome_unknown'

/**
 * Returns whether a status replaces another. A status only advances; a failure is final, except that an assumed failure
 * is replaced by what the platform reports.
 */
export function isStatusAdvance(from: DeliveryStatus, to: DeliveryStatus): boolean {
  if (from.status === 'failed') {
    return from.errorCode === outcomeUnknown && to.errorCode !== outcomeUnknown && to.status !== 'pending'
  }
  if (to.status === 'failed') return from.status === 'pending' || from.status === 'sent'
  return statusOrder.indexOf(to.status) > statusOrder.indexOf(from.status)
}
