/** How many places there are, and how they are shared. */
export interface TurnsOptions {
  /** Places to be had at once. */
  size: number
  /** What one owner may hold of them while others are about. */
  share: number
  /** How many may wait in one lane of an owner; null: the owner's line has no end. */
  maxWaiting(owner: string): number | null
  /** Whether an owner leaves others their share also while it asks for nothing, as customers are left it. */
  isGuest(owner: string): boolean
}

export type Answer = 'goes' | 'waits' | 'refused'

/**
 * Who may go next, of those that wait for a few places: a rule without time of its own, and without a wait. Owners take
 * turns, and within an owner its lanes; an owner who holds less goes before one who holds more. Whoever is alone may
 * have all places. Once another guest has been seen, within `aboutMs`, nobody gets more than the share: so that the
 * other finds a free place rather than one that is about to become free.
 */
export interface Turns<W> {
  ask(owner: string, lane: string, waiter: W, nowMs: number): Answer
  /** An owner's place is free again; answers who goes now. */
  end(owner: string, nowMs: number): W[]
  /** Takes one out that has waited for too long; false when it waits no more. */
  giveUp(owner: string, lane: string, waiter: W): boolean
  readonly held: number
  readonly waiting: number
}

export const aboutMs = 1_000

interface Line<W> {
  held: number
  waiting: number
  /** In the order of their turns. A lane is here while somebody waits in it. */
  lanes: Map<string, W[]>
}

interface Sight {
  owner: string
  atMs: number
}

export function createTurns<W>({ size, share, maxWaiting, isGuest }: TurnsOptions): Turns<W> {
  /** All that hold a place or wait; those that wait in the order of their turns. */
  const lines = new Map<string, Line<W>>()
  // Of the guests that were seen, the last and the last other one: enough to know whether anybody is alone.
  let last: Sight = { owner: '', atMs: Number.NEGATIVE_INFINITY }
  let other: Sight = last
  let held = 0
  let waiting = 0

  const see = (owner: string, atMs: number) => {
    if (!isGuest(owner)) return
    if (owner !== last.owner) other = last
    last = { owner, atMs }
  }
  const mostOf = (owner: string, nowMs: number) => {
    const { atMs } = last.owner === owner ? other : last
    return nowMs - atMs < aboutMs ? share : size
  }
  const grant = (owner: string, line: Line<W>) => {
    line.held++
    held++
    lines.delete(owner)
    lines.set(owner, line)
  }
  const next = (nowMs: number): W | undefined => {
    let least: string | undefined
    let leastHeld = Number.POSITIVE_INFINITY
    for (const [owner, line] of lines) {
      if (line.waiting === 0 || line.held >= leastHeld || line.held >= mostOf(owner, nowMs)) continue
      least = owner
      leastHeld = line.held
    }
    const line = least === undefined ? undefined : lines.get(least)
    if (least === undefined || line === undefined) return undefined
    grant(least, line)
    waiting--
    return takeFirst(line)
  }

  return {
    ask: (owner, lane, waiter, nowMs) => {
      see(owner, nowMs)
      const line = lines.get(owner) ?? { held: 0, waiting: 0, lanes: new Map<string, W[]>() }
      if (held < size && line.waiting === 0 && line.held < mostOf(owner, nowMs)) {
        grant(owner, line)
        return 'goes'
      }
      const inLane = line.lanes.get(lane) ?? []
      if (inLane.length >= (maxWaiting(owner) ?? Number.POSITIVE_INFINITY)) return 'refused'
      inLane.push(waiter)
      line.lanes.set(lane, inLane)
      lines.set(owner, line)
      line.waiting++
      waiting++
      return 'waits'
    },
    end: (owner, nowMs) => {
      const line = lines.get(owner)
      if (line === undefined || line.held === 0) throw new Error(`${owner} gives back a place that it does not hold`)
      line.held--
      held--
      if (line.held + line.waiting === 0) lines.delete(owner)
      const going: W[] = []
      while (held < size) {
        const waiter = next(nowMs)
        if (waiter === undefined) break
        going.push(waiter)
      }
      return going
    },
    giveUp: (owner, lane, waiter) => {
      const line = lines.get(owner)
      const inLane = line?.lanes.get(lane)
      const at = inLane?.indexOf(waiter) ?? -1
      if (line === undefined || inLane === undefined || at < 0) return false
      inLane.splice(at, 1)
      if (inLane.length === 0) line.lanes.delete(lane)
      line.waiting--
      waiting--
      if (line.held + line.waiting === 0) lines.delete(owner)
      return true
    },
    get held() {
      return held
    },
    get waiting() {
      return waiting
    },
  }
}

/** The first of the lane whose turn it is, which goes behind the others. */
function takeFirst<W>(line: Line<W>): W | undefined {
  for (const [lane, inLane] of line.lanes) {
    line.lanes.delete(lane)
    line.waiting--
    const first = inLane.shift()
    if (inLane.length > 0) line.lanes.set(lane, inLane)
    return first
  }
  return undefined
}
