import { setImmediate } from 'node:timers/promises'
import type { PageQuery, PageResult } from '../list-filter.ts'
import { compileConditions, conditionsKey } from '../sorted/conditions.ts'
import { comparePlaces, type Place, type SortKey, sortKeyOf } from '../sorted/order.ts'
import { compileFilter, markPassing } from './filter-counts.ts'
import { markMatches, namesOf, type SlotReader, slotReader } from './lead-values.ts'
import type { MemoryIndex } from './memory-index.ts'
import { markedSlots } from './query.ts'
import { allSlots, firstWhere, idText, type Marks, type Segment, type SlotOrder } from './segment.ts'

/** Up to this many slots are sorted per query instead of caching an order of the whole segment. */
const isFew = (count: number, segment: Segment): boolean => count <= Math.min(512, segment.count / 2)
// For this few slots, reading their sort keys is faster than walking a cached order.
const maxDirectSlots = 16
// If a search matches at most this share of a segment, conditions are tested on the matches only.
const searchedShare = 1 / 16
const maxCached = 4

/**
 * Returns a page of a list in any order. Prepares and caches the orders and marks of one segment at a time, so that
 * other work is not blocked; then builds the page synchronously, so that it is consistent. Search terms are looked up
 * in the index of texts; without one, each lead is read.
 */
export async function querySortedIndex(
  index: MemoryIndex,
  query: PageQuery,
  textIndex: MemoryIndex | null = null,
): Promise<PageResult> {
  const searchKey = `search ${++searches}`
  try {
    let prepared = prepareQuery(index, textIndex, query, searchKey)
    let isReady = true
    for (const segment of [...index.segments]) {
      if (prepared.isReady(segment)) continue
      prepared.makeReady(segment)
      isReady = false
      await setImmediate()
    }
    if (!isReady) prepared = prepareQuery(index, textIndex, query, searchKey)
    const segments = [...index.segments, index.tail]
    const total = segments.reduce((sum, segment) => sum + prepared.marksOf(segment).count, 0)
    return { places: page(segments, prepared, query), total: query.needsTotal ? total : null }
  } finally {
    // Search results are not cached.
    for (const segment of index.segments) segment.marks.delete(searchKey)
  }
}

let searches = 0

type PreparedQuery = ReturnType<typeof prepareQuery>

function prepareQuery(index: MemoryIndex, textIndex: MemoryIndex | null, query: PageQuery, searchKey: string) {
  const { sortOrder } = query
  const names = namesOf(index.dictionaries)
  const reads = new Map<Segment, SlotReader>()
  const readerOf = (segment: Segment): SlotReader => {
    const reader = reads.get(segment) ?? slotReader(segment, names)
    reads.set(segment, reader)
    return reader
  }
  const keyOf = sortKeyOf(sortOrder)
  const orderKey = JSON.stringify([sortOrder.by, sortOrder.language, sortOrder.choices])
  const keyAt = (segment: Segment, slot: number): SortKey => keyOf(readerOf(segment).at(slot))
  const { areMarked, marksOf } = prepareMarks(index, textIndex, query, readerOf, searchKey)
  const hasOrder = (segment: Segment): boolean => segment.orders.has(orderKey)
  const orderOf = (segment: Segment): SlotOrder => {
    const known = segment.orders.get(orderKey)
    if (known !== undefined) return known
    const order = sortedSlots(segment, allSlots(segment), keyAt)
    if (segment.index !== null) cacheEntry(segment.orders, orderKey, order)
    return order
  }
  const needsOrder = (segment: Segment) => !hasOrder(segment) && !isFew(marksOf(segment).count, segment)
  return {
    keyAt,
    marksOf,
    hasOrder,
    orderOf,
    isReady: (segment: Segment): boolean => areMarked(segment) && !needsOrder(segment),
    makeReady: (segment: Segment): void => {
      marksOf(segment)
      if (needsOrder(segment)) orderOf(segment)
    },
  }
}

/** Returns functions that mark the slots of a segment that are in the list. */
function prepareMarks(
  index: MemoryIndex,
  textIndex: MemoryIndex | null,
  { filter, conditions, term }: PageQuery,
  readerOf: (segment: Segment) => SlotReader,
  searchKey: string,
) {
  const compiledFilter = compileFilter(index.dictionaries, filter)
  const test = compileConditions(conditions)
  const isOpen = conditions.list.length === 0
  const listKey = conditionsKey({ match: conditions.match, list: conditions.list }) + compiledFilter.key
  const read = (segment: Segment, key: string, fits: (lead: SlotReader) => boolean, isOpen: boolean): Marks => {
    const known = segment.marks.get(key)
    if (known !== undefined) return known
    const cached = filterMarks(
      markPassing(segment, compiledFilter),
      isOpen ? null : (slot) => fits(readerOf(segment).at(slot)),
    )
    if (segment.index === null) return cached
    if (key === searchKey) segment.marks.set(key, cached)
    else cacheEntry(segment.marks, key, cached)
    return cached
  }
  const unsearched = (segment: Segment): Marks => read(segment, listKey, test, isOpen)
  if (term === null)
    return { areMarked: (segment: Segment) => segment.marks.has(listKey), marksOf: memoize(unsearched) }
  if (textIndex === null) {
    const marksOf = (segment: Segment) => read(segment, searchKey, (lead) => test(lead) && lead.matches(term), false)
    return { areMarked: (segment: Segment) => segment.marks.has(searchKey), marksOf: memoize(marksOf) }
  }
  const searched = markMatches(index, textIndex, { filter, term })
  const isSmallShare = (segment: Segment) => (searched.get(segment)?.count ?? 0) <= segment.count * searchedShare
  return {
    areMarked: (segment: Segment) => isOpen || isSmallShare(segment) || segment.marks.has(listKey),
    marksOf: memoize((segment: Segment): Marks => {
      const { marks, count } = searched.get(segment) ?? nothing
      if (isOpen || count === 0) return { marks, count }
      if (isSmallShare(segment)) return filterMarks(marks, (slot) => test(readerOf(segment).at(slot)))
      const others = unsearched(segment)
      return filterMarks(marks, (slot) => others.marks[slot] === 1)
    }),
  }
}

const nothing: Marks = { marks: new Uint8Array(0), count: 0 }

/** Keeps the marks of slots that pass the test. */
function filterMarks(marks: Uint8Array, fits: ((slot: number) => boolean) | null): Marks {
  let count = 0
  for (let slot = 0; slot < marks.length; slot++) {
    if (marks[slot] === 0) continue
    if (fits === null || fits(slot)) count++
    else marks[slot] = 0
  }
  return { marks, count }
}

function memoize<V>(make: (segment: Segment) => V): (segment: Segment) => V {
  const cached = new Map<Segment, V>()
  return (segment) => {
    const known = cached.get(segment) ?? make(segment)
    cached.set(segment, known)
    return known
  }
}

function cacheEntry<V>(kept: Map<string, V>, key: string, value: V): void {
  const oldest = kept.keys().next()
  if (kept.size >= maxCached && !oldest.done) kept.delete(oldest.value)
  kept.set(key, value)
}

function sortedSlots(segment: Segment, slots: Uint16Array, keyAt: PreparedQuery['keyAt']): SlotOrder {
  const keys = new Map<number, SortKey>()
  for (const slot of slots) keys.set(slot, keyAt(segment, slot))
  const byId = (a: number, b: number) => segment.ids.compare(segment.ids, b * 16, b * 16 + 16, a * 16, a * 16 + 16)
  slots.sort((a, b) => {
    const [keyA = null, keyB = null] = [keys.get(a), keys.get(b)]
    if (keyA === keyB) return byId(a, b)
    if (keyA === null) return 1
    return keyB === null || keyA < keyB ? -1 : 1
  })
  return { slots, filled: slots.filter((slot) => keys.get(slot) !== null).length }
}

interface Walker {
  segment: Segment
  order: SlotOrder
  marks: Uint8Array
  at: number
  head: Place | null
}

function page(
  segments: readonly Segment[],
  prepared: PreparedQuery,
  { sortOrder, after, offset, limit }: PageQuery,
): Place[] {
  const compare = comparePlaces(sortOrder.order)
  const slotAt = ({ order }: Walker, at: number): number => {
    if (sortOrder.order === 'asc') return order.slots[at] ?? 0
    // Slots without a sort key stay last.
    const from = at < order.filled ? order.filled - 1 - at : order.slots.length - 1 - (at - order.filled)
    return order.slots[from] ?? 0
  }
  const placeAt = (walker: Walker, at: number): Place => {
    const slot = slotAt(walker, at)
    return { key: prepared.keyAt(walker.segment, slot), id: idText(walker.segment, slot) }
  }
  const settle = (walker: Walker) => {
    const { length } = walker.order.slots
    while (walker.at < length && walker.marks[slotAt(walker, walker.at)] !== 1) walker.at++
    walker.head = walker.at < length ? placeAt(walker, walker.at) : null
  }
  const walkers = segments.flatMap((segment): Walker[] => {
    const { marks, count } = prepared.marksOf(segment)
    if (count === 0) return []
    const isSorted = count <= maxDirectSlots || (isFew(count, segment) && !prepared.hasOrder(segment))
    const order = isSorted ? sortedSlots(segment, markedSlots(marks, count), prepared.keyAt) : prepared.orderOf(segment)
    const walker = { segment, order, marks, at: 0, head: null }
    if (after !== null) walker.at = firstWhere(0, order.slots.length, (at) => compare(placeAt(walker, at), after) > 0)
    settle(walker)
    return [walker]
  })
  const places: Place[] = []
  for (let skip = offset; places.length < limit; ) {
    let best: Walker | null = null
    for (const walker of walkers) {
      if (walker.head === null) continue
      if (best?.head == null || compare(walker.head, best.head) < 0) best = walker
    }
    if (best?.head == null) break
    if (skip > 0) skip--
    else places.push(best.head)
    best.at++
    settle(best)
  }
  return places
}
