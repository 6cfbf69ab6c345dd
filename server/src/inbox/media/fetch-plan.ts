import type { MediaState } from './media.ts'

const [secondMs, hourMs, weekMs] = [1_000, 3_600_000, 604_800_000]
const maxJitter = 0.2
/** What may be a fault of the way is tried so often before it is believed. */
const doubtfulTries = 3

/** What kept a file from coming. `code` is a word of ours or the platform's, for people to look up. */
export interface FetchProblem {
  kind: 'gone' | 'too_large' | 'refused' | 'failed' | 'mismatch'
  code: string
}

export type NextStep = { state: 'coming'; dueAt: Date } | { state: Exclude<MediaState, 'coming' | 'here'>; dueAt: null }

/**
 * What becomes of a file after so many tries, this one among them. For a week it is tried again and again: the platform keeps
 * it for a month. `random` is in 0…1.
 */
export function afterProblem(
  { kind, code }: FetchProblem,
  { tries, createdAt }: { tries: number; createdAt: Date },
  now: Date,
  random: number,
): NextStep {
  const isDoubtful = tries < doubtfulTries
  const again: NextStep = { state: 'coming', dueAt: new Date(now.getTime() + retryDelayMs(tries, random)) }
  if (kind === 'mismatch') return isDoubtful ? again : { state: 'refused', dueAt: null }
  // Its address expires, and is asked for anew; one that was made just now does not.
  if (kind === 'failed' && code === 'http_404' && !isDoubtful) return { state: 'gone', dueAt: null }
  if (kind !== 'failed') return { state: kind, dueAt: null }
  // Somebody may have asked for one more try long after the week.
  const isOver = now.getTime() - createdAt.getTime() >= weekMs && !isDoubtful
  return isOver ? { state: 'failed', dueAt: null } : again
}

/** From a second to an hour, each pause twice the one before. */
export function retryDelayMs(tries: number, random: number): number {
  const delayMs = Math.min(secondMs * 2 ** Math.min(tries - 1, 20), hourMs)
  return Math.round(delayMs * (1 + maxJitter * random))
}
