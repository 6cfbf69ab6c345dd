export interface ConcurrencyLimit {
  /** How many run at a time. */
  atOnce: number
  /** How many may wait for that; any number unless given. */
  maxWaiting?: number
  /** What a call is refused with, at once and without having run, when so many wait already. */
  refusal?: () => Error
}

/**
 * Runs what it is given, a few at a time: the first ones at once, the others in the order in which they came. Resolves
 * and rejects as the work does; one that fails does not keep the next from running.
 */
export function limitConcurrency({
  atOnce,
  maxWaiting,
  refusal,
}: ConcurrencyLimit): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running >= atOnce) {
      if (waiting.length >= (maxWaiting ?? Number.POSITIVE_INFINITY)) throw refusal?.() ?? new Error('Too many wait')
      await new Promise<void>((resolve) => void waiting.push(resolve))
    } else running++
    try {
      return await work()
    } finally {
      // The place goes straight to the next in line, so that nobody slips in between.
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
