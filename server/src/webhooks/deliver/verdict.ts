import { retryDelayMs } from '../endpoint/backoff.ts'
import type { Delivery, DeliveryAttempt, Verdict } from './delivery.ts'

/** The event cannot be opened or rendered: the fault is ours. */
export const internalError = 'internal'
/** The event is no longer kept. */
export const expiredError = 'expired'

const maxInternalAttempts = 3
const gone = 410

/** What becomes of a delivery after an attempt. `pauseMs` is what the receiver has asked for; `random` is in 0…1. */
export function judge(
  delivery: Pick<Delivery, 'roundAttempts' | 'isTest'>,
  { at, status, error }: Pick<DeliveryAttempt, 'at' | 'status' | 'error'>,
  { pauseMs, random }: { pauseMs: number | null; random: number },
): Verdict {
  if (status !== null && status >= 200 && status < 300) return { next: 'delivered' }
  if (status === gone) return { next: 'gone' }
  const attempts = delivery.roundAttempts + 1
  const delayMs = retryDelayMs(attempts, random)
  const isLast = delayMs === null || delivery.isTest || error === expiredError
  if (isLast || (error === internalError && attempts >= maxInternalAttempts)) return { next: 'failed' }
  return { next: 'retry', dueAt: new Date(at.getTime() + Math.max(delayMs, pauseMs ?? 0)) }
}

/** Whether the receiver has to answer for it. */
export function tellsOfReceiver(
  delivery: Pick<Delivery, 'isTest'>,
  { error }: Pick<DeliveryAttempt, 'error'>,
): boolean {
  return !delivery.isTest && error !== internalError && error !== expiredError
}
