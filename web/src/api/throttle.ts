/**
 * Runs at once. Calls during the run or the pause after it cause one more run. The pause lasts as long as the run took,
 * at least `intervalMs`, so that a slow server gets fewer requests.
 */
export function throttle(intervalMs: number, run: () => Promise<unknown>): () => void {
  let isBusy = false
  let isQueued = false
  const go = () => {
    isQueued = false
    isBusy = true
    const started = performance.now()
    const rest = () => setTimeout(rested, Math.max(intervalMs, performance.now() - started))
    void run().finally(rest)
  }
  const rested = () => {
    isBusy = false
    if (isQueued) go()
  }
  return () => {
    if (isBusy) isQueued = true
    else go()
  }
}

export interface ThrottledBatches<T> {
  /** Adds an item, in place of a waiting item with the same id. */
  add(id: string, item: T): void
  /** Drops the waiting item of an id. */
  remove(id: string): void
}

/** Passes on the first item after a pause at once, and later items as one batch at the end of the interval. */
export function throttleBatches<T>(intervalMs: number, take: (items: readonly T[]) => void): ThrottledBatches<T> {
  const waiting = new Map<string, T>()
  const takeAll = throttle(intervalMs, async () => {
    const items = [...waiting.values()]
    waiting.clear()
    if (items.length > 0) take(items)
  })
  return {
    add: (id, item) => {
      waiting.delete(id)
      waiting.set(id, item)
      takeAll()
    },
    remove: (id) => void waiting.delete(id),
  }
}
