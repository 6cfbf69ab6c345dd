import { currentContext, queueTimeoutMs, serviceOwner, unknownOwner } from './work-context.ts'

/** Releases the slot. */
export type Release = () => void

/** Slots that owners share fairly. */
export interface FairQueue {
  /** Acquires a slot for the current work: immediately if one is free, otherwise in its turn. Throws `TooBusy`. */
  enter(isLight?: boolean): Release | Promise<Release>
  load(): { open: number; waiting: number; refused: number }
}

/** The queue is full, or the request has waited too long. Nothing was executed. */
export class TooBusy extends Error {
  readonly code = 'TOO_BUSY'

  constructor(what: string) {
    super(`Too many concurrent requests from this workspace to ${what}`)
  }
}

interface FairQueueOptions extends SchedulerOptions {
  what: string
  maxWaitMs: number
}

export function createFairQueue({ what, maxWaitMs, ...options }: FairQueueOptions): FairQueue {
  const scheduler = new Scheduler<() => void>(options)
  let refused = 0
  const createRelease = (owner: string): Release => {
    let isIn = true
    return () => {
      if (!isIn) return
      isIn = false
      for (const go of scheduler.release(owner, performance.now())) go()
    }
  }
  const refusal = () => {
    refused++
    return new TooBusy(what)
  }

  return {
    enter: (isLight = false) => {
      const { owner, lane, waitBudget } = currentContext()
      let resolve = (_leave: Release): void => {}
      let timer: NodeJS.Timeout | undefined
      const go = () => {
        clearTimeout(timer)
        resolve(createRelease(owner))
      }
      const nowMs = performance.now()
      const answer = scheduler.request(owner, lane, go, nowMs, isLight)
      if (answer === 'goes') return createRelease(owner)
      if (answer === 'refused') throw refusal()
      return new Promise((wait, reject) => {
        resolve = wait
        if (waitBudget === null) return
        const timeoutMs = queueTimeoutMs(waitBudget.ms(nowMs), maxWaitMs)
        timer = setTimeout(() => void (scheduler.remove(owner, lane, go) && reject(refusal())), timeoutMs)
      })
    },
    load: () => ({ open: scheduler.held, waiting: scheduler.waiting, refused }),
  }
}

/** Number of slots, and how they are shared. */
interface SchedulerOptions {
  /** Number of slots. */
  size: number
  /** Maximum number of slots per owner while others are active. */
  share: number
  /** Maximum queue length per lane of an owner. Not applied to the service, whose work is limited by itself. */
  maxWaiting: number
}

export type Admission = 'goes' | 'waits' | 'refused'

interface OwnerQueue<W> {
  held: number
  waiting: number
  /** In scheduling order. Contains only lanes with waiting requests. */
  lanes: Map<string, W[]>
}

interface LastRequest {
  owner: string
  atMs: number
}

/** A workspace counts as active for this long after its last request. */
export const activeForMs = 1_000
/** Number of light requests that can share one slot. */
const lightPerSlot = 32

/**
 * Schedules requests for a limited number of slots; contains no clock and no timers. Owners take turns, and within an
 * owner its lanes; an owner with fewer slots goes first. A single active owner may use all slots. While another
 * workspace is active, no owner gets more than `share`, so that the other finds a free slot instead of waiting for one.
 */
export class Scheduler<W> {
  readonly #options: SchedulerOptions
  /** All owners with slots or waiting requests, in scheduling order. */
  readonly #queues = new Map<string, OwnerQueue<W>>()
  // The last two different workspaces are enough to know whether one is alone.
  #last: LastRequest = { owner: '', atMs: Number.NEGATIVE_INFINITY }
  #other: LastRequest = this.#last
  #held = 0
  #waiting = 0

  constructor(options: SchedulerOptions) {
    this.#options = options
  }

  /** Number of slots in use. */
  get held(): number {
    return this.#held
  }

  get waiting(): number {
    return this.#waiting
  }

  /**
   * Grants a slot if the owner may have one now; otherwise queues the request in its lane, or refuses it if the lane is
   * full. Light requests can share a slot with others while no other workspace is active and nothing waits.
   */
  request(owner: string, lane: string, waiter: W, nowMs: number, isLight = false): Admission {
    this.#recordRequest(owner, nowMs)
    const queue = this.#queues.get(owner) ?? { held: 0, waiting: 0, lanes: new Map<string, W[]>() }
    const isFree = this.#held < this.#options.size && queue.waiting === 0 && queue.held < this.#maxSlots(owner, nowMs)
    if (isFree || (isLight && this.#hasSurplus(owner, nowMs))) {
      this.#grant(owner, queue)
      return 'goes'
    }
    const laneQueue = queue.lanes.get(lane) ?? []
    if (owner !== serviceOwner && laneQueue.length >= this.#options.maxWaiting) return 'refused'
    laneQueue.push(waiter)
    queue.lanes.set(lane, laneQueue)
    this.#queues.set(owner, queue)
    queue.waiting++
    this.#waiting++
    return 'waits'
  }

  /** Releases a slot of an owner, and returns the requests that get one now. */
  release(owner: string, nowMs: number): W[] {
    const queue = this.#queues.get(owner)
    if (queue === undefined || queue.held === 0) throw new Error('Released a slot that was not acquired')
    queue.held--
    this.#held--
    this.#forgetIfIdle(owner, queue)
    const granted: W[] = []
    while (this.#held < this.#options.size) {
      const next = this.#next(nowMs)
      if (next === undefined) break
      granted.push(next)
    }
    return granted
  }

  /** Removes a request that has waited too long; false if it is not waiting. */
  remove(owner: string, lane: string, waiter: W): boolean {
    const queue = this.#queues.get(owner)
    const laneQueue = queue?.lanes.get(lane)
    const at = laneQueue?.indexOf(waiter) ?? -1
    if (queue === undefined || laneQueue === undefined || at < 0) return false
    laneQueue.splice(at, 1)
    if (laneQueue.length === 0) queue.lanes.delete(lane)
    queue.waiting--
    this.#waiting--
    this.#forgetIfIdle(owner, queue)
    return true
  }

  #next(nowMs: number): W | undefined {
    let leastLoaded: [owner: string, line: OwnerQueue<W>] | undefined
    for (const [owner, queue] of this.#queues) {
      const isLess = queue.held < (leastLoaded?.[1].held ?? Number.POSITIVE_INFINITY)
      if (queue.waiting > 0 && isLess && queue.held < this.#maxSlots(owner, nowMs)) leastLoaded = [owner, queue]
    }
    if (leastLoaded === undefined) return undefined
    this.#grant(...leastLoaded)
    this.#waiting--
    return takeNext(leastLoaded[1])
  }

  #grant(owner: string, queue: OwnerQueue<W>): void {
    queue.held++
    this.#held++
    // Moves the owner to the end, so that the others come first.
    this.#queues.delete(owner)
    this.#queues.set(owner, queue)
  }

  #recordRequest(owner: string, atMs: number): void {
    if (!isWorkspace(owner)) return
    if (owner !== this.#last.owner) this.#other = this.#last
    this.#last = { owner, atMs }
  }

  #hasSurplus(owner: string, nowMs: number): boolean {
    const { size } = this.#options
    const isAlone = isWorkspace(owner) && this.#maxSlots(owner, nowMs) === size
    return isAlone && this.#waiting === 0 && this.#held < size * lightPerSlot
  }

  #maxSlots(owner: string, nowMs: number): number {
    const { atMs } = this.#last.owner === owner ? this.#other : this.#last
    return nowMs - atMs < activeForMs ? this.#options.share : this.#options.size
  }

  #forgetIfIdle(owner: string, queue: OwnerQueue<W>): void {
    if (queue.held + queue.waiting === 0) this.#queues.delete(owner)
  }
}

/** Returns true for workspaces: others leave them their share even while they request nothing. */
const isWorkspace = (owner: string): boolean => owner !== serviceOwner && owner !== unknownOwner

/** Returns the first request of the next lane, and moves the lane to the end. */
function takeNext<W>(queue: OwnerQueue<W>): W | undefined {
  for (const [lane, laneQueue] of queue.lanes) {
    queue.lanes.delete(lane)
    queue.waiting--
    const first = laneQueue.shift()
    if (laneQueue.length > 0) queue.lanes.set(lane, laneQueue)
    return first
  }
  return undefined
}
