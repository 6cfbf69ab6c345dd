/**
 * A function whose calls share runs of `work`. A call never shares a run that had begun before it, since that one may
 * have looked too early. Runs do not overlap.
 */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> | null = null
  let next: Promise<T> | null = null

  const run = (): Promise<T> => {
    next = null
    const started = work()
    const ended = started
      .catch(() => undefined)
      .then(() => {
        running = null
      })
    running = ended
    return started
  }
  return () => {
    if (next === null && running === null) return run()
    next ??= Promise.resolve(running).then(run)
    return next
  }
}
