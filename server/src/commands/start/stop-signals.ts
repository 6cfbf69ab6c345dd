const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const
const signals = Object.keys(numbers) as (keyof typeof numbers)[]

export interface StopSignals {
  /** From now on the first signal stops with `stop`, and only a second one ends the process at once. */
  stopWith(stop: () => Promise<void>): void
}

const parentCheckMs = 500

/** Takes the signals over: until there is something to stop in good order, one of them ends the process. */
export function takeStopSignals(): StopSignals {
  let stop: (() => Promise<void>) | undefined
  let stopping = false
  const stopOrLeave = (exitCode: number) => {
    // Ending by `exit` and not by the signal: what stops an embedded database hangs on it.
    if (stop === undefined || stopping) process.exit(exitCode)
    stopping = true
    void stop()
  }
  for (const signal of signals) process.on(signal, () => stopOrLeave(128 + numbers[signal]))
  watchParent(() => stopping || stopOrLeave(128 + numbers.SIGHUP))
  return {
    stopWith: (work) => {
      stop = work
    },
  }
}

// npm hands a signal to the shell between us, which dies of it and tells nobody: the service would run on unseen.
function watchParent(onGone: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    onGone()
  }, parentCheckMs)
  timer.unref()
}
