import { type CodedColumn, codedColumns, type Dictionaries } from './filter-counts.ts'
import type { Held, Segment } from './segment.ts'
import {
  append,
  bytesOf,
  compareId,
  copySlot,
  findSlot,
  idBytes,
  isFull,
  kill,
  maxSlots,
  newSegment,
  seal,
} from './segment.ts'

/** The live leads of a workspace as lists see them. Sealed segments, and one in which changes gather. */
export interface MemoryIndex {
  segments: Segment[]
  tail: Segment
  tailSlots: Map<string, number>
  dictionaries: Dictionaries
}

/** A live lead as the index takes it: times in milliseconds, and what is searched in one text. */
export interface IndexedLead extends Record<CodedColumn, string | null> {
  /** Only of an index of values. */
  estimated?: number | null
  actual?: number | null
  id: string
  created: number
  updated: number
  text: string
}

export interface IndexShape {
  /** Changes that gather before they are sealed. Looked at one by one, so not many. */
  tailSlots: number
  /** Leads that a sealed segment holds at most. */
  segmentSlots: number
  /** What its text is: what is searched, the values that lists are sorted and narrowed by, or none. */
  holds?: Held
}

export const usualShape: IndexShape = { tailSlots: 1024, segmentSlots: maxSlots }

export function newMemoryIndex(shape: IndexShape): MemoryIndex {
  return {
    segments: [],
    tail: newSegment(shape.tailSlots, shape.holds),
    tailSlots: new Map(),
    dictionaries: Object.fromEntries(
      codedColumns.map((column) => [column, new Map<string, number>()]),
    ) as unknown as Dictionaries,
  }
}

/** Sets a lead as it is now. */
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

/** Forgets a lead; nothing happens when it is not there. When a lead was created never changes. */
export function removeLead(index: MemoryIndex, { id, created }: { id: string; created: number }): void {
  if (removeFromTail(index, id)) return
  const bytes = idBytes(id)
  for (const segment of index.segments) {
    const found = findSlot(segment, bytes, created)
    if (found < 0) continue
    kill(segment, found)
    return
  }
}

/** The same for a lead of which nothing is left to tell when it was created: every slot is looked at. */
export function removeErased(index: MemoryIndex, id: string): void {
  if (removeFromTail(index, id)) return
  const bytes = idBytes(id)
  for (const segment of index.segments) {
    for (let at = 0; at < segment.count; at++) {
      if (segment.alive[at] === 1 && compareId(segment, at, bytes) === 0) kill(segment, at)
    }
  }
}

function removeFromTail({ tail, tailSlots }: MemoryIndex, id: string): boolean {
  const slot = tailSlots.get(id)
  if (slot !== undefined) kill(tail, slot)
  return tailSlots.delete(id)
}

function sealTail(index: MemoryIndex, shape: IndexShape): void {
  if (index.tail.live > 0) index.segments.push(rewrite([index.tail], shape))
  index.tail = newSegment(shape.tailSlots, shape.holds)
  index.tailSlots.clear()
}

/** Small segments of about one size that may stand side by side before they become one. */
const maxSiblings = 6

/**
 * Merges some small segments, or rewrites one that has lost a quarter of its leads. One step at a time, so that
 * queries are not held up; false when there is nothing to do.
 */
export function compact(index: MemoryIndex, shape: IndexShape): boolean {
  const worn = index.segments.find(({ live, count }) => count - live > count / 4)
  const group = worn === undefined ? smallSiblings(index.segments, shape) : [worn]
  if (group.length === 0) return false
  const kept = index.segments.filter((segment) => !group.includes(segment))
  index.segments = group.some(({ live }) => live > 0) ? [...kept, rewrite(group, shape)] : kept
  return true
}

function smallSiblings(segments: readonly Segment[], { tailSlots, segmentSlots }: IndexShape): Segment[] {
  for (let size = tailSlots * 2; size <= segmentSlots / 2; size *= maxSiblings) {
    const small = segments.filter(({ live }) => live <= size).sort((a, b) => a.live - b.live)
    if (small.length <= maxSiblings) continue
    let room = segmentSlots
    return small.filter(({ live }) => {
      room -= live
      return room >= 0
    })
  }
  return []
}

function rewrite(group: readonly Segment[], { holds }: IndexShape): Segment {
  const merged = newSegment(
    group.reduce((sum, { live }) => sum + live, 0),
    holds,
  )
  for (const segment of group) {
    for (let slot = 0; slot < segment.count; slot++) if (segment.alive[slot] === 1) copySlot(merged, segment, slot)
  }
  return seal(merged)
}

export const countLeads = ({ segments, tail }: MemoryIndex): number =>
  segments.reduce((sum, { live }) => sum + live, tail.live)

export function memoryIndexBytes({ segments, tail }: MemoryIndex): number {
  return segments.reduce((sum, segment) => sum + bytesOf(segment), bytesOf(tail))
}
