/** What bounds the requests of this process. */
export interface ConcurrencyLimits {
  inFlight: number
  /** Of those; failing endpoints must not take all of them. */
  failing: number
  /** Results that are not in the database yet: after a crash all of them are sent again. */
  unwritten: number
}

export interface Slots {
  /** Takes one for a request; false when there is none, and `onFree` is called once when there may be. */
  take(queue: { isFailing: boolean; inFlight: number }, onFree: () => void): boolean
  give(isFailing: boolean): void
  /** A request has come to something. */
  addUnwritten(): void
  /** So many results have been written, or will never be. */
  dropUnwritten(count: number): void
}

/** Of all slots, those that queues may take beyond their share. */
const forAnyone = 0.75

/** `countQueues` tells among how many the slots are shared: each may have its share, whatever the others have to send. */
export function createSlots(limits: ConcurrencyLimits, countQueues: () => number): Slots {
  let [taken, failing, unwritten] = [0, 0, 0]
  const waiting = new Set<() => void>()
  const free = () => {
    const woken = [...waiting]
    waiting.clear()
    for (const onFree of woken) onFree()
  }
  return {
    take: ({ isFailing, inFlight }, onFree) => {
      const isBeyondShare = inFlight >= Math.max(1, Math.floor(limits.inFlight / countQueues()))
      const most = isBeyondShare ? Math.floor(limits.inFlight * forAnyone) : limits.inFlight
      const isFull = taken >= most || unwritten >= limits.unwritten
      if (isFull || (isFailing && failing >= limits.failing)) {
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
      if (unwritten < limits.unwritten) free()
    },
    addUnwritten: () => {
      unwritten++
    },
    dropUnwritten: (count) => {
      unwritten -= count
      free()
    },
  }
}
