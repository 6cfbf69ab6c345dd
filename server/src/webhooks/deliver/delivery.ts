import type { Keyring } from '../../base/encryption/keyring.ts'
import { needsPresenting, type PresentPayload } from '../../events/feed.ts'
import { areaOf, type EventName } from '../../events/record.ts'
import type { RetryDecision } from '../endpoint/retry-policy.ts'
import type { KnownEvent } from '../event-catalogue.ts'

/** An event on its way to an endpoint. */
export interface Delivery {
  position: number
  eventId: string
  name: KnownEvent
  /** The lead or conversation: its events go one after another. */
  subjectId: string
  occurredAt: Date
  /** Sealed; null when the event is no longer kept. */
  payload: Buffer | null
  /** The trace in which it was made, packed; null where there was none. */
  trace: Buffer | null
  /** Tried once, and no sign of the endpoint's health when it fails. */
  isTest: boolean
  /** Whether it is a row that waits; it is not when it comes fresh from the feed. */
  hasRow: boolean
  /** Whether phones were hidden in an earlier attempt. */
  masked: boolean
  /** How often it had been asked for again when it was read. */
  round: number
  /** Attempts of the present round, and all of them. */
  roundAttempts: number
  attempts: number
}

/** What an attempt came to. */
export interface DeliveryAttempt {
  at: Date
  ms: number
  /** Null when no answer came; `error` says why then. */
  status: number | null
  error: string | null
  /** Its first bytes. */
  answer: Buffer | null
  masked: boolean
}

export interface AttemptResult {
  delivery: Delivery
  attempt: DeliveryAttempt
  decision: RetryDecision
}

/** Results that are written together. */
export interface ResultBatch {
  results: AttemptResult[]
  /** What must wait for one that failed. */
  parked: { delivery: Delivery; dueAt: Date }[]
}

type Written = Pick<
  Delivery,
  'position' | 'eventId' | 'name' | 'subjectId' | 'occurredAt' | 'masked' | 'round' | 'roundAttempts' | 'attempts'
>

/** A delivery as it is written. */
export interface DeliveryRow extends Written {
  state: 'pending' | 'delivered' | 'failed'
  dueAt: Date | null
  deliveredAt: Date | null
  deliveredStatus: number | null
  deliveredMs: number | null
  deliveredAnswer: Buffer | null
}

/** An attempt as the log keeps it. */
export interface AttemptRow extends Omit<DeliveryAttempt, 'masked'> {
  position: number
  number: number
}

/** A delivery that waits, as it is written. */
export function waitingRow(delivery: Delivery, dueAt: Date): DeliveryRow {
  const { payload, trace, isTest, hasRow, ...written } = delivery
  const untaken = { deliveredAt: null, deliveredStatus: null, deliveredMs: null, deliveredAnswer: null }
  return { ...written, state: 'pending', dueAt, ...untaken }
}

/** A delivery after an attempt, as it is written. */
export function attemptedRow(
  keyring: Keyring,
  endpointId: string,
  { delivery, attempt, decision }: AttemptResult,
): DeliveryRow {
  const row: DeliveryRow = {
    ...waitingRow(delivery, attempt.at),
    masked: attempt.masked,
    roundAttempts: delivery.roundAttempts + 1,
    attempts: delivery.attempts + 1,
  }
  if (decision.next === 'retry') return { ...row, dueAt: decision.dueAt }
  if (decision.next !== 'delivered') return { ...row, state: 'failed', dueAt: null }
  return {
    ...row,
    state: 'delivered',
    dueAt: null,
    deliveredAt: attempt.at,
    deliveredStatus: attempt.status,
    deliveredMs: attempt.ms,
    deliveredAnswer: encryptedAnswer(keyring, endpointId, delivery, attempt),
  }
}

export function failedAttemptRow(
  keyring: Keyring,
  endpointId: string,
  { delivery, attempt }: AttemptResult,
): AttemptRow {
  const { at, status, ms, error } = attempt
  const answer = encryptedAnswer(keyring, endpointId, delivery, attempt)
  return { position: delivery.position, number: delivery.attempts + 1, at, status, ms, error, answer }
}

function encryptedAnswer(
  keyring: Keyring,
  endpointId: string,
  { position, attempts }: Delivery,
  { answer }: DeliveryAttempt,
): Buffer | null {
  return answer === null ? null : encryptAnswer(keyring, { endpointId, position, number: attempts + 1 }, answer)
}

/** The bytes that are sent, the same for each attempt: lead events bare, inbox events wrapped in their name. */
export function renderPayload(
  keyring: Keyring,
  { eventId, name, payload }: { eventId: string; name: EventName; payload: Buffer },
  masked: boolean,
  present: PresentPayload,
): string {
  const recorded = keyring.decryptText({ table: 'events', row: eventId, column: 'payload' }, payload)
  // What nobody has to change need not be parsed.
  const isChanged = masked || needsPresenting(recorded)
  const shown = isChanged ? JSON.stringify(present(name, JSON.parse(recorded), { keyring, masked })) : recorded
  return areaOf(name) === 'leads' ? shown : `{"event":${JSON.stringify(name)},"payload":${shown}}`
}

/** An attempt, by its delivery and its number. */
interface AttemptKey {
  endpointId: string
  position: number
  number: number
}

/**
 * Seals the first bytes of an answer. They belong to the attempt, wherever it is kept: with its delivery when it was
 * taken, and among the attempts once the event is sent again.
 */
function encryptAnswer(keyring: Keyring, attempt: AttemptKey, answer: Uint8Array): Buffer {
  return keyring.encrypt(answerContext(attempt), answer)
}

export function decryptAnswer(keyring: Keyring, attempt: AttemptKey, sealed: Buffer): string {
  return keyring.decrypt(answerContext(attempt), sealed).toString('utf8')
}

export const answerContext = ({ endpointId, position, number }: AttemptKey) => ({
  table: 'webhook_attempts',
  row: `${endpointId}/${position}/${number}`,
  column: 'answer',
})
