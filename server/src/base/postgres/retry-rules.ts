import { TooBusy } from '../scheduling/fair-queue.ts'
import { ConnectionLost, endsSession, isOfServer, isUnavailable, sqlState } from './failures.ts'
import type { Statement } from './template.ts'

// A try that hangs is given up after 16 s at most, and nobody is to be without an answer for longer than 20 s.
const maxQueuedMs = 3_000
const maxRetryMs = 9_000

/**
 * Whether who has waited behind a try that failed, since then, is to be told the same: the database is away, and to hang in a try of
 * their own would take as long again.
 */
export const hasWaitedTooLong = (error: unknown, sinceMs: number): boolean =>
  isDatabaseError(error) && performance.now() - sinceMs > maxQueuedMs

/** Whether what was begun then and came to nothing may be tried once more. */
export const canRetryInTime = (error: unknown, sinceMs: number): boolean =>
  !isDatabaseError(error) || performance.now() - sinceMs < maxRetryMs

const isDatabaseError = (error: unknown): boolean => isUnavailable(error) || error instanceof TooBusy

/** A server that goes down may end several connections of one who tries again; more is not bad luck any more. */
const maxRetries = 3
/** Work that goes on behind the end of its connection has something else to wait for. */
const straggleMs = 250

/**
 * Whether what failed since its connection ended, or its server takes no writes any more, may have its `repeats`th repeat, as far as
 * time goes. A server that said nothing for too long has had all of it.
 */
export function canRetry(failure: unknown, repeats: number, sinceMs: number): boolean {
  const isEnd = failure instanceof ConnectionLost ? !failure.wasSilent : endsSession(failure)
  return isEnd && repeats <= maxRetries && canRetryInTime(failure, sinceMs)
}

/**
 * Whether what was sent with its commit, and failed so, has certainly not been committed: it never left, or the server itself says
 * that it ended before it came to the end of it. One between may say the same of itself, and the server go on.
 */
export function isKnownRolledBack(failure: unknown, isDirect: boolean): boolean {
  if (failure instanceof ConnectionLost) return !failure.wasSent
  const state = sqlState(failure)
  if (state.startsWith('57P')) return isDirect && state === '57P01'
  return isOfServer(failure)
}

/** Whether a statement changes nothing for certain, as its words are. `select … for update` and functions that act are taken for writes. */
export function isReadOnly({ text, isScript }: Pick<Statement, 'text' | 'isScript'>): boolean {
  return !isScript && /^\s*(?:select|with|values|table)\b/i.test(text) && !writing.test(text)
}

const writing =
  /\b(?:insert|update|delete|merge|truncate|into|nextval|setval|set_config|pg_notify|pg_terminate_backend|pg_cancel_backend|pg_\w*advisory\w*|lo_\w+)\b/i

/** What work that may have been left alone has come to. */
export type WorkResult<T> = { how: 'answered'; answer: T } | { how: 'failed' } | { how: 'goes on' }

/** The end of the work, if it comes within a moment: what is done again must not meet itself. */
export async function waitForWork<T>(work: Promise<T> | undefined): Promise<WorkResult<T>> {
  if (work === undefined) return { how: 'failed' }
  const { promise: late, resolve } = Promise.withResolvers<WorkResult<T>>()
  const timer = setTimeout(() => resolve({ how: 'goes on' }), straggleMs)
  const ended = work.then(
    (answer): WorkResult<T> => ({ how: 'answered', answer }),
    (): WorkResult<T> => ({ how: 'failed' }),
  )
  return Promise.race([ended, late]).finally(() => clearTimeout(timer))
}

/** Between the beginnings of two tries. The embedded database comes back within a second; whoever waits for a new primary waits 5 s. */
const firstPauseMs = 20
const longestPauseMs = 500

interface ConnectAttempt {
  succeeded(): void
  failed(): void
}

/** When a server that could not be reached is tried again: a rule that waits for nothing itself. */
export class ConnectBackoff {
  #failures = 0
  #begunAtMs = Number.NEGATIVE_INFINITY

  get haveFailed(): boolean {
    return this.#failures > 0
  }

  /** How long the next try has to wait. */
  pauseMs(nowMs: number): number {
    if (this.#failures === 0) return 0
    const apartMs = Math.min(firstPauseMs * 2 ** (this.#failures - 1), longestPauseMs)
    return Math.max(0, this.#begunAtMs + apartMs - nowMs)
  }

  begin(nowMs: number): ConnectAttempt {
    this.#begunAtMs = nowMs
    const before = this.#failures
    return {
      succeeded: () => {
        this.#failures = 0
      },
      // Those that began together have failed for one reason: they count as one.
      failed: () => {
        if (this.#failures === before) this.#failures++
      },
    }
  }
}
