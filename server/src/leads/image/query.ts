import type { LeadFilter } from '../list-filter.ts'
import type { SearchTerm } from '../search-lines.ts'
import { type Pattern, patternsOf } from './lines.ts'
import { countPassing, type Dictionaries, type Narrowing, narrow, narrowingOf, passes } from './narrow.ts'
import { type Accepts, type Found, mergePage, type PageSlice, type Part, type Place } from './page.ts'
import { idText, type Segment } from './segment.ts'
import { estimate, holds, type Lookup, lookUp, type Selection, scanText } from './text-scan.ts'

export interface ImageQuery extends PageSlice {
  filter: LeadFilter
  term: SearchTerm | null
  /** Without it the answer's total is null, and only as much is looked at as the page takes. */
  needsTotal: boolean
}

export interface ImageAnswer {
  places: Place[]
  total: number | null
}

/** Tests that cost next to nothing. */
const minTests = 200

export function answerQuery(segments: readonly Segment[], dictionaries: Dictionaries, query: ImageQuery): ImageAnswer {
  const narrowing = narrowingOf(dictionaries, query.filter)
  const patterns = query.term === null ? [] : patternsOf(query.term)
  const lookups = segments.map((segment) => lookUp(segment, patterns))
  const isCounted = query.needsTotal && patterns.length > 0
  const walked = isCounted ? null : walk(lookups, narrowing, patterns, query)
  if (walked !== null) {
    const total = query.needsTotal ? countAll(segments, narrowing) : null
    return { places: placesOf(walked, query), total }
  }
  const selected = lookups.map((lookup) => ({ segment: lookup.segment, ...select(lookup, narrowing) }))
  const found = mergePage(
    selected.flatMap(({ segment, marks, count }) => (marks === null ? [] : [partOf(segment, marks, count)])),
    query,
  )
  const total = selected.reduce((sum, { count }) => sum + count, 0)
  return { places: placesOf(found ?? [], query), total: query.needsTotal ? total : null }
}

function countAll(segments: readonly Segment[], narrowing: Narrowing): number {
  return segments.reduce((sum, segment) => sum + countPassing(segment, narrowing), 0)
}

function select(lookup: Lookup, narrowing: Narrowing): Selection {
  const { segment, wheres } = lookup
  if (wheres.length > 0) return scanText(lookup, narrowing)
  return { marks: narrow(segment, narrowing), count: countPassing(segment, narrowing) }
}

/** So few slots are sorted rather than met on a walk through all of them. */
const fewSlots = 512

function partOf(segment: Segment, marks: Uint8Array, count: number): Part {
  const isIn = (slot: number) => marks[slot] === 1
  return { segment, accepts: isIn, few: count <= fewSlots ? markedSlots(marks, count) : null }
}

function markedSlots(marks: Uint8Array, count: number): Uint16Array {
  let last = -1
  return Uint16Array.from({ length: count }, () => {
    last = marks.indexOf(1, last + 1)
    return last
  })
}

/**
 * Fills the page by testing slot after slot, which is all that it takes when many leads match. Null when it is cheaper
 * to look for all of them: of a rare term the index knows where it is.
 */
function walk(
  lookups: readonly Lookup[],
  narrowing: Narrowing,
  patterns: readonly Pattern[],
  slice: PageSlice,
): Found[] | null {
  const slots = lookups.reduce((sum, { segment }) => sum + segment.count, 0)
  const { perSlot, tests } = patterns.length === 0 ? { perSlot: 1, tests: slots } : estimate(lookups)
  const maxTests = Math.max(tests, minTests)
  if (slice.offset + slice.limit > perSlot * maxTests) return null
  let testsLeft = Math.ceil(maxTests)
  const accepts =
    (segment: Segment): Accepts =>
    (slot) => {
      if (testsLeft-- === 0) return null
      const matches = () => patterns.length === 0 || patterns.some((pattern) => holds(segment, slot, pattern))
      return passes(segment, slot, narrowing) && matches()
    }
  return mergePage(
    lookups.map(({ segment }) => ({ segment, accepts: accepts(segment), few: null })),
    slice,
  )
}

function placesOf(found: readonly Found[], { sort }: PageSlice): Place[] {
  return found.map(({ segment, slot }) => {
    const times = sort.by === 'createdAt' ? segment.created : segment.updated
    return { id: idText(segment, slot), time: times[slot] ?? 0 }
  })
}
