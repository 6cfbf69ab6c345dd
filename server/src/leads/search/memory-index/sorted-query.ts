import { setImmediate } from 'node:timers/promises'
import type { Found, Wanted } from '../list-filter.ts'
import { conditionsKey, testOf } from '../sorted/conditions.ts'
import { comparePlaces, type Place, type PlaceKey, placeKeyOf } from '../sorted/order.ts'
import { narrow, narrowingOf } from './filter-counts.ts'
import { namesOf, type SlotReader, searchedValues, slotReader } from './lead-values.ts'
import type { MemoryIndex } from './memory-index.ts'
import { markedSlots } from './query.ts'
import { idText, type Marks, type Segment, type SlotOrder } from './segment.ts'

/** Up to this many slots are sorted per query instead of caching an order of the whole segment. */
const isFew = (count: number, segment: Segment): boolean => count <= Math.min(512, segment.count / 2)
// For this few slots, reading their sort keys is faster than walking a cached order.
const veryFew = 16
// If a search matches at most this share of a segment, conditions are tested on the matches only.
const searchedShare = 1 / 16
const maxKept = 4

/**
 * Returns a page of a list in any order. Prepares and caches the orders and marks of one segment at a time, so that
 * other work is not blocked; then builds the page synchronously, so that it is consistent. Search terms are looked up
 * in the index of texts; without one, each lead is read.
 */
export async function answerArranged(
  index: MemoryIndex,
  query: Wanted,
  texts: MemoryIndex | null = null,
): Promise<Found> {
  const ownKey = `search ${++searches}`
  try {
    let look = lookAt(index, texts, query, ownKey)
    let isReady = true
    for (const segment of [...index.segments]) {
      if (look.isReady(segment)) continue
      look.makeReady(segment)
      isReady = false
      await setImmediate()
    }
    if (!isReady) look = lookAt(index, texts, query, ownKey)
    const segments = [...index.segments, index.tail]
    const total = segments.reduce((sum, segment) => sum + look.marksOf(segment).count, 0)
    return { places: page(segments, look, query), total: query.needsTotal ? total : null }
  } finally {
    // Search results are not cached.
    for (const segment of index.segments) segment.marks.delete(ownKey)
  }
}

let searches = 0

type Look = ReturnType<typeof lookAt>

function lookAt(index: MemoryIndex, texts: MemoryIndex | null, query: Wanted, ownKey: string) {
  const { arrangement } = query
  const names = namesOf(index.dictionaries)
  const reads = new Map<Segment, SlotReader>()
  const readerOf = (segment: Segment): SlotReader => {
    const reader = reads.get(segment) ?? slotReader(segment, names)
    reads.set(segment, reader)
    return reader
  }
  const keyOf = placeKeyOf(arrangement)
  const orderKey = JSON.stringify([arrangement.by, arrangement.language, arrangement.choices])
  const keyAt = (segment: Segment, slot: number): PlaceKey => keyOf(readerOf(segment).at(slot))
  const { areMarked, marksOf } = markingOf(index, texts, query, readerOf, ownKey)
  const hasOrder = (segment: Segment): boolean => segment.orders.has(orderKey)
  const orderOf = (segment: Segment): SlotOrder => {
    const known = segment.orders.get(orderKey)
    if (known !== undefined) return known
    const order = sortedSlots(segment, everySlot(segment), keyAt)
    if (segment.index !== null) keep(segment.orders, orderKey, order)
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
function markingOf(
  index: MemoryIndex,
  texts: MemoryIndex | null,
  { filter, conditions, term }: Wanted,
  readerOf: (segment: Segment) => SlotReader,
  ownKey: string,
) {
  const narrowing = narrowingOf(index.dictionaries, filter)
  const test = testOf(conditions)
  const isOpen = conditions.list.length === 0
  const listKey = conditionsKey({ match: conditions.match, list: conditions.list }) + narrowing.key
  const read = (segment: Segment, key: string, fits: (lead: SlotReader) => boolean, isOpen: boolean): Marks => {
    const known = segment.marks.get(key)
    if (known !== undefined) return known
    const made = markedOf(narrow(segment, narrowing), isOpen ? null : (slot) => fits(readerOf(segment).at(slot)))
    if (segment.index === null) return made
    if (key === ownKey) segment.marks.set(key, made)
    else keep(segment.marks, key, made)
    return made
  }
  const unsearched = (segment: Segment): Marks => read(segment, listKey, test, isOpen)
  if (term === null) return { areMarked: (segment: Segment) => segment.marks.has(listKey), marksOf: once(unsearched) }
  if (texts === null) {
    const marksOf = (segment: Segment) => read(segment, ownKey, (lead) => test(lead) && lead.matches(term), false)
    return { areMarked: (segment: Segment) => segment.marks.has(ownKey), marksOf: once(marksOf) }
  }
  const searched = searchedValues(index, texts, { filter, term })
  const isPart = (segment: Segment) => (searched.get(segment)?.count ?? 0) <= segment.count * searchedShare
  return {
    areMarked: (segment: Segment) => isOpen || isPart(segment) || segment.marks.has(listKey),
    marksOf: once((segment: Segment): Marks => {
      const { marks, count } = searched.get(segment) ?? nothing
      if (isOpen || count === 0) return { marks, count }
      if (isPart(segment)) return markedOf(marks, (slot) => test(readerOf(segment).at(slot)))
      const others = unsearched(segment)
      return markedOf(marks, (slot) => others.marks[slot] === 1)
    }),
  }
}

const nothing: Marks = { marks: new Uint8Array(0), count: 0 }

/** Keeps the marks of slots that pass the test. */
function markedOf(marks: Uint8Array, fits: ((slot: number) => boolean) | null): Marks {
  let count = 0
  for (let slot = 0; slot < marks.length; slot++) {
    if (marks[slot] === 0) continue
    if (fits === null || fits(slot)) count++
    else marks[slot] = 0
  }
  return { marks, count }
}

function once<V>(make: (segment: Segment) => V): (segment: Segment) => V {
  const made = new Map<Segment, V>()
  return (segment) => {
    const known = made.get(segment) ?? make(segment)
    made.set(segment, known)
    return known
  }
}

function keep<V>(kept: Map<string, V>, key: string, value: V): void {
  const oldest = kept.keys().next()
  if (kept.size >= maxKept && !oldest.done) kept.delete(oldest.value)
  kept.set(key, value)
}

const everySlot = (segment: Segment): Uint16Array => Uint16Array.from({ length: segment.count }, (_, slot) => slot)

function sortedSlots(segment: Segment, slots: Uint16Array, keyAt: Look['keyAt']): SlotOrder {
  const keys = new Map<number, PlaceKey>()
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

function page(segments: readonly Segment[], look: Look, { arrangement, after, offset, limit }: Wanted): Place[] {
  const compare = comparePlaces(arrangement.order)
  const slotAt = ({ order }: Walker, at: number): number => {
    if (arrangement.order === 'asc') return order.slots[at] ?? 0
    // Slots without a sort key stay last.
    const from = at < order.filled ? order.filled - 1 - at : order.slots.length - 1 - (at - order.filled)
    return order.slots[from] ?? 0
  }
  const placeAt = (walker: Walker, at: number): Place => {
    const slot = slotAt(walker, at)
    return { key: look.keyAt(walker.segment, slot), id: idText(walker.segment, slot) }
  }
  const settle = (walker: Walker) => {
    const { length } = walker.order.slots
    while (walker.at < length && walker.marks[slotAt(walker, walker.at)] !== 1) walker.at++
    walker.head = walker.at < length ? placeAt(walker, walker.at) : null
  }
  const walkers = segments.flatMap((segment): Walker[] => {
    const { marks, count } = look.marksOf(segment)
    if (count === 0) return []
    const isSorted = count <= veryFew || (isFew(count, segment) && !look.hasOrder(segment))
    const order = isSorted ? sortedSlots(segment, markedSlots(marks, count), look.keyAt) : look.orderOf(segment)
    const walker = { segment, order, marks, at: 0, head: null }
    if (after !== null) walker.at = firstBehind(order.slots.length, (at) => compare(placeAt(walker, at), after) > 0)
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

/** Returns the first index for which `isBehind` is true. */
function firstBehind(length: number, isBehind: (at: number) => boolean): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBehind(middle)) high = middle
    else low = middle + 1
  }
  return low
}
