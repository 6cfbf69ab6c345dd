import type { StateReason } from '../endpoint/endpoint.ts'
import type { Batch, Result } from './delivery.ts'
import type { PumpDeps } from './queue.ts'

/** Logs and counts what was written. */
export function reportSettled(
  { log, observe }: PumpDeps,
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
