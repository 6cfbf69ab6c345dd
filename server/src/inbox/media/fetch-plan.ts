import type { MediaState } from './media.ts'

const [secondMs, hourMs, weekMs] = [1_000, 3_600_000, 604_800_000]
const maxJitter = 0.2
/** What may be a fault of the way is tried so often before it is believed, with some time between. */
const doubtfulTries = 3
const doubtfulStep = 4

/** The process stops: that says nothing of the file. */
export const stoppedCode = 'stopped'

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
  const after = (step: number): NextStep => ({
    state: 'coming',
    dueAt: new Date(now.getTime() + retryDelayMs(step, random)),
  })
  if (code === stoppedCode) return after(1)
  // A platform may tell of a message before it has its file everywhere. An address expires, too, and is asked for anew.
  const isLost = kind === 'gone' || (kind === 'failed' && code === 'http_404')
  if (isDoubtful && (isLost || kind === 'mismatch')) return after(doubtfulStep + tries - 1)
  if (isLost) return { state: 'gone', dueAt: null }
  if (kind === 'mismatch') return { state: 'refused', dueAt: null }
  if (kind !== 'failed') return { state: kind, dueAt: null }
  const again = after(tries)
  // Somebody may have asked for one more try long after the week.
  const isOver = now.getTime() - createdAt.getTime() >= weekMs && !isDoubtful
  return isOver ? { state: 'failed', dueAt: null } : again
}

/** From a second to an hour, each pause twice the one before. */
export function retryDelayMs(tries: number, random: number): number {
  const delayMs = Math.min(secondMs * 2 ** Math.min(tries - 1, 20), hourMs)
  return Math.round(delayMs * (1 + maxJitter * random))
}
