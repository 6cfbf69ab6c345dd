import { blockSlots, candidateBlocks } from './blocks.ts'
import { type Pattern, phoneMark } from './lines.ts'
import type { Segment } from './segment.ts'

/** Which of the slots in `within` hold one of the patterns, a byte each. */
export function scanText(segment: Segment, patterns: readonly Pattern[], within: Uint8Array): Uint8Array {
  const marks = new Uint8Array(segment.count)
  for (const pattern of patterns) {
    for (const [first, end] of rangesToScan(segment, pattern.bytes)) {
      scanSlots(segment, pattern, first, end, within, marks)
    }
  }
  return marks
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
      const first = (n * 32 + 31 - Math.clz32(bits & -bits)) * blockSlots
      const end = Math.min(first + blockSlots, count)
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
  { text, starts }: Segment,
  pattern: Pattern,
  first: number,
  end: number,
  within: Uint8Array,
  marks: Uint8Array,
): void {
  const offset = starts[first] ?? 0
  const piece = text.subarray(offset, starts[end])
  let at = 0
  let slot = first
  for (;;) {
    at = findFrom(piece, pattern, at)
    if (at < 0) return
    slot = slotOf(starts, offset + at, slot, end)
    marks[slot] = within[slot] ?? 0
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
