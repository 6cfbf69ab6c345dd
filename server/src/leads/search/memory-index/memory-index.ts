import { type CodedColumn, codedColumns, type Dictionaries } from './filter-counts.ts'
import type { IndexContents, Segment } from './segment.ts'
import {
  append,
  bytesOf,
  compareId,
  copySlot,
  findSlot,
  freeze,
  idBytes,
  isFull,
  markDead,
  maxSlots,
  newSegment,
} from './segment.ts'

/** Live leads of a workspace: frozen segments, and a tail for changes. */
export interface MemoryIndex {
  segments: Segment[]
  tail: Segment
  tailSlots: Map<string, number>
  dictionaries: Dictionaries
}

/** Lead to add: times in milliseconds, searchable values in one text. */
export interface IndexedLead extends Record<CodedColumn, string | null> {
  /** Only in an index of values. */
  estimated?: number | null
  actual?: number | null
  id: string
  created: number
  updated: number
  text: string
}

export interface IndexShape {
  /** Capacity of the tail. It is scanned without an index, so it should be small. */
  tailSlots: number
  /** Maximum number of leads in a frozen segment. */
  segmentSlots: number
  /** Contents of the text: searchable text, values to sort and filter by, or nothing. */
  contents?: IndexContents
}

export const defaultShape: IndexShape = { tailSlots: 1024, segmentSlots: maxSlots }

export function newMemoryIndex(shape: IndexShape): MemoryIndex {
  return {
    segments: [],
    tail: newSegment(shape.tailSlots, shape.contents),
    tailSlots: new Map(),
    dictionaries: Object.fromEntries(
      codedColumns.map((column) => [column, new Map<string, number>()]),
    ) as unknown as Dictionaries,
  }
}

/** Adds or replaces a lead. */
export function putLead(index: MemoryIndex, shape: IndexShape, lead: IndexedLead): void {
  removeLead(index, lead)
  if (isFull(index.tail)) sealTail(index, shape)
  index.tailSlots.set(lead.id, appendLead(index, index.tail, lead))
}

export function appendLead({ dictionaries }: MemoryIndex, segment: Segment, lead: IndexedLead): number {
  const { id, created, updated, estimated = null, actual = null, text } = lead
  const code = (column: CodedColumn) => codeOf(dictionaries[column], lead[column], segment[column])
  const codes = Object.fromEntries(codedColumns.map((column) => [column, code(column)])) as Record<CodedColumn, number>
  return append(segment, { id, created, updated, estimated, actual, ...codes }, text)
}

function codeOf(dictionary: Map<string, number>, value: string | null, column: Uint8Array | Uint16Array): number {
  if (value === null) return 0
  const known = dictionary.get(value)
  if (known !== undefined) return known
  const code = dictionary.size + 1
  if (code >= 2 ** (8 * column.BYTES_PER_ELEMENT)) throw new RangeError('Too many different values for an index')
  dictionary.set(value, code)
  return code
}

/** Removes a lead if present. Its creation time, which never changes, locates it. */
export function removeLead(index: MemoryIndex, { id, created }: { id: string; created: number }): void {
  if (removeFromTail(index, id)) return
  const bytes = idBytes(id)
  for (const segment of index.segments) {
    const found = findSlot(segment, bytes, created)
    if (found < 0) continue
    markDead(segment, found)
    return
  }
}

/** Removes an erased lead, whose creation time is unknown, by scanning all slots. */
export function removeErased(index: MemoryIndex, id: string): void {
  if (removeFromTail(index, id)) return
  const bytes = idBytes(id)
  for (const segment of index.segments) {
    for (let at = 0; at < segment.count; at++) {
      if (segment.alive[at] === 1 && compareId(segment, at, bytes) === 0) markDead(segment, at)
    }
  }
}

function removeFromTail({ tail, tailSlots }: MemoryIndex, id: string): boolean {
  const slot = tailSlots.get(id)
  if (slot !== undefined) markDead(tail, slot)
  return tailSlots.delete(id)
}

function sealTail(index: MemoryIndex, shape: IndexShape): void {
  if (index.tail.live > 0) index.segments.push(rewrite([index.tail], shape))
  index.tail = newSegment(shape.tailSlots, shape.contents)
  index.tailSlots.clear()
}

// More small segments of similar size than this are merged.
const maxSiblings = 6

/**
 * Merges small segments, or rewrites one that has lost a quarter of its leads. Does one step per call, so that queries
 * are not blocked; returns false if there was nothing to do.
 */
export function compact(index: MemoryIndex, shape: IndexShape): boolean {
  const fragmented = index.segments.find(({ live, count }) => count - live > count / 4)
  const group = fragmented === undefined ? smallSiblings(index.segments, shape) : [fragmented]
  if (group.length === 0) return false
  const kept = index.segments.filter((segment) => !group.includes(segment))
  index.segments = group.some(({ live }) => live > 0) ? [...kept, rewrite(group, shape)] : kept
  return true
}

function smallSiblings(segments: readonly Segment[], { tailSlots, segmentSlots }: IndexShape): Segment[] {
  for (let size = tailSlots * 2; size <= segmentSlots / 2; size *= maxSiblings) {
    const small = segments.filter(({ live }) => live <= size).sort((a, b) => a.live - b.live)
    if (small.length <= maxSiblings) continue
    let freeSlots = segmentSlots
    return small.filter(({ live }) => {
      freeSlots -= live
      return freeSlots >= 0
    })
  }
  return []
}

function rewrite(group: readonly Segment[], { contents }: IndexShape): Segment {
  const live = group.reduce((sum, segment) => sum + segment.live, 0)
  const merged = newSegment(live, contents)
  for (const segment of group) {
    for (let slot = 0; slot < segment.count; slot++) if (segment.alive[slot] === 1) copySlot(merged, segment, slot)
  }
  return freeze(merged)
}

export const countLeads = ({ segments, tail }: MemoryIndex): number =>
  segments.reduce((sum, { live }) => sum + live, tail.live)

export function memoryIndexBytes({ segments, tail }: MemoryIndex): number {
  return segments.reduce((sum, segment) => sum + bytesOf(segment), bytesOf(tail))
}
