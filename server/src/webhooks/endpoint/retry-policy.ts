const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** Delays between attempts of a delivery, each counted from the previous failure. */
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

/** The event could not be decrypted or rendered: our fault. */
export const internalError = 'internal'
/** The event was removed. */
export const expiredError = 'expired'

const maxInternalAttempts = 3
const gone = 410

export type RetryDecision =
  | { next: 'delivered' }
  | { next: 'retry'; dueAt: Date }
  | { next: 'failed' }
  /** The receiver wants no more events: the endpoint is disabled. */
  | { next: 'gone' }

interface AttemptedDelivery {
  /** Attempts of the current round, before this one. */
  roundAttempts: number
  isTest: boolean
}

interface AttemptOutcome {
  at: Date
  /** Null if no response came; `error` then has the reason. */
  status: number | null
  error: string | null
}

/** Returns what to do after an attempt. `pauseMs` is the pause that the receiver requested; `random` is 0 to 1. */
export function decideRetry(
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

/** Returns whether a failure counts against the receiver. */
export function isReceiverFault(
  delivery: Pick<AttemptedDelivery, 'isTest'>,
  { error }: Pick<AttemptOutcome, 'error'>,
): boolean {
  return !delivery.isTest && error !== internalError && error !== expiredError
}

/** Returns the delay after this many attempts, never less than documented; null after the last. `random` is 0 to 1. */
export function retryDelayMs(attempts: number, random: number): number | null {
  const delayMs = delaysMs[attempts - 1]
  return delayMs === undefined ? null : Math.round(delayMs * (1 + maxJitter * random))
}

/** Parses `Retry-After`, in seconds or as a date, limited to a day; returns null if it is absent or invalid. */
export function retryAfterMs(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null
  const text = value.trim()
  const requestedMs = /^\d+$/.test(text) ? Number(text) * second : Date.parse(text) - now.getTime()
  return requestedMs > 0 ? Math.min(requestedMs, maxRetryAfterMs) : null
}

export interface Health {
  /** Time of the first failure since the last success. */
  failingSince: Date | null
  failuresInARow: number
  lastSuccessAt: Date | null
  /** Nothing is sent before it. */
  pausedUntil: Date | null
}

export const failuresBeforeProbes = 5
const maxFailingMs = 5 * 24 * hour

/** Returns whether a failing receiver gets one request at a time, so that it is not overloaded. */
export function isProbed({ failuresInARow }: Health): boolean {
  return failuresInARow >= failuresBeforeProbes
}

export function afterSuccess(health: Health, at: Date): Health {
  return {
    failingSince: null,
    failuresInARow: 0,
    lastSuccessAt: at,
    // A pause that the receiver requested stays, even if an earlier request succeeds.
    pausedUntil: isProbed(health) ? null : health.pausedUntil,
  }
}

/** `requestedPauseMs` is the pause that the receiver requested, or null. */
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

/** Returns whether all attempts of the last five days have failed. */
export function hasFailedTooLong({ failingSince }: Health, now: Date): boolean {
  return failingSince !== null && now.getTime() - failingSince.getTime() >= maxFailingMs
}

const firstProbePauseMs = 5 * second
const maxProbePauseMs = minute

/** Returns the pause before the next probe of a failing receiver; it doubles each time. */
function probePauseMs(probe: number): number {
  return Math.min(firstProbePauseMs * 2 ** (probe - 1), maxProbePauseMs)
}
