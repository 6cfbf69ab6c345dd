import type { Keyring } from '../../base/sealing/keyring.ts'
import { sealAnswer } from './bodies.ts'
import type { Delivery, DeliveryAttempt, Result } from './delivery.ts'
import type { AttemptRow } from './save-attempts.ts'
import type { DeliveryRow } from './settle-queries.ts'

/** A delivery that waits, as it is written. */
export function waitingRow(delivery: Delivery, dueAt: Date): DeliveryRow {
  const { position, eventId, name, subjectId, occurredAt, masked, round, roundAttempts, attempts } = delivery
  return {
    position,
    eventId,
    name,
    subjectId,
    occurredAt,
    masked,
    state: 'pending',
    round,
    roundAttempts,
    attempts,
    dueAt,
    deliveredAt: null,
    deliveredStatus: null,
    deliveredMs: null,
    deliveredAnswer: null,
  }
}

/** A delivery after an attempt, as it is written. */
export function attemptedRow(
  keyring: Keyring,
  endpointId: string,
  { delivery, attempt, verdict }: Result,
): DeliveryRow {
  const row: DeliveryRow = {
    ...waitingRow(delivery, attempt.at),
    masked: attempt.masked,
    roundAttempts: delivery.roundAttempts + 1,
    attempts: delivery.attempts + 1,
  }
  if (verdict.next === 'retry') return { ...row, dueAt: verdict.dueAt }
  if (verdict.next !== 'delivered') return { ...row, state: 'failed', dueAt: null }
  return {
    ...row,
    state: 'delivered',
    dueAt: null,
    deliveredAt: attempt.at,
    deliveredStatus: attempt.status,
    deliveredMs: attempt.ms,
    deliveredAnswer: sealedAnswer(keyring, endpointId, delivery, attempt),
  }
}

export function failedAttemptRow(keyring: Keyring, endpointId: string, { delivery, attempt }: Result): AttemptRow {
  const { at, status, ms, error } = attempt
  return {
    position: delivery.position,
    number: delivery.attempts + 1,
    at,
    status,
    ms,
    error,
    answer: sealedAnswer(keyring, endpointId, delivery, attempt),
  }
}

function sealedAnswer(
  keyring: Keyring,
  endpointId: string,
  { position, attempts }: Delivery,
  { answer }: DeliveryAttempt,
): Buffer | null {
  return answer === null ? null : sealAnswer(keyring, { endpointId, position, number: attempts + 1 }, answer)
}
