const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const
const signals = Object.keys(numbers) as (keyof typeof numbers)[]

export interface StopSignals {
  /** From now on the first signal stops with `stop`, and only a second one ends the process at once. */
  stopWith(stop: () => Promise<void>): void
}

/** Takes the signals over: until there is something to stop in good order, one of them ends the process. */
export function takeStopSignals(): StopSignals {
  let stop: (() => Promise<void>) | undefined
  for (const signal of signals) {
    process.on(signal, () => {
      const work = stop
      stop = undefined
      // Ending by `exit` and not by the signal: what stops an embedded database hangs on it.
      if (work === undefined) process.exit(128 + numbers[signal])
      void work()
    })
  }
  return {
    stopWith: (work) => {
      stop = work
    },
  }
}
