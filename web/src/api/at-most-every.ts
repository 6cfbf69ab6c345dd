/**
 * Runs at once, and what is asked for meanwhile once more after a rest. It rests for as long as the run took, and at
 * least `restMs`: a service that is slow to answer is not asked more for it.
 */
export function atMostEvery(restMs: number, run: () => Promise<unknown>): () => void {
  let isBusy = false
  let isWanted = false
  const go = () => {
    isWanted = false
    isBusy = true
    const started = performance.now()
    const rest = () => setTimeout(rested, Math.max(restMs, performance.now() - started))
    void run().finally(rest)
  }
  const rested = () => {
    isBusy = false
    if (isWanted) go()
  }
  return () => {
    if (isBusy) isWanted = true
    else go()
  }
}
