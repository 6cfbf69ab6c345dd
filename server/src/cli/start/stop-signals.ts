const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const
const signals = Object.keys(numbers) as (keyof typeof numbers)[]

export interface StopSignals {
  /** Makes the first signal call `stop`, and a second one exit immediately. */
  stopWith(stop: (pause: Pause) => Promise<void>): void
}

/** Waits for a time. A signal during the pause only ends the pause. */
export type Pause = (ms: number) => Promise<void>

const parentCheckMs = 500
/** Ignores duplicates: a supervisor that signals the whole group also signals our parent, which forwards it. */
const duplicateWindowMs = 250

/** Handles stop signals. Until `stopWith` is called, a signal exits the process. */
export function handleStopSignals(): StopSignals {
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
  const stopOrExit = (exitCode: number) => {
    if (endPause !== undefined) return endPause()
    // Uses `exit` rather than the signal, because exit handlers stop an embedded database.
    if (stop === undefined || stopping) process.exit(exitCode)
    stopping = true
    void stop(pause)
  }
  const last = { signal: '', atMs: Number.NEGATIVE_INFINITY }
  for (const signal of signals) {
    process.on(signal, () => {
      const nowMs = performance.now()
      const isDuplicate = last.signal === signal && nowMs - last.atMs < duplicateWindowMs
      Object.assign(last, { signal, atMs: nowMs })
      if (!isDuplicate) stopOrExit(128 + numbers[signal])
    })
  }
  watchParent(() => stopping || stopOrExit(128 + numbers.SIGHUP))
  return {
    stopWith: (work) => {
      stop = work
    },
  }
}

// npm forwards a signal to the shell in between, which dies without forwarding it: the service would continue
// unnoticed.
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
