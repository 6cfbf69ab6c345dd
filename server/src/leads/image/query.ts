import type { LeadFilter } from '../list-filter.ts'
import type { SearchTerm } from '../search-lines.ts'
import { minBlockSlots } from './blocks.ts'
import { type Pattern, patternsOf } from './lines.ts'
import { countPassing, type Dictionaries, type Narrowing, narrow, narrowingOf, passes } from './narrow.ts'
import { type Accepts, type Found, mergePage, type PageSlice, type Place } from './page.ts'
import { idText, type Segment } from './segment.ts'
import { candidateShare, holds, type Selection, scanText } from './text-scan.ts'

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

/** Testing a slot by itself costs so many times what it costs to scan past it. */
const testCost = 8
/** Tests that cost next to nothing. */
const minTests = 200

export function answerQuery(segments: readonly Segment[], dictionaries: Dictionaries, query: ImageQuery): ImageAnswer {
  const narrowing = narrowingOf(dictionaries, query.filter)
  const patterns = query.term === null ? [] : patternsOf(query.term)
  const isCounted = query.needsTotal && patterns.length > 0
  const walked = isCounted ? null : walk(segments, narrowing, patterns, query)
  if (walked !== null) {
    const total = query.needsTotal ? countAll(segments, narrowing) : null
    return { places: placesOf(walked, query), total }
  }
  const selected = segments.map((segment) => ({ segment, ...select(segment, narrowing, patterns) }))
  const found = mergePage(
    selected.flatMap(({ segment, marks }) => (marks === null ? [] : [{ segment, accepts: isIn(marks) }])),
    query,
  )
  const total = selected.reduce((sum, { count }) => sum + count, 0)
  return { places: placesOf(found ?? [], query), total: query.needsTotal ? total : null }
}

function countAll(segments: readonly Segment[], narrowing: Narrowing): number {
  return segments.reduce((sum, segment) => sum + countPassing(segment, narrowing), 0)
}

function select(segment: Segment, narrowing: Narrowing, patterns: readonly Pattern[]): Selection {
  if (patterns.length > 0) return scanText(segment, patterns, (slot) => passes(segment, slot, narrowing))
  return { marks: narrow(segment, narrowing), count: countPassing(segment, narrowing) }
}

const isIn =
  (marks: Uint8Array): Accepts =>
  (slot) =>
    marks[slot] === 1

/**
 * Fills the page by testing slot after slot, which is all that it takes when many leads match. Null when it is cheaper
 * to look for all of them: of a rare term the index knows where it is.
 */
function walk(
  segments: readonly Segment[],
  narrowing: Narrowing,
  patterns: readonly Pattern[],
  slice: PageSlice,
): Found[] | null {
  const slots = segments.reduce((sum, { count }) => sum + count, 0)
  const share = patterns.length === 0 ? 1 : candidateShare(segments, patterns)
  const perSlot = 1 - (1 - share) ** (1 / minBlockSlots)
  const maxTests = Math.max((share * slots) / testCost, minTests)
  if (slice.offset + slice.limit > perSlot * maxTests) return null
  let testsLeft = Math.ceil(maxTests)
  const accepts =
    (segment: Segment): Accepts =>
    (slot) => {
      if (testsLeft-- === 0) return null
      return passes(segment, slot, narrowing) && (patterns.length === 0 || holds(segment, slot, patterns))
    }
  return mergePage(
    segments.map((segment) => ({ segment, accepts: accepts(segment) })),
    slice,
  )
}

function placesOf(found: readonly Found[], { sort }: PageSlice): Place[] {
  return found.map(({ segment, slot }) => {
    const times = sort.by === 'createdAt' ? segment.created : segment.updated
    return { id: idText(segment, slot), time: times[slot] ?? 0 }
  })
}
