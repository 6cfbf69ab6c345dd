export interface Loop {
  /** Lets a run that has begun end; none begins after it. */
  stop(): Promise<void>
}

export interface LoopTimes {
  firstAfterMs: number
  /** From the end of one run to the beginning of the next. */
  pauseMs: number
}

/** How work is repeated: `repeatAtPauses`, unless a test drives it by hand. */
export type Repeat = (pauseMs: number, work: () => Promise<unknown>, onError: (error: unknown) => void) => Loop

/** The first time at once. */
export const repeatAtOnce: Repeat = (pauseMs, work, onError) => startLoop({ firstAfterMs: 0, pauseMs }, work, onError)

export const repeatAtPauses: Repeat = (pauseMs, work, onError) =>
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
