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
