import timers from 'node:timers/promises'

/** Wakes all who wait because there may be something to do. A wake that nobody waits for is forgotten. */
export interface Signal {
  wake(): void
  /** Resolves at the next `wake`. Ask for it before looking, so that nothing falls in between. */
  next(): Promise<void>
  /** The same for so long at most: true when it was woken, false when the time is over. Keeps no process alive. */
  nextWithin(maxMs: number): Promise<boolean>
}

export function createSignal(): Signal {
  let current = Promise.withResolvers<void>()
  return {
    wake: () => {
      current.resolve()
      current = Promise.withResolvers()
    },
    next: () => current.promise,
    nextWithin: async (maxMs) => {
      const timer = new AbortController()
      const isWoken = await Promise.race([
        current.promise.then(() => true),
        timers.setTimeout(maxMs, false, { signal: timer.signal, ref: false }).catch(() => false),
      ])
      timer.abort()
      return isWoken
    },
  }
}
