// Pure rules of what counts as repeating oneself, and of how long to pause then.

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** The same call, refused in the same way. */
export const sameCall = { times: 10, withinMs: minuteMs } as const
/** The same words in so many conversations, where no customer waited for an answer. */
export const sameText = { times: 20, withinMs: 10 * minuteMs } as const

interface Rule {
  times: number
  withinMs: number
}

/** The moments that still count, with this one; never more than the rule needs. */
export function withNow(moments: readonly number[], nowMs: number, { times, withinMs }: Rule): number[] {
  return [...moments.filter((atMs) => atMs > nowMs - withinMs), nowMs].slice(-times)
}

export const isTooOften = (moments: readonly number[], { times }: Rule): boolean => moments.length >= times

export interface Pause {
  untilMs: number
  /** Minutes. */
  length: 1 | 2 | 4 | 8 | 15
}

const lengths = [1, 2, 4, 8, 15] as const

/** A minute, and each time longer that a key begins again within an hour of its last pause. */
export function nextPause(last: Pause | null, nowMs: number): Pause {
  const isFresh = last === null || nowMs - last.untilMs >= hourMs
  const length = isFresh ? 1 : (lengths.find((each) => each > last.length) ?? 15)
  return { untilMs: nowMs + length * minuteMs, length }
}

/** Whether a refusal says that the very same call will be refused again. */
export const isFinal = (status: number, code: string): boolean =>
  status >= 400 && status < 500 && status !== 429 && code !== 'NOT_RETRYABLE'
