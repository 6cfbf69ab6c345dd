import type { Found, Wanted } from '../list-filter.ts'
import type { Place } from '../sorted/order.ts'
import { countPassing, type Narrowing, narrow, narrowingOf, passes } from './filter-counts.ts'
import { patternsOf } from './indexed-text.ts'
import type { MemoryIndex } from './memory-index.ts'
import { compareId, compareIds, idBytes, idText, order, type Segment, sortSlots } from './segment.ts'
import { estimate, holds, type Lookup, lookUp, type Selection, scanText } from './text-scan.ts'

/** Returns a page of a list sorted by time. */
export function queryMemoryIndex(index: MemoryIndex, query: Wanted): Found {
  const { dictionaries } = index
  const segments = [...index.segments, index.tail]
  const narrowing = narrowingOf(dictionaries, query.filter)
  const patterns = query.term === null ? [] : patternsOf(query.term)
  if (query.needsTotal && patterns.length > 0) {
    const selected = segments.map((segment) => ({ segment, ...select(lookUp(segment, patterns), narrowing) }))
    const found = mergePage(
      selected.map(({ segment, ...selection }) => ({ segment, show: () => shownOf(selection) })),
      query,
    )
    return { places: placesOf(found, query), total: selected.reduce((sum, { count }) => sum + count, 0) }
  }
  const wanted = query.offset + query.limit
  const found = mergePage(
    segments.map((segment) => ({ segment, show: () => show(lookUp(segment, patterns), narrowing, wanted) })),
    query,
  )
  const total = query.needsTotal ? segments.reduce((sum, segment) => sum + countPassing(segment, narrowing), 0) : null
  return { places: placesOf(found, query), total }
}

/** Selects every slot that matches the term and passes the filter. */
function select(lookup: Lookup, narrowing: Narrowing): Selection {
  const { segment, wheres } = lookup
  if (wheres.length > 0) return scanText(lookup, narrowing)
  return { marks: narrow(segment, narrowing), count: countPassing(segment, narrowing) }
}

// Up to this many slots are sorted; more are found by walking the stored order.
const fewSlots = 512

function shownOf({ marks, count }: Selection): Shown {
  if (marks === null) return { accepts: () => false, few: new Uint16Array(0) }
  return { accepts: (slot) => marks[slot] === 1, few: count <= fewSlots ? markedSlots(marks, count) : null }
}

export function markedSlots(marks: Uint8Array, count: number): Uint16Array {
  let last = -1
  return Uint16Array.from({ length: count }, () => {
    last = marks.indexOf(1, last + 1)
    return last
  })
}

/**
 * Tests slots one by one, which is cheapest when many leads match. If selecting all matches at once is estimated to be
 * cheaper, or the tests exceed its cost, selects all matches.
 */
function show(lookup: Lookup, narrowing: Narrowing, wanted: number): Shown {
  const { segment, wheres } = lookup
  const { perSlot, tests } = estimate(lookup)
  // The estimate is an upper bound, so half of it is assumed.
  if (wanted > (perSlot / 2) * tests) return shownOf(select(lookup, narrowing))
  let testsLeft = tests
  let all: Shown | null = null
  const accepts = (slot: number): boolean => {
    if (testsLeft-- <= 0) {
      all ??= shownOf(select(lookup, narrowing))
      return all.accepts(slot)
    }
    const matches = () => wheres.length === 0 || wheres.some(({ pattern }) => holds(segment, slot, pattern))
    return passes(segment, slot, narrowing) && matches()
  }
  return { accepts, few: null }
}

function placesOf(found: readonly FoundSlot[], { arrangement }: PageSlice): Place[] {
  return found.map(({ segment, slot }) => {
    const times = arrangement.by === 'createdAt' ? segment.created : segment.updated
    return { id: idText(segment, slot), key: times[slot] ?? 0 }
  })
}

interface FoundSlot {
  segment: Segment
  slot: number
}

/** Segment of a page; `show` is called only if the page reaches it. */
export interface Part {
  segment: Segment
  show: () => Shown
}

export interface Shown {
  accepts: (slot: number) => boolean
  /** All slots that pass, if there are few. */
  few: Uint16Array | null
}

interface Walker {
  segment: Segment
  slots: Uint16Array
  times: Float64Array
  /** Current position in `slots`. */
  at: number
  /** True if the slot at `at` is known to pass. */
  isSettled: boolean
  show: () => Shown
  shown: Shown | null
}

type PageSlice = Pick<Wanted, 'arrangement' | 'after' | 'offset' | 'limit'>

/**
 * Merges the passing slots of all segments in sort order. Lazy: tests only the slots needed to fill the page, and no
 * segments whose leads all come later.
 */
function mergePage(parts: readonly Part[], slice: PageSlice): FoundSlot[] {
  const walkers = parts.map((part) => walkerOf(part, slice))
  const step = stepOf(slice)
  const found: FoundSlot[] = []
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

const stepOf = ({ arrangement }: PageSlice): 1 | -1 => (arrangement.order === 'asc' ? 1 : -1)

function walkerOf({ segment, show }: Part, slice: PageSlice): Walker {
  order(segment)
  const [slots, times] =
    slice.arrangement.by === 'createdAt' ? [segment.byCreated, segment.created] : [segment.byUpdated, segment.updated]
  const walker = { segment, slots, times, at: 0, isSettled: false, show, shown: null }
  return { ...walker, at: startOf(walker, slice) }
}

function startOf(walker: Walker, { arrangement, after }: PageSlice): number {
  if (arrangement.order === 'asc') return after === null ? 0 : firstBehind(walker, after, 1)
  return (after === null ? walker.slots.length : firstBehind(walker, after, 0)) - 1
}

/** Returns the number of slots before the place; `inclusive` 1 includes the place itself. */
function firstBehind({ segment, slots, times }: Walker, place: Place, inclusive: 0 | 1): number {
  const id = idBytes(place.id)
  const time = Number(place.key)
  let [low, high] = [0, slots.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    const slot = slots[middle] ?? 0
    const compared = (times[slot] ?? 0) - time || compareId(segment, slot, id)
    if (compared < inclusive) low = middle + 1
    else high = middle
  }
  return low
}

/** Advances to the next slot that passes. */
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
