import type { LeadFilter } from '../list-filter.ts'
import type { SearchTerm } from '../search-lines.ts'
import { type Pattern, patternsOf } from './lines.ts'
import { countMarks, type Dictionaries, isOpen, type Narrowing, narrow, narrowingOf, passes } from './narrow.ts'
import { type Accepts, type Found, mergePage, type PageSlice, type Place } from './page.ts'
import { idText, type Segment } from './segment.ts'
import { holds, scanText } from './text-scan.ts'

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

/** How many slots a walk tests one by one before it is cheaper to look at all of them. */
const maxTests = 12_000

export function answerQuery(segments: readonly Segment[], dictionaries: Dictionaries, query: ImageQuery): ImageAnswer {
  const narrowing = narrowingOf(dictionaries, query.filter)
  const patterns = query.term === null ? [] : patternsOf(query.term)
  const walked = query.needsTotal ? null : walk(segments, narrowing, patterns, query)
  if (walked !== null) return { places: placesOf(walked, query), total: null }

  const selected = segments.map((segment) => ({ segment, ...select(segment, narrowing, patterns) }))
  const parts = selected
    .filter(({ count }) => count > 0)
    .map(({ segment, marks }) => ({ segment, accepts: isIn(marks) }))
  const found = query.limit === 0 ? [] : mergePage(parts, query)
  const total = selected.reduce((sum, { count }) => sum + count, 0)
  return { places: placesOf(found ?? [], query), total: query.needsTotal ? total : null }
}

/** Which slots are shown, and how many they are. */
function select(
  segment: Segment,
  narrowing: Narrowing,
  patterns: readonly Pattern[],
): { marks: Uint8Array; count: number } {
  if (isOpen(narrowing) && patterns.length === 0) return { marks: segment.alive, count: segment.live }
  const within = isOpen(narrowing) ? segment.alive : narrow(segment, narrowing)
  const marks = patterns.length === 0 ? within : scanText(segment, patterns, within)
  return { marks, count: countMarks(marks) }
}

const isIn =
  (marks: Uint8Array): Accepts =>
  (slot) =>
    marks[slot] === 1

/** Fills the page by testing slot after slot, which is all that it takes when many leads match. */
function walk(
  segments: readonly Segment[],
  narrowing: Narrowing,
  patterns: readonly Pattern[],
  slice: PageSlice,
): Found[] | null {
  let testsLeft = maxTests
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
