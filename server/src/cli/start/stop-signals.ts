const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const
const signals = Object.keys(numbers) as (keyof typeof numbers)[]

export interface StopSignals {
  /** From now on the first signal stops with `stop`, and only a second one ends the process at once. */
  stopWith(stop: (pause: Pause) => Promise<void>): void
}

/** Waits for so long. A signal that comes meanwhile ends the pause, and nothing else. */
export type Pause = (ms: number) => Promise<void>

const parentCheckMs = 500
/** A supervisor that tells all of a group tells us twice: whoever started us passes on what it was told. */
const echoMs = 250

/** Takes the signals over: until there is something to stop in good order, one of them ends the process. */
export function takeStopSignals(): StopSignals {
  let stop: ((pause: Pause) => Promise<void>) | undefined
  let stopping = false
  let endPause: (() => void) | undefined
  const pause: Pause = async (ms) => {
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    endPause = resolve
    await over
    clearTimeout(timer)
    endPause = undefined
  }
  const stopOrLeave = (exitCode: number) => {
    if (endPause !== undefined) return endPause()
    // Ending by `exit` and not by the signal: what stops an embedded database hangs on it.
    if (stop === undefined || stopping) process.exit(exitCode)
    stopping = true
    void stop(pause)
  }
  const last = { signal: '', atMs: Number.NEGATIVE_INFINITY }
  for (const signal of signals) {
    process.on(signal, () => {
      const nowMs = performance.now()
      const isEcho = last.signal === signal && nowMs - last.atMs < echoMs
      Object.assign(last, { signal, atMs: nowMs })
      if (!isEcho) stopOrLeave(128 + numbers[signal])
    })
  }
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
