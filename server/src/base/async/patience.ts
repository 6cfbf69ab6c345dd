import { isAway } from '../postgres/failures.ts'
import { TooBusy } from '../shares/shares.ts'

// A try that hangs is given up after 16 s at most, and nobody is to be without an answer for longer than 20 s.
const queuedForMs = 3_000
const triedForMs = 9_000

/**
 * Whether who has waited behind a try that failed, since then, is to be told the same: the database is away, and to hang in a try of
 * their own would take as long again.
 */
export const isOutOfPatience = (error: unknown, sinceMs: number): boolean =>
  isOfDatabase(error) && performance.now() - sinceMs > queuedForMs

/** Whether what was begun then and came to nothing may be tried once more. */
export const mayTryAgain = (error: unknown, sinceMs: number): boolean =>
  !isOfDatabase(error) || performance.now() - sinceMs < triedForMs

const isOfDatabase = (error: unknown): boolean => isAway(error) || error instanceof TooBusy
