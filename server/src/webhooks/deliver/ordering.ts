import type { Delivery } from './delivery.ts'

interface Lane {
  /** In order of position; the first may be in flight. */
  waiting: Delivery[]
  isBusy: boolean
}

/**
 * The deliveries of one endpoint that are in memory, a lane for each lead or conversation. Lanes take turns; within one,
 * a delivery goes when the one before it is done with.
 */
export interface Ordering {
  /** Puts a delivery in its place. Never before one that is in flight. */
  add(delivery: Delivery): void
  hasReady(): boolean
  /** The next delivery, which then is in flight. */
  take(): Delivery | undefined
  /** The delivery in flight is done with: the one after it may go. */
  pass(delivery: Delivery): void
  /** The delivery did not go after all: it is the next of its lane again. */
  putBack(delivery: Delivery): void
  /** Forgets the lane of a delivery in flight, and returns those after it. */
  cut(delivery: Delivery): Delivery[]
  /** Forgets what is not in flight, and returns it. */
  clear(): Delivery[]
  all(): Delivery[]
  readonly size: number
}

export function createOrdering(): Ordering {
  const lanes = new Map<string, Lane>()
  /** Lanes whose first may go. */
  const ready = new Set<string>()
  let size = 0

  return {
    add: (delivery) => {
      const lane = lanes.get(delivery.subjectId) ?? { waiting: [], isBusy: false }
      let at = lane.waiting.length
      const first = lane.isBusy ? 1 : 0
      while (at > first && (lane.waiting[at - 1]?.position ?? 0) > delivery.position) at--
      lane.waiting.splice(at, 0, delivery)
      lanes.set(delivery.subjectId, lane)
      if (!lane.isBusy) ready.add(delivery.subjectId)
      size++
    },
    hasReady: () => ready.size > 0,
    take: () => {
      const [subjectId] = ready
      const lane = subjectId === undefined ? undefined : lanes.get(subjectId)
      if (subjectId === undefined || lane === undefined) return undefined
      ready.delete(subjectId)
      lane.isBusy = true
      return lane.waiting[0]
    },
    pass: ({ subjectId }) => {
      const lane = lanes.get(subjectId)
      if (lane === undefined) return
      lane.waiting.shift()
      lane.isBusy = false
      size--
      if (lane.waiting.length > 0) ready.add(subjectId)
      else lanes.delete(subjectId)
    },
    putBack: ({ subjectId }) => {
      const lane = lanes.get(subjectId)
      if (lane === undefined) return
      lane.isBusy = false
      ready.add(subjectId)
    },
    cut: ({ subjectId }) => {
      const [, ...followers] = lanes.get(subjectId)?.waiting ?? []
      ready.delete(subjectId)
      if (lanes.delete(subjectId)) size -= followers.length + 1
      return followers
    },
    clear: () => {
      const dropped = [...lanes.values()].flatMap((lane) => lane.waiting.splice(lane.isBusy ? 1 : 0))
      for (const [subjectId, lane] of lanes) if (!lane.isBusy) lanes.delete(subjectId)
      ready.clear()
      size = lanes.size
      return dropped
    },
    all: () => [...lanes.values()].flatMap((lane) => lane.waiting),
    get size() {
      return size
    },
  }
}
