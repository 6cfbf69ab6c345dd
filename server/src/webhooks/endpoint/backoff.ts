const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** Each counts from the failure before. */
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

/** How long to wait after so many attempts, `random` being in 0…1; null when there are no more. Never less than told. */
export function retryDelayMs(attempts: number, random: number): number | null {
  const delayMs = delaysMs[attempts - 1]
  return delayMs === undefined ? null : Math.round(delayMs * (1 + maxJitter * random))
}

/** The pause that a `Retry-After` asks for, in seconds or as a date, of at most a day; null when it says nothing. */
export function retryAfterMs(value: string | undefined, now: Date): number | null {
  if (value === undefined) return null
  const text = value.trim()
  const askedMs = /^\d+$/.test(text) ? Number(text) * second : Date.parse(text) - now.getTime()
  return askedMs > 0 ? Math.min(askedMs, maxRetryAfterMs) : null
}

const firstProbePauseMs = 5 * second
const maxProbePauseMs = minute

/** The pause before the next probe of a receiver that does not answer; it doubles from one to the next. */
export function probePauseMs(probe: number): number {
  return Math.min(firstProbePauseMs * 2 ** (probe - 1), maxProbePauseMs)
}
