import type { Log } from '../../base/log.ts'
import type { StateReason } from '../endpoint/endpoint.ts'
import type { Batch, Result } from './delivery.ts'

/** What the worker tells whoever counts. Ids stay out: a label for each endpoint would be too many. */
export interface WebhookObserver {
  /** An attempt was taken. The delay is that of a first attempt, from the event to the answer; null for another one. */
  delivered(attempt: { ms: number; delayMs: number | null }): void
  /** An attempt was not taken; `error` when no answer came. The last one of its schedule is final. */
  failed(attempt: { ms: number; error: string | null; isFinal: boolean }): void
  /** An endpoint was disabled because it is gone or has failed for too long. */
  disabled(): void
}

export const noObserver: WebhookObserver = { delivered: () => {}, failed: () => {}, disabled: () => {} }

/** Logs and counts what was written. */
export function reportSettled(
  { log, observe }: { log: Log; observe: WebhookObserver },
  endpointId: string,
  { results }: Batch,
  disabled: StateReason | null,
): void {
  for (const result of results) {
    const { delivery, attempt, verdict } = result
    const fields = { endpointId, eventId: delivery.eventId, attempt: delivery.attempts + 1, ms: attempt.ms }
    const status = attempt.status === null ? {} : { status: attempt.status }
    if (verdict.next === 'delivered') {
      observe.delivered({ ms: attempt.ms, delayMs: delayOf(result) })
      log.debug('webhook delivered', { ...fields, ...status })
    } else {
      observe.failed({ ms: attempt.ms, error: attempt.error, isFinal: verdict.next !== 'retry' })
      const code = attempt.error === null ? {} : { code: attempt.error }
      log.info('webhook not taken', { ...fields, ...status, ...code })
    }
  }
  if (disabled === null) return
  observe.disabled()
  log.warn('webhook endpoint disabled', { endpointId, code: disabled })
}

function delayOf({ delivery, attempt }: Result): number | null {
  return delivery.attempts === 0 ? attempt.at.getTime() - delivery.occurredAt.getTime() : null
}
