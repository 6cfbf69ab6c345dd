import { TooBusy } from '../scheduling/fair-queue.ts'
import { ConnectionLost, endsSession, isServerDown, isUnavailable, sqlState } from './failures.ts'
import type { Statement } from './template.ts'

// A hanging attempt is cancelled after at most 16 s, and every request must be answered within 20 s.
const maxQueuedMs = 3_000
const maxRetryMs = 9_000

/**
 * Returns true if requests that have waited behind a failed attempt should fail with the same error: the database is
 * unavailable, and an attempt of their own could hang as long again.
 */
export const hasWaitedTooLong = (error: unknown, sinceMs: number): boolean =>
  isDatabaseError(error) && performance.now() - sinceMs > maxQueuedMs

/** Returns true if there is time to retry work that started at `sinceMs`. */
export const canRetryInTime = (error: unknown, sinceMs: number): boolean =>
  !isDatabaseError(error) || performance.now() - sinceMs < maxRetryMs

const isDatabaseError = (error: unknown): boolean => isUnavailable(error) || error instanceof TooBusy

/** A server that shuts down may end several connections of one retrying request; more failures have another cause. */
const maxRetries = 3
/** Time to wait for work that continues after its connection has ended. */
const stragglerTimeoutMs = 250

/**
 * Returns true if work may be repeated the `repeats`th time, after its connection ended or its server stopped accepting
 * writes. A server that was silent for too long has used up the time.
 */
export function canRetry(failure: unknown, repeats: number, sinceMs: number): boolean {
  const isEnd = failure instanceof ConnectionLost ? !failure.wasSilent : endsSession(failure)
  return isEnd && repeats <= maxRetries && canRetryInTime(failure, sinceMs)
}

/**
 * Returns true if a failed request, sent with its commit, was certainly not committed: it was never sent, or the server
 * itself reports that it ended before. A pooler may report the same while the server continues.
 */
export function isKnownRolledBack(failure: unknown, isDirect: boolean): boolean {
  if (failure instanceof ConnectionLost) return !failure.wasSent
  const state = sqlState(failure)
  if (state.startsWith('57P')) return isDirect && state === '57P01'
  return isServerDown(failure)
}

/**
 * Returns true if a statement certainly changes nothing. `select … for update` and functions with effects count as
 * writes.
 */
export function isReadOnly({ text, isScript }: Pick<Statement, 'text' | 'isScript'>): boolean {
  return !isScript && /^\s*(?:select|with|values|table)\b/i.test(text) && !writing.test(text)
}

const writing =
  /\b(?:insert|update|delete|merge|truncate|into|nextval|setval|set_config|pg_notify|pg_terminate_backend|pg_cancel_backend|pg_\w*advisory\w*|lo_\w+)\b/i

/** Result of work whose connection has ended. */
export type WorkResult<T> = { how: 'answered'; answer: T } | { how: 'failed' } | { how: 'goes on' }

/** Waits briefly for work to end, so that a retry doesn't overlap with it. */
export async function waitForWork<T>(work: Promise<T> | undefined): Promise<WorkResult<T>> {
  if (work === undefined) return { how: 'failed' }
  const { promise: timeout, resolve } = Promise.withResolvers<WorkResult<T>>()
  const timer = setTimeout(() => resolve({ how: 'goes on' }), stragglerTimeoutMs)
  const ended = work.then(
    (answer): WorkResult<T> => ({ how: 'answered', answer }),
    (): WorkResult<T> => ({ how: 'failed' }),
  )
  return Promise.race([ended, timeout]).finally(() => clearTimeout(timer))
}

/** Between the starts of two attempts. The embedded database restarts within 1 s; a new primary can need 5 s. */
const firstPauseMs = 20
const maxPauseMs = 500

interface ConnectAttempt {
  succeeded(): void
  failed(): void
}

/** Computes when to reconnect to an unreachable server. Contains no timers. */
export class ConnectBackoff {
  #failures = 0
  #begunAtMs = Number.NEGATIVE_INFINITY

  get haveFailed(): boolean {
    return this.#failures > 0
  }

  /** Returns the time until the next attempt. */
  pauseMs(nowMs: number): number {
    if (this.#failures === 0) return 0
    const intervalMs = Math.min(firstPauseMs * 2 ** (this.#failures - 1), maxPauseMs)
    return Math.max(0, this.#begunAtMs + intervalMs - nowMs)
  }

  startAttempt(nowMs: number): ConnectAttempt {
    this.#begunAtMs = nowMs
    const before = this.#failures
    return {
      succeeded: () => {
        this.#failures = 0
      },
      // Attempts that started together fail for the same reason and count as one.
      failed: () => {
        if (this.#failures === before) this.#failures++
      },
    }
  }
}
