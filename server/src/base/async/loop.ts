import timers from 'node:timers/promises'

export interface Loop {
  /** Prevents further runs and waits for the current one. */
  stop(): Promise<void>
}

interface LoopTimes {
  firstAfterMs: number
  /** From the end of one run to the start of the next. */
  pauseMs: number
}

/** How work is repeated: `repeatAfterPause`, unless a test controls it. */
export type Repeat = (pauseMs: number, work: () => Promise<unknown>, onError: (error: unknown) => void) => Loop

/** Starts the first run immediately. */
export const repeatImmediately: Repeat = (pauseMs, work, onError) =>
  startLoop({ firstAfterMs: 0, pauseMs }, work, onError)

export const repeatAfterPause: Repeat = (pauseMs, work, onError) =>
  startLoop({ firstAfterMs: pauseMs, pauseMs }, work, onError)

/** Runs `work` repeatedly; runs never overlap. A failed run is passed to `onError`, and the loop continues. */
export function startLoop(
  { firstAfterMs, pauseMs }: LoopTimes,
  work: () => Promise<unknown>,
  onError: (error: unknown) => void,
): Loop {
  let stopped = false
  let running = Promise.resolve()
  let timer = schedule(firstAfterMs)

  function schedule(waitMs: number): NodeJS.Timeout {
    // A pending run must not keep the process alive.
    return setTimeout(() => {
      running = run()
    }, waitMs).unref()
  }

  async function run(): Promise<void> {
    try {
      await work()
    } catch (error) {
      onError(error)
    }
    if (!stopped) timer = schedule(pauseMs)
  }

  return {
    stop: () => {
      stopped = true
      clearTimeout(timer)
      return running
    },
  }
}

/** Wakes all waiters, because there may be work. A wake without waiters is lost. */
export interface Signal {
  wake(): void
  /** Resolves at the next `wake`. Call it before looking for work, so that no wake is missed. */
  next(): Promise<void>
  /** Waits up to `maxMs`: true if woken, false on timeout. Does not keep the process alive. */
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

/** Returns the result of `work`, or rejects on timeout. The work itself continues. */
export async function withTimeout<T>(maxMs: number, work: () => Promise<T>): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`No answer within ${maxMs} ms`)), maxMs)
  try {
    return await Promise.race([work(), tooLate])
  } finally {
    clearTimeout(timer)
  }
}
