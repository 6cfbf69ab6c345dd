import { candidateBlocks, minBlockSlots } from './blocks.ts'
import { type Pattern, phoneMark } from './lines.ts'
import type { Segment } from './segment.ts'

/** Slots that were found, a byte each; null stands for none. */
export interface Selection {
  marks: Uint8Array | null
  count: number
}

/** Which slots hold one of the patterns and are accepted. */
export function scanText(
  segment: Segment,
  patterns: readonly Pattern[],
  accepts: (slot: number) => boolean,
): Selection {
  const found: Selection = { marks: null, count: 0 }
  for (const pattern of patterns) {
    for (const [first, end] of rangesToScan(segment, pattern.bytes)) {
      scanSlots(segment, pattern, first, end, accepts, found)
    }
  }
  return found
}

/** The share of blocks that may hold one of the patterns, as far as the indexes can tell. */
export function candidateShare(segments: readonly Segment[], patterns: readonly Pattern[]): number {
  let [candidates, slots] = [0, 0]
  for (const segment of segments) {
    slots += segment.count
    const share = (pattern: Pattern) =>
      rangesToScan(segment, pattern.bytes).reduce((sum, [first, end]) => sum + end - first, 0)
    candidates += Math.min(
      segment.count,
      patterns.map(share).reduce((a, b) => a + b, 0),
    )
  }
  return slots === 0 ? 0 : candidates / slots
}

/** Whether one slot holds one of the patterns. */
export function holds(segment: Segment, slot: number, patterns: readonly Pattern[]): boolean {
  const text = segment.text.subarray(segment.starts[slot], segment.starts[slot + 1])
  return patterns.some((pattern) => findFrom(text, pattern, 0) >= 0)
}

/** Runs of slots that may hold the bytes, as first and behind last. */
function rangesToScan(segment: Segment, bytes: Buffer): [number, number][] {
  const { index, count } = segment
  const blocks = index === null ? null : candidateBlocks(index, bytes)
  if (blocks === null) return [[0, count]]
  const ranges: [number, number][] = []
  let last: [number, number] | undefined
  for (const [n, word] of blocks.entries()) {
    for (let bits = word; bits !== 0; bits &= bits - 1) {
      const first = (n * 32 + 31 - Math.clz32(bits & -bits)) * minBlockSlots
      const end = Math.min(first + minBlockSlots, count)
      if (last?.[1] === first) last[1] = end
      else {
        last = [first, end]
        ranges.push(last)
      }
    }
  }
  return ranges
}

function scanSlots(
  { text, starts, count }: Segment,
  pattern: Pattern,
  first: number,
  end: number,
  accepts: (slot: number) => boolean,
  found: Selection,
): void {
  const offset = starts[first] ?? 0
  const piece = text.subarray(offset, starts[end])
  let at = 0
  let slot = first
  for (;;) {
    at = findFrom(piece, pattern, at)
    if (at < 0) return
    slot = slotOf(starts, offset + at, slot, end)
    if (found.marks?.[slot] !== 1 && accepts(slot)) {
      found.marks ??= new Uint8Array(count)
      found.marks[slot] = 1
      found.count++
    }
    // Once is enough: on to the next lead.
    at = (starts[slot + 1] ?? 0) - offset
    slot++
    if (slot >= end) return
  }
}

function findFrom(text: Buffer, { bytes, inPhone }: Pattern, from: number): number {
  let at = text.indexOf(bytes, from)
  while (inPhone && at >= 0 && lineMark(text, at) !== phoneMark) at = text.indexOf(bytes, at + 1)
  return at
}

/** The mark of the line that this place is in. */
function lineMark(text: Buffer, at: number): number {
  let place = at
  while ((text[place] ?? 0) >= 32) place--
  return text[place] ?? 0
}

/** The slot from `low` to before `high` whose text has this offset. Matches of common terms are near each other. */
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
