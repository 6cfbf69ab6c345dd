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

export type Verdict =
  | { next: 'delivered' }
  | { next: 'retry'; dueAt: Date }
  | { next: 'failed' }
  /** The receiver wants no more: the endpoint is disabled. */
  | { next: 'gone' }

export interface Result {
  delivery: Delivery
  attempt: DeliveryAttempt
  verdict: Verdict
}

/** Results that are written together. */
export interface Batch {
  results: Result[]
  /** What must wait behind one that failed. */
  parked: { delivery: Delivery; dueAt: Date }[]
}
