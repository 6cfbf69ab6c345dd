const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** The pauses between the attempts of a delivery, each counted from the failure before. */
const delaysMs = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  hour,
  3 * hour,
  6 * hour,
  12 * hour,
  24 * hour,
  24 * hour,
]
const maxJitter = 0.2
const maxRetryAfterMs = 24 * hour

/** The event cannot be opened or rendered: the fault is ours. */
export const internalError = 'internal'
/** The event is no longer kept. */
export const expiredError = 'expired'

const maxInternalAttempts = 3
const gone = 410

export type RetryDecision =
  | { next: 'delivered' }
  | { next: 'retry'; dueAt: Date }
  | { next: 'failed' }
  /** The receiver wants no more: the endpoint is disabled. */
  | { next: 'gone' }

interface AttemptedDelivery {
  /** Attempts of the present round, before this one. */
  roundAttempts: number
  isTest: boolean
}

interface AttemptOutcome {
  at: Date
  /** Null when no answer came; `error` says why then. */
  status: number | null
  error: string | null
}

/** What becomes of a delivery after an attempt. `pauseMs` is what the receiver has asked for; `random` is in 0…1. */
export function decide(
  delivery: AttemptedDelivery,
  { at, status, error }: AttemptOutcome,
  { pauseMs, random }: { pauseMs: number | null; random: number },
): RetryDecision {
  if (status !== null && status >= 200 && status < 300) return { next: 'delivered' }
  if (status === gone) return { next: 'gone' }
  const attempts = delivery.roundAttempts + 1
  const delayMs = retryDelayMs(attempts, random)
  const isLast = delayMs === null || delivery.isTest || error === expiredError
  if (isLast || (error === internalError && attempts >= maxInternalAttempts)) return { next: 'failed' }
  return { next: 'retry', dueAt: new Date(at.getTime() + Math.max(delayMs, pauseMs ?? 0)) }
}

/** Whether the receiver has to answer for it. */
export function isReceiverFault(
  delivery: Pick<AttemptedDelivery, 'isTest'>,
  { error }: Pick<AttemptOutcome, 'error'>,
): boolean {
  return !delivery.isTest && error !== internalError && error !== expiredError
}

/** How long to wait after so many attempts, `random` being in 0…1; null when there are no more. Never less than told. */
export function retryDelayMs(attempts: number, random: number): number | null {
  const delayMs = delaysMs[attempts - 1]
  return delayMs === undefined ? null : Math.round(delayMs * (1 + maxJitter * random))
}

/** The pause that a `Retry-After` asks for, in seconds or as a date, of at most a day; null when it says nothing. */
export function retryAfterMs(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null
  const text = value.trim()
  const requestedMs = /^\d+$/.test(text) ? Number(text) * second : Date.parse(text) - now.getTime()
  return requestedMs > 0 ? Math.min(requestedMs, maxRetryAfterMs) : null
}

/** How an endpoint has answered of late. */
export interface Health {
  /** The first failure since the last success. */
  failingSince: Date | null
  failuresInARow: number
  lastSuccessAt: Date | null
  /** Nothing is sent before it. */
  pausedUntil: Date | null
}

export const failuresBeforeProbes = 5
const maxFailingMs = 5 * 24 * hour

/** A receiver that fails again and again is asked by one request at a time, so that it is not hammered. */
export function isProbed({ failuresInARow }: Health): boolean {
  return failuresInARow >= failuresBeforeProbes
}

export function afterSuccess(health: Health, at: Date): Health {
  return {
    failingSince: null,
    failuresInARow: 0,
    lastSuccessAt: at,
    // A pause that the receiver has asked for holds, whatever else it still takes.
    pausedUntil: isProbed(health) ? null : health.pausedUntil,
  }
}

/** `requestedPauseMs` is what the receiver wants, if it wants any. */
export function afterFailure(health: Health, at: Date, requestedPauseMs: number | null): Health {
  const failuresInARow = health.failuresInARow + 1
  const probe = failuresInARow - failuresBeforeProbes + 1
  const pauseMs = Math.max(requestedPauseMs ?? 0, probe > 0 ? probePauseMs(probe) : 0)
  const until = at.getTime() + pauseMs
  return {
    failingSince: health.failingSince ?? at,
    failuresInARow,
    lastSuccessAt: health.lastSuccessAt,
    pausedUntil: pauseMs === 0 ? health.pausedUntil : new Date(Math.max(until, health.pausedUntil?.getTime() ?? 0)),
  }
}

export function isPaused({ pausedUntil }: Health, now: Date): boolean {
  return pausedUntil !== null && pausedUntil > now
}

/** Every attempt of five days has failed. */
export function hasFailedTooLong({ failingSince }: Health, now: Date): boolean {
  return failingSince !== null && now.getTime() - failingSince.getTime() >= maxFailingMs
}

const firstProbePauseMs = 5 * second
const maxProbePauseMs = minute

/** The pause before the next probe of a receiver that does not answer; it doubles from one to the next. */
function probePauseMs(probe: number): number {
  return Math.min(firstProbePauseMs * 2 ** (probe - 1), maxProbePauseMs)
}
