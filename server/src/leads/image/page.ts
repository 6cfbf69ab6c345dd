import type { LeadSort } from '../list-filter.ts'
import { compareId, compareIds, idBytes, order, type Segment, sortSlots } from './segment.ts'

/** A place in a sorted list. */
export interface Place {
  id: string
  time: number
}

/** A lead in its segment. */
export interface Found {
  segment: Segment
  slot: number
}

/** Decides whether a slot is shown; null gives the walk up. */
export type Accepts = (slot: number) => boolean | null

/** A segment, and what is shown of it: of the few slots, if there are such, or else of all. */
export interface Part {
  segment: Segment
  accepts: Accepts
  few: Uint16Array | null
}

interface Walker {
  segment: Segment
  slots: Uint16Array
  times: Float64Array
  /** Where in `slots` the walk stands. */
  at: number
  accepts: Accepts
}

export interface PageSlice {
  sort: LeadSort
  after: Place | null
  offset: number
  limit: number
}

/**
 * The slice of what the segments show, merged in sort order; null when a walk was given up. Lazy: no more slots are
 * looked at than it takes to fill the page.
 */
export function mergePage(parts: readonly Part[], slice: PageSlice): Found[] | null {
  const step = slice.sort.order === 'asc' ? 1 : -1
  const walkers = parts.map((part) => walkerOf(part, slice))
  for (const walker of walkers) if (!settle(walker, step)) return null
  const found: Found[] = []
  for (let skip = slice.offset; found.length < slice.limit; ) {
    const best = firstOf(walkers, step)
    if (best === null) break
    if (skip > 0) skip--
    else found.push({ segment: best.segment, slot: best.slots[best.at] ?? 0 })
    best.at += step
    if (!settle(best, step)) return null
  }
  return found
}

function walkerOf({ segment, accepts, few }: Part, { sort, after }: PageSlice): Walker {
  order(segment)
  const [all, times] =
    sort.by === 'createdAt' ? [segment.byCreated, segment.created] : [segment.byUpdated, segment.updated]
  const slots = few === null ? all : sortSlots(segment, few, times)
  const walker = { segment, slots, times, at: 0, accepts }
  if (sort.order === 'asc') walker.at = after === null ? 0 : firstBehind(walker, after, 1)
  else walker.at = (after === null ? slots.length : firstBehind(walker, after, 0)) - 1
  return walker
}

/** How many slots come before the place, that of the place itself included when `inclusive` is 1. */
function firstBehind({ segment, slots, times }: Walker, place: Place, inclusive: 0 | 1): number {
  const id = idBytes(place.id)
  let [low, high] = [0, slots.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const slot = slots[middle] ?? 0
    const compared = (times[slot] ?? 0) - place.time || compareId(segment, slot, id)
    if (compared < inclusive) low = middle + 1
    else high = middle
  }
  return low
}

/** Moves on to a slot that is shown; false when the walk is to be given up. */
function settle(walker: Walker, step: number): boolean {
  for (; walker.at >= 0 && walker.at < walker.slots.length; walker.at += step) {
    const answer = walker.accepts(walker.slots[walker.at] ?? 0)
    if (answer === null) return false
    if (answer) return true
  }
  return true
}

function firstOf(walkers: readonly Walker[], step: number): Walker | null {
  let best: Walker | null = null
  for (const walker of walkers) {
    if (walker.at < 0 || walker.at >= walker.slots.length) continue
    if (best === null || compareHeads(walker, best) * step < 0) best = walker
  }
  return best
}

function compareHeads(a: Walker, b: Walker): number {
  const [slotA, slotB] = [a.slots[a.at] ?? 0, b.slots[b.at] ?? 0]
  return (a.times[slotA] ?? 0) - (b.times[slotB] ?? 0) || compareIds(a.segment, slotA, b.segment, slotB)
}
