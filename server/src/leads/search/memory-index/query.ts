import type { SearchTerm } from '../../lead/search-lines.ts'
import type { LeadFilter } from '../list-filter.ts'
import { countPassing, type Dictionaries, type Narrowing, narrow, narrowingOf, passes } from './filter-counts.ts'
import { patternsOf } from './indexed-text.ts'
import { type Found, mergePage, type PageSlice, type Shown, type SortKey } from './page.ts'
import { idText, type Segment } from './segment.ts'
import { estimate, holds, type Lookup, lookUp, type Selection, scanText } from './text-scan.ts'

export interface IndexQuery extends PageSlice {
  filter: LeadFilter
  term: SearchTerm | null
  /** Without it the answer's total is null, and only as much is looked at as the page takes. */
  needsTotal: boolean
}

export interface IndexAnswer {
  places: SortKey[]
  total: number | null
}

export function answerQuery(segments: readonly Segment[], dictionaries: Dictionaries, query: IndexQuery): IndexAnswer {
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

/** Every slot that matches and passes. */
function select(lookup: Lookup, narrowing: Narrowing): Selection {
  const { segment, wheres } = lookup
  if (wheres.length > 0) return scanText(lookup, narrowing)
  return { marks: narrow(segment, narrowing), count: countPassing(segment, narrowing) }
}

/** So few slots are sorted rather than met on a walk through all of them. */
const fewSlots = 512

function shownOf({ marks, count }: Selection): Shown {
  if (marks === null) return { accepts: () => false, few: new Uint16Array(0) }
  return { accepts: (slot) => marks[slot] === 1, few: count <= fewSlots ? markedSlots(marks, count) : null }
}

function markedSlots(marks: Uint8Array, count: number): Uint16Array {
  let last = -1
  return Uint16Array.from({ length: count }, () => {
    last = marks.indexOf(1, last + 1)
    return last
  })
}

/**
 * What a page needs of a segment: slot after slot is tested, which is all that it takes when many leads match. Where
 * that is dearer than to look for all of them, or turns out to be, all of them are looked for.
 */
function show(lookup: Lookup, narrowing: Narrowing, wanted: number): Shown {
  const { segment, wheres } = lookup
  const { perSlot, tests } = estimate(lookup)
  // The estimate is a bound: reckon with half of it.
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

function placesOf(found: readonly Found[], { sort }: PageSlice): SortKey[] {
  return found.map(({ segment, slot }) => {
    const times = sort.by === 'createdAt' ? segment.created : segment.updated
    return { id: idText(segment, slot), time: times[slot] ?? 0 }
  })
}
