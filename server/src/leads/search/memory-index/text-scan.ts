import { type CompiledFilter, countPassing, markPassing, passes } from './filter-counts.ts'
import { hiddenMark, type Pattern, phoneMark } from './indexed-text.ts'
import type { Segment } from './segment.ts'
import { blockSlots, candidateBlocks, candidateSlots } from './trigrams.ts'

/** Selected slots, one byte each; `marks` is null if there are none. */
export interface Selection {
  marks: Uint8Array | null
  count: number
}

/** Candidates of a pattern in a segment: single slots, or ranges of slots as first and end (exclusive). */
type Candidates =
  | { pattern: Pattern; slots: Uint16Array; isExact: boolean }
  | { pattern: Pattern; slots: null; runs: [first: number, end: number][] }

/** Candidates of several patterns, of which a match contains at least one. */
export interface Lookup {
  segment: Segment
  candidates: Candidates[]
}

// Cost of testing one slot, relative to scanning past it.
const testCost = 4

export function lookUp(segment: Segment, patterns: readonly Pattern[]): Lookup {
  return { segment, candidates: patterns.map((pattern) => findCandidates(segment, pattern)) }
}

function findCandidates({ index, count }: Segment, pattern: Pattern): Candidates {
  if (index === null) return { pattern, slots: null, runs: [[0, count]] }
  const { bytes, within } = pattern
  const blocks = candidateBlocks(index.blocks, bytes)
  const listed = candidateSlots(index.postings, bytes)
  if (listed?.isExact && within === 'all') return { pattern, ...listed }
  if (listed !== null && listed.slots.length <= count / testCost) {
    return { pattern, slots: blocks === null ? listed.slots : inBlocks(listed.slots, blocks), isExact: false }
  }
  return { pattern, slots: null, runs: blocks === null ? [[0, count]] : runsOf(blocks, count) }
}

function inBlocks(slots: Uint16Array, blocks: Uint32Array): Uint16Array {
  return slots.filter((slot) => {
    const block = Math.floor(slot / blockSlots)
    return (((blocks[block >>> 5] ?? 0) >>> (block & 31)) & 1) === 1
  })
}

/** Estimates the maximum share of matching slots, and how many single tests cost as much as finding all matches. */
export function estimateCost({ segment: { count }, candidates }: Lookup): { perSlot: number; tests: number } {
  if (candidates.length === 0) return { perSlot: 1, tests: count / testCost }
  let [perSlot, tests] = [0, 0]
  for (const where of candidates) {
    const share = slotsIn(where) / Math.max(count, 1)
    perSlot += where.slots === null ? perSlotOf(share) : share
    tests += where.slots === null ? slotsIn(where) / testCost : slotsIn(where)
  }
  return { perSlot: Math.min(1, perSlot), tests }
}

// The bitmap shows how many blocks have a match, but not how many matches a block has.
const perSlotOf = (shareOfBlocks: number): number => 1 - (1 - shareOfBlocks) ** (1 / blockSlots)

function slotsIn(where: Candidates): number {
  return where.slots === null ? where.runs.reduce((sum, [first, end]) => sum + end - first, 0) : where.slots.length
}

/** Selects the slots that match and pass. */
export function scanText({ segment, candidates }: Lookup, compiledFilter: CompiledFilter): Selection {
  const found: Selection = { marks: null, count: 0 }
  const passing = countPassing(segment, compiledFilter)
  for (const where of candidates) {
    if (where.slots !== null) testSlots(segment, where, compiledFilter, found)
    else if (passing * testCost < slotsIn(where))
      testPassing(segment, where, markPassing(segment, compiledFilter), found)
    else for (const run of where.runs) scanSlots(segment, where.pattern, run, compiledFilter, found)
  }
  return found
}

function testSlots(
  segment: Segment,
  { pattern, slots, isExact }: Candidates & { slots: Uint16Array },
  compiledFilter: CompiledFilter,
  found: Selection,
): void {
  for (const slot of slots) {
    if (passes(segment, slot, compiledFilter) && (isExact || containsPattern(segment, slot, pattern)))
      selectSlot(segment, slot, found)
  }
}

/** Tests each passing slot by itself, for few passing slots. */
function testPassing(
  segment: Segment,
  { pattern, runs }: Candidates & { slots: null },
  passing: Uint8Array,
  found: Selection,
): void {
  for (const [first, end] of runs) {
    for (let slot = first; slot < end; slot++) {
      if (passing[slot] === 1 && containsPattern(segment, slot, pattern)) selectSlot(segment, slot, found)
    }
  }
}

function selectSlot({ count }: Segment, slot: number, found: Selection): void {
  found.marks ??= new Uint8Array(count)
  if (found.marks[slot] === 1) return
  found.marks[slot] = 1
  found.count++
}

/** Returns true if the slot contains the pattern. For such short texts a loop is faster than a native search. */
export function containsPattern({ text, starts }: Segment, slot: number, { bytes, skips, within }: Pattern): boolean {
  const end = starts[slot + 1] ?? 0
  const length = bytes.length - 1
  const last = bytes[length]
  for (let at = (starts[slot] ?? 0) + length; at < end; ) {
    const byte = text[at] ?? 0
    if (byte === last) {
      let same = 1
      while (same <= length && text[at - same] === bytes[length - same]) same++
      if (same > length && (within === 'all' || isWithin(text, at - length, within))) return true
    }
    at += skips[byte] ?? 1
  }
  return false
}

function runsOf(blocks: Uint32Array, count: number): [number, number][] {
  const runs: [number, number][] = []
  let last: [number, number] | undefined
  for (const [n, word] of blocks.entries()) {
    for (let bits = word; bits !== 0; bits &= bits - 1) {
      const first = (n * 32 + 31 - Math.clz32(bits & -bits)) * blockSlots
      // Bits after the last block stay set if no trigram has cleared them.
      if (first >= count) break
      const end = Math.min(first + blockSlots, count)
      if (last?.[1] === first) last[1] = end
      else {
        last = [first, end]
        runs.push(last)
      }
    }
  }
  return runs
}

function scanSlots(
  segment: Segment,
  pattern: Pattern,
  [first, end]: [number, number],
  compiledFilter: CompiledFilter,
  found: Selection,
): void {
  const { text, starts } = segment
  const offset = starts[first] ?? 0
  const piece = text.subarray(offset, starts[end])
  let at = 0
  let slot = first
  for (;;) {
    at = findFrom(piece, pattern, at)
    if (at < 0) return
    slot = slotOf(starts, offset + at, slot, end)
    if (passes(segment, slot, compiledFilter)) selectSlot(segment, slot, found)
    // One match per lead is enough; continue with the next lead.
    at = (starts[slot + 1] ?? 0) - offset
    slot++
    if (slot >= end) return
  }
}

function findFrom(text: Buffer, { bytes, within }: Pattern, from: number): number {
  let at = text.indexOf(bytes, from)
  while (within !== 'all' && at >= 0 && !isWithin(text, at, within)) at = text.indexOf(bytes, at + 1)
  return at
}

/** Returns true if the position is in a line of this kind, according to the line's mark. */
function isWithin(text: Buffer, at: number, within: 'phone' | 'shown'): boolean {
  let place = at
  while ((text[place] ?? 0) >= 32) place--
  return within === 'phone' ? text[place] === phoneMark : text[place - 1] !== hiddenMark
}

/**
 * Returns the slot in [low, high) with this offset. Searches from `low`: matches of common terms are close together.
 */
function slotOf(starts: Uint32Array, offset: number, low: number, high: number): number {
  let step = 1
  let [first, end] = [low, low + 1]
  while (end < high && (starts[end] ?? 0) <= offset) {
    first = end
    end = Math.min(end + step, high)
    step *= 2
  }
  while (end - first > 1) {
    const middle = (first + end) >>> 1
    if ((starts[middle] ?? 0) <= offset) first = middle
    else end = middle
  }
  return first
}
