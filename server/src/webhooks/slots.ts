/** How many requests this process has in flight; failing endpoints must not take all of them. */
export interface Slots {
  /** Takes one; false when there is none, and `onFree` is called once when there may be. */
  take(isFailing: boolean, onFree: () => void): boolean
  give(isFailing: boolean): void
}

export function createSlots(most: number, mostFailing: number): Slots {
  let taken = 0
  let failing = 0
  const waiting = new Set<() => void>()
  return {
    take: (isFailing, onFree) => {
      if (taken >= most || (isFailing && failing >= mostFailing)) {
        waiting.add(onFree)
        return false
      }
      taken++
      if (isFailing) failing++
      return true
    },
    give: (isFailing) => {
      taken--
      if (isFailing) failing--
      const woken = [...waiting]
      waiting.clear()
      for (const onFree of woken) onFree()
    },
  }
}
