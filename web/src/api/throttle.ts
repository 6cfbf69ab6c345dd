/**
 * Runs at once, and what is asked for meanwhile once more after a rest. It rests for as long as the run took, and at
 * least `restMs`: a service that is slow to answer is not asked more for it.
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
