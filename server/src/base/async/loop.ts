import timers from 'node:timers/promises'

export interface Loop {
  /** Lets a run that has begun end; none begins after it. */
  stop(): Promise<void>
}

interface LoopTimes {
  firstAfterMs: number
  /** From the end of one run to the beginning of the next. */
  pauseMs: number
}

/** How work is repeated: `repeatAfterPause`, unless a test drives it by hand. */
export type Repeat = (pauseMs: number, work: () => Promise<unknown>, onError: (error: unknown) => void) => Loop

/** The first time at once. */
export const repeatImmediately: Repeat = (pauseMs, work, onError) =>
  startLoop({ firstAfterMs: 0, pauseMs }, work, onError)

export const repeatAfterPause: Repeat = (pauseMs, work, onError) =>
  startLoop({ firstAfterMs: pauseMs, pauseMs }, work, onError)

/**
 * Runs `work` again and again; runs never overlap. A run that fails is told to `onError`, and the next one comes in
 * its turn.
 */
export function startLoop(
  { firstAfterMs, pauseMs }: LoopTimes,
  work: () => Promise<unknown>,
  onError: (error: unknown) => void,
): Loop {
  let stopped = false
  let running = Promise.resolve()
  let timer = schedule(firstAfterMs)

  function schedule(waitMs: number): NodeJS.Timeout {
    // Waiting for the next run is no reason to keep a process alive.
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

/** Returns what `work` does, when it does so in time; else rejects. The work itself goes on. */
export async function withTimeout<T>(maxMs: number, work: () => Promise<T>): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`No answer within ${maxMs} ms`)), maxMs)
  try {
    return await Promise.race([work(), tooLate])
  } finally {
    clearTimeout(timer)
  }
}
