import type { PageQuery, PageResult } from '../list-filter.ts'
import type { Place } from '../sorted/order.ts'
import { type CompiledFilter, compileFilter, countPassing, markPassing, passes } from './filter-counts.ts'
import { patternsOf } from './indexed-text.ts'
import type { MemoryIndex } from './memory-index.ts'
import { compareId, compareIds, firstWhere, idBytes, idText, type Segment, sortSlots, updateOrders } from './segment.ts'
import { containsPattern, estimateCost, type Lookup, lookUp, type Selection, scanText } from './text-scan.ts'

/** Returns a page of a list sorted by time. */
export function queryMemoryIndex(index: MemoryIndex, query: PageQuery): PageResult {
  const { dictionaries } = index
  const segments = [...index.segments, index.tail]
  const compiledFilter = compileFilter(dictionaries, query.filter)
  const patterns = query.term === null ? [] : patternsOf(query.term)
  if (query.needsTotal && patterns.length > 0) {
    const selected = segments.map((segment) => ({ segment, ...selectAll(lookUp(segment, patterns), compiledFilter) }))
    const found = mergePage(
      selected.map(({ segment, ...selection }) => ({ segment, show: () => toPassingSlots(selection) })),
      query,
    )
    return { places: placesOf(found, query), total: selected.reduce((sum, { count }) => sum + count, 0) }
  }
  const pageEnd = query.offset + query.limit
  const found = mergePage(
    segments.map((segment) => ({
      segment,
      show: () => testLazily(lookUp(segment, patterns), compiledFilter, pageEnd),
    })),
    query,
  )
  const total = query.needsTotal
    ? segments.reduce((sum, segment) => sum + countPassing(segment, compiledFilter), 0)
    : null
  return { places: placesOf(found, query), total }
}

/** Selects every slot that matches the term and passes the filter. */
function selectAll(lookup: Lookup, compiledFilter: CompiledFilter): Selection {
  const { segment, candidates } = lookup
  if (candidates.length > 0) return scanText(lookup, compiledFilter)
  return { marks: markPassing(segment, compiledFilter), count: countPassing(segment, compiledFilter) }
}

/** Up to this many slots are sorted; more are found by walking the stored order. */
export const fewSlots = 512

function toPassingSlots({ marks, count }: Selection): PassingSlots {
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
function testLazily(lookup: Lookup, compiledFilter: CompiledFilter, pageEnd: number): PassingSlots {
  const { segment, candidates } = lookup
  const { perSlot, tests } = estimateCost(lookup)
  // The estimate is an upper bound, so half of it is assumed.
  if (pageEnd > (perSlot / 2) * tests) return toPassingSlots(selectAll(lookup, compiledFilter))
  let testsLeft = tests
  let all: PassingSlots | null = null
  const accepts = (slot: number): boolean => {
    if (testsLeft-- <= 0) {
      all ??= toPassingSlots(selectAll(lookup, compiledFilter))
      return all.accepts(slot)
    }
    const matches = () =>
      candidates.length === 0 || candidates.some(({ pattern }) => containsPattern(segment, slot, pattern))
    return passes(segment, slot, compiledFilter) && matches()
  }
  return { accepts, few: null }
}

function placesOf(found: readonly FoundSlot[], { sortOrder }: PageSlice): Place[] {
  return found.map(({ segment, slot }) => {
    const times = sortOrder.by === 'createdAt' ? segment.created : segment.updated
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
  show: () => PassingSlots
}

export interface PassingSlots {
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
  show: () => PassingSlots
  shown: PassingSlots | null
}

type PageSlice = Pick<PageQuery, 'sortOrder' | 'after' | 'offset' | 'limit'>

/**
 * Merges the passing slots of all segments in sort order. Lazy: tests only the slots needed to fill the page, and no
 * segments whose leads all come later.
 */
function mergePage(parts: readonly Part[], slice: PageSlice): FoundSlot[] {
  const walkers = parts.map((part) => walkerOf(part, slice))
  const step = stepOf(slice)
  const found: FoundSlot[] = []
  for (let skip = slice.offset; found.length < slice.limit; ) {
    const best = firstWalker(walkers, step)
    if (best === null) break
    if (!best.isSettled) {
      advance(best, slice)
      continue
    }
    if (skip > 0) skip--
    else found.push({ segment: best.segment, slot: best.slots[best.at] ?? 0 })
    best.at += step
    best.isSettled = false
  }
  return found
}

const stepOf = ({ sortOrder }: PageSlice): 1 | -1 => (sortOrder.order === 'asc' ? 1 : -1)

function walkerOf({ segment, show }: Part, slice: PageSlice): Walker {
  updateOrders(segment)
  const [slots, times] =
    slice.sortOrder.by === 'createdAt' ? [segment.byCreated, segment.created] : [segment.byUpdated, segment.updated]
  const walker = { segment, slots, times, at: 0, isSettled: false, show, shown: null }
  return { ...walker, at: startOf(walker, slice) }
}

function startOf(walker: Walker, { sortOrder, after }: PageSlice): number {
  if (sortOrder.order === 'asc') return after === null ? 0 : firstBehind(walker, after, 1)
  return (after === null ? walker.slots.length : firstBehind(walker, after, 0)) - 1
}

/** Returns the number of slots before the place; `inclusive` 1 includes the place itself. */
function firstBehind({ segment, slots, times }: Walker, place: Place, inclusive: 0 | 1): number {
  const id = idBytes(place.id)
  const time = Number(place.key)
  return firstWhere(0, slots.length, (at) => {
    const slot = slots[at] ?? 0
    return ((times[slot] ?? 0) - time || compareId(segment, slot, id)) >= inclusive
  })
}

/** Advances to the next slot that passes. */
function advance(walker: Walker, slice: PageSlice): void {
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

function firstWalker(walkers: readonly Walker[], step: number): Walker | null {
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
