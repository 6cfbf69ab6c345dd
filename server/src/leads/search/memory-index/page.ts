import type { LeadSort } from '../list-filter.ts'
import { compareId, compareIds, idBytes, order, type Segment, sortSlots } from './segment.ts'

/** A place in a sorted list. */
export interface SortKey {
  id: string
  time: number
}

/** A lead in its segment. */
export interface Found {
  segment: Segment
  slot: number
}

/** A segment, and what is shown of it: asked only when the page reaches the segment. */
export interface Part {
  segment: Segment
  show: () => Shown
}

export interface Shown {
  accepts: (slot: number) => boolean
  /** All that can be shown, when that is little. */
  few: Uint16Array | null
}

interface Walker {
  segment: Segment
  slots: Uint16Array
  times: Float64Array
  /** Where in `slots` the walk stands. */
  at: number
  /** Whether the slot there is known to be shown. */
  isSettled: boolean
  show: () => Shown
  shown: Shown | null
}

export interface PageSlice {
  sort: LeadSort
  after: SortKey | null
  offset: number
  limit: number
}

/**
 * The slice of what the segments show, merged in sort order. Lazy: no more slots are looked at than it takes to fill
 * the page, and of segments whose leads all come later, none.
 */
export function mergePage(parts: readonly Part[], slice: PageSlice): Found[] {
  const walkers = parts.map((part) => walkerOf(part, slice))
  const step = stepOf(slice)
  const found: Found[] = []
  for (let skip = slice.offset; found.length < slice.limit; ) {
    const best = firstOf(walkers, step)
    if (best === null) break
    if (!best.isSettled) {
      settle(best, slice)
      continue
    }
    if (skip > 0) skip--
    else found.push({ segment: best.segment, slot: best.slots[best.at] ?? 0 })
    best.at += step
    best.isSettled = false
  }
  return found
}

const stepOf = ({ sort }: PageSlice): 1 | -1 => (sort.order === 'asc' ? 1 : -1)

function walkerOf({ segment, show }: Part, slice: PageSlice): Walker {
  order(segment)
  const [slots, times] =
    slice.sort.by === 'createdAt' ? [segment.byCreated, segment.created] : [segment.byUpdated, segment.updated]
  const walker = { segment, slots, times, at: 0, isSettled: false, show, shown: null }
  return { ...walker, at: startOf(walker, slice) }
}

function startOf(walker: Walker, { sort, after }: PageSlice): number {
  if (sort.order === 'asc') return after === null ? 0 : firstBehind(walker, after, 1)
  return (after === null ? walker.slots.length : firstBehind(walker, after, 0)) - 1
}

/** How many slots come before the place, that of the place itself included when `inclusive` is 1. */
function firstBehind({ segment, slots, times }: Walker, place: SortKey, inclusive: 0 | 1): number {
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

/** Moves on to a slot that is shown. */
function settle(walker: Walker, slice: PageSlice): void {
  if (walker.shown === null) {
    walker.shown = walker.show()
    if (walker.shown.few !== null) {
      walker.slots = sortSlots(walker.segment, walker.shown.few, walker.times)
      walker.at = startOf(walker, slice)
    }
  }
  const { accepts } = walker.shown
  const step = stepOf(slice)
  while (walker.at >= 0 && walker.at < walker.slots.length && !accepts(walker.slots[walker.at] ?? 0)) walker.at += step
  walker.isSettled = true
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
