import { currentContext, serviceOwner, turnMs, unknownOwner } from './work-context.ts'

/** Gives the place back. */
export type Release = () => void

/** Places that the owners of work share in turns. */
export interface FairQueue {
  /** A place for the work that is being done: at once when there is one, else in its turn. Throws `TooBusy`. */
  enter(isLight?: boolean): Release | Promise<Release>
  load(): { open: number; waiting: number; refused: number }
}

/** Too many wait already, or somebody has waited for too long. Nothing was done. */
export class TooBusy extends Error {
  readonly code = 'TOO_BUSY'

  constructor(what: string) {
    super(`Too much is being asked of ${what} at once for this workspace`)
  }
}

interface FairQueueOptions extends SchedulerOptions {
  what: string
  maxWaitMs: number
}

export function createFairQueue({ what, maxWaitMs, ...options }: FairQueueOptions): FairQueue {
  const turns = new Scheduler<() => void>(options)
  let refused = 0
  const leaverOf = (owner: string): Release => {
    let isIn = true
    return () => {
      if (!isIn) return
      isIn = false
      for (const go of turns.end(owner, performance.now())) go()
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
        resolve(leaverOf(owner))
      }
      const nowMs = performance.now()
      const answer = turns.ask(owner, lane, go, nowMs, isLight)
      if (answer === 'goes') return leaverOf(owner)
      if (answer === 'refused') throw refusal()
      return new Promise((wait, reject) => {
        resolve = wait
        if (waitBudget === null) return
        const patienceMs = turnMs(waitBudget.ms(nowMs), maxWaitMs)
        timer = setTimeout(() => void (turns.giveUp(owner, lane, go) && reject(refusal())), patienceMs)
      })
    },
    load: () => ({ open: turns.held, waiting: turns.waiting, refused }),
  }
}

/** How many places there are, and how they are shared. */
interface SchedulerOptions {
  /** Places to be had at once. */
  size: number
  /** What one owner may hold of them while others are about. */
  share: number
  /** How many may wait in one lane of an owner. The service never asks for more than it has begun. */
  maxWaiting: number
}

export type Answer = 'goes' | 'waits' | 'refused'

interface Line<W> {
  held: number
  waiting: number
  /** In the order of their turns. A lane is here while somebody waits in it. */
  lanes: Map<string, W[]>
}

interface LastRequest {
  owner: string
  atMs: number
}

/** For so long after its last request another guest counts as being about. */
export const activeForMs = 1_000
/** So many light ones go by one place. */
const lightPerSlot = 32

/**
 * Who may go next, of those that wait for a few places: a rule that asks for no time and waits for nothing itself. Owners
 * take turns, and within an owner its lanes; an owner who holds less goes before one who holds more. Whoever is alone may
 * have all places. While another guest is about, nobody gets more than the share: so that the other finds a free place,
 * rather than one that is about to become free.
 */
export class Scheduler<W> {
  readonly #options: SchedulerOptions
  /** All that hold a place or wait, in the order of their turns. */
  readonly #lines = new Map<string, Line<W>>()
  // The guest that was seen last, and the last other one: enough to know whether anybody is alone.
  #last: LastRequest = { owner: '', atMs: Number.NEGATIVE_INFINITY }
  #other: LastRequest = this.#last
  #held = 0
  #waiting = 0

  constructor(options: SchedulerOptions) {
    this.#options = options
  }

  /** Places that are taken. */
  get held(): number {
    return this.#held
  }

  get waiting(): number {
    return this.#waiting
  }

  /**
   * Gives a place at once if there is one for this owner; else the waiter stands in its lane, unless that is full. What is
   * light may share a place with others of its kind, as long as nobody else is about or waits.
   */
  ask(owner: string, lane: string, waiter: W, nowMs: number, isLight = false): Answer {
    this.#see(owner, nowMs)
    const line = this.#lines.get(owner) ?? { held: 0, waiting: 0, lanes: new Map<string, W[]>() }
    const isFree = this.#held < this.#options.size && line.waiting === 0 && line.held < this.#mostOf(owner, nowMs)
    if (isFree || (isLight && this.#hasSurplus(owner, nowMs))) {
      this.#grant(owner, line)
      return 'goes'
    }
    const inLane = line.lanes.get(lane) ?? []
    if (owner !== serviceOwner && inLane.length >= this.#options.maxWaiting) return 'refused'
    inLane.push(waiter)
    line.lanes.set(lane, inLane)
    this.#lines.set(owner, line)
    line.waiting++
    this.#waiting++
    return 'waits'
  }

  /** An owner's place is free again; returns who goes now. */
  end(owner: string, nowMs: number): W[] {
    const line = this.#lines.get(owner)
    if (line === undefined || line.held === 0) throw new Error('A place is given back that nobody holds')
    line.held--
    this.#held--
    this.#forgetIfIdle(owner, line)
    const going: W[] = []
    while (this.#held < this.#options.size) {
      const next = this.#next(nowMs)
      if (next === undefined) break
      going.push(next)
    }
    return going
  }

  /** Takes one out that has waited for too long; false when it waits no more. */
  giveUp(owner: string, lane: string, waiter: W): boolean {
    const line = this.#lines.get(owner)
    const inLane = line?.lanes.get(lane)
    const at = inLane?.indexOf(waiter) ?? -1
    if (line === undefined || inLane === undefined || at < 0) return false
    inLane.splice(at, 1)
    if (inLane.length === 0) line.lanes.delete(lane)
    line.waiting--
    this.#waiting--
    this.#forgetIfIdle(owner, line)
    return true
  }

  #next(nowMs: number): W | undefined {
    let least: [owner: string, line: Line<W>] | undefined
    for (const [owner, line] of this.#lines) {
      const isLess = line.held < (least?.[1].held ?? Number.POSITIVE_INFINITY)
      if (line.waiting > 0 && isLess && line.held < this.#mostOf(owner, nowMs)) least = [owner, line]
    }
    if (least === undefined) return undefined
    this.#grant(...least)
    this.#waiting--
    return takeNext(least[1])
  }

  #grant(owner: string, line: Line<W>): void {
    line.held++
    this.#held++
    // Behind the others, whose turn comes first now.
    this.#lines.delete(owner)
    this.#lines.set(owner, line)
  }

  #see(owner: string, atMs: number): void {
    if (!isWorkspace(owner)) return
    if (owner !== this.#last.owner) this.#other = this.#last
    this.#last = { owner, atMs }
  }

  #hasSurplus(owner: string, nowMs: number): boolean {
    const { size } = this.#options
    const isAlone = isWorkspace(owner) && this.#mostOf(owner, nowMs) === size
    return isAlone && this.#waiting === 0 && this.#held < size * lightPerSlot
  }

  #mostOf(owner: string, nowMs: number): number {
    const { atMs } = this.#last.owner === owner ? this.#other : this.#last
    return nowMs - atMs < activeForMs ? this.#options.share : this.#options.size
  }

  #forgetIfIdle(owner: string, line: Line<W>): void {
    if (line.held + line.waiting === 0) this.#lines.delete(owner)
  }
}

/** Whether others leave the owner its share also while it asks for nothing. */
const isWorkspace = (owner: string): boolean => owner !== serviceOwner && owner !== unknownOwner

/** The first of the lane whose turn it is, which goes behind the others. */
function takeNext<W>(line: Line<W>): W | undefined {
  for (const [lane, inLane] of line.lanes) {
    line.lanes.delete(lane)
    line.waiting--
    const first = inLane.shift()
    if (inLane.length > 0) line.lanes.set(lane, inLane)
    return first
  }
  return undefined
}
