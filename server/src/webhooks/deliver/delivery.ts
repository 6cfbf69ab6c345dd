import type { Keyring } from '../../base/encryption/keyring.ts'
import { version } from '../../base/version.ts'
import { needsPresenting, type PresentPayload } from '../../events/feed.ts'
import { areaOf, type EventName } from '../../events/record.ts'
import type { RetryDecision } from '../endpoint/retry-policy.ts'
import type { KnownEvent } from '../event-catalog.ts'

export interface Delivery {
  position: number
  eventId: string
  name: KnownEvent
  /** The lead or conversation; its events are delivered one after another. */
  subjectId: string
  occurredAt: Date
  /** Encrypted; null if the event was removed. */
  payload: Buffer | null
  /** Packed traceparent of the change; null without tracing. */
  trace: Buffer | null
  /** A test is tried once, and its failure does not affect the endpoint's health. */
  isTest: boolean
  /** Whether it has a row; false if it is fresh from the feed. */
  hasRow: boolean
  /** Whether phones were masked in an earlier attempt. */
  masked: boolean
  /** Number of resends before it was read. */
  round: number
  /** Attempts since the last resend, and in total. */
  roundAttempts: number
  attempts: number
}

export interface DeliveryAttempt {
  at: Date
  ms: number
  /** Null if no response came; `error` then has the reason. */
  status: number | null
  error: string | null
  /** First bytes of the response body. */
  answer: Buffer | null
  masked: boolean
}

export interface AttemptResult {
  delivery: Delivery
  attempt: DeliveryAttempt
  decision: RetryDecision
}

/** Results that are saved together. */
export interface ResultBatch {
  results: AttemptResult[]
  /** Later deliveries of lanes that failed. */
  blocked: { delivery: Delivery; dueAt: Date }[]
}

export interface DeliveryRow extends Omit<Delivery, 'payload' | 'trace' | 'isTest' | 'hasRow' | 'name'> {
  eventName: KnownEvent
  state: 'pending' | 'delivered' | 'failed'
  dueAt: Date | null
  deliveredAt: Date | null
  deliveredStatus: number | null
  deliveredMs: number | null
  deliveredAnswer: Buffer | null
}

export interface AttemptRow extends Omit<DeliveryAttempt, 'masked'> {
  position: number
  number: number
}

export function waitingRow(delivery: Delivery, dueAt: Date): DeliveryRow {
  const { payload, trace, isTest, hasRow, name: eventName, ...written } = delivery
  const untaken = { deliveredAt: null, deliveredStatus: null, deliveredMs: null, deliveredAnswer: null }
  return { ...written, eventName, state: 'pending', dueAt, ...untaken }
}

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

/**
 * Encrypts the first bytes of a response for its attempt, which is stored with the delivery if it succeeded, and moves
 * to the attempts when the event is resent.
 */
function encryptedAnswer(
  keyring: Keyring,
  endpointId: string,
  { position, attempts }: Delivery,
  { answer }: DeliveryAttempt,
): Buffer | null {
  return answer && keyring.encrypt(answerContext({ endpointId, position, number: attempts + 1 }), answer)
}

/** Returns the headers of each attempt; the service's are set last. */
export const headersOf = ({ eventId, name }: Pick<Delivery, 'eventId' | 'name'>) => ({
  'content-type': 'application/json',
  'user-agent': `Parley/${version}`,
  'webhook-id': eventId,
  'webhook-event': name,
})

/** Returns the request body, identical for each attempt: lead events bare, inbox events with an envelope. */
export function renderPayload(
  keyring: Keyring,
  { eventId, name, payload }: { eventId: string; name: EventName; payload: Buffer },
  masked: boolean,
  present: PresentPayload,
): string {
  const recorded = keyring.decryptText({ table: 'events', row: eventId, column: 'payload' }, payload)
  // Recorded payloads that need no change are not parsed.
  const isChanged = masked || needsPresenting(recorded)
  const shown = isChanged ? JSON.stringify(present(name, JSON.parse(recorded), { keyring, masked })) : recorded
  return areaOf(name) === 'leads' ? shown : `{"event":${JSON.stringify(name)},"payload":${shown}}`
}

interface AttemptKey {
  endpointId: string
  position: number
  number: number
}

export function decryptAnswer(keyring: Keyring, attempt: AttemptKey, sealed: Buffer): string {
  return keyring.decrypt(answerContext(attempt), sealed).toString('utf8')
}

export const answerContext = ({ endpointId, position, number }: AttemptKey) => ({
  table: 'webhook_attempts',
  row: `${endpointId}/${position}/${number}`,
  column: 'answer',
})
