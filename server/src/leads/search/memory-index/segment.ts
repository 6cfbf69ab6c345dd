import { type BlockBits, blockBits, type Postings, postingBytes, postingsOf } from './trigrams.ts'

/**
 * Contents of an index: texts to search, values to sort and filter by, or only plain columns for pages and totals
 * without encrypted values, which takes the least memory.
 */
export type IndexContents = 'text' | 'values' | 'columns'

/** Up to 65,536 leads in columns, in order of arrival. Times are milliseconds. After `freeze`, only `alive` changes. */
export interface Segment {
  contents: IndexContents
  /** Number of used slots. */
  count: number
  /** Number of live slots: those with the current version of their lead. */
  live: number
  alive: Uint8Array
  /** 16 bytes per slot. */
  ids: Buffer
  created: Float64Array
  updated: Float64Array
  /** Codes from the dictionaries of the index. */
  status: Uint16Array
  assignee: Uint16Array
  priority: Uint8Array
  source: Uint8Array
  adPlatform: Uint8Array
  /** Only in an index of values, otherwise empty; NaN if unknown. */
  estimated: Float64Array
  actual: Float64Array
  /** The text of slot n is from `starts[n]` to `starts[n + 1]`; empty in an index of columns only. */
  text: Buffer
  starts: Uint32Array
  /** Slots ordered by (created, id) and by (updated, id). */
  byCreated: Uint16Array
  byUpdated: Uint16Array
  /** Number of slots in the two orders; less than `count` while they are outdated. */
  ordered: number
  /** Only in a frozen segment. */
  index: { blocks: BlockBits; postings: Postings } | null
  /** Cached counts of slots that pass a filter, by filter key; cleared when a lead dies. */
  counts: Map<string, number>
  /** Only in an index of values: cached orders, and cached marks of live slots that pass. */
  orders: Map<string, SlotOrder>
  marks: Map<string, Marks>
}

/** Slots of a segment in sort order, those without a key last. */
export interface SlotOrder {
  slots: Uint16Array
  /** Number of slots with a key. */
  filled: number
}

export interface Marks {
  marks: Uint8Array
  count: number
}

type Column = (typeof columns)[number]

interface SlotFields extends Record<Exclude<Column, 'estimated' | 'actual'>, number> {
  id: string
  estimated?: number | null
  actual?: number | null
}

export const maxSlots = 65_536
// Bytes per slot, without its text and its share of the block index.
const slotBytes = 1 + 16 + 8 + 8 + 2 + 2 + 3 + 2 + 2
// Bytes per slot for the start of its text.
const startBytes = 4
const initialTextBytes = 96
// Maximum bytes per slot for cached orders and marks.
const maxCachedBytes = 4 * 2

// Additional bytes per slot in an index of values.
const valueBytes = 8 + 8

export function newSegment(capacity: number, contents: IndexContents = 'text'): Segment {
  const amounts = contents === 'values' ? capacity : 0
  const texts = contents === 'columns' ? 0 : capacity
  return {
    contents,
    count: 0,
    live: 0,
    alive: new Uint8Array(capacity),
    ids: Buffer.allocUnsafeSlow(capacity * 16),
    created: new Float64Array(capacity),
    updated: new Float64Array(capacity),
    status: new Uint16Array(capacity),
    assignee: new Uint16Array(capacity),
    priority: new Uint8Array(capacity),
    source: new Uint8Array(capacity),
    adPlatform: new Uint8Array(capacity),
    estimated: new Float64Array(amounts),
    actual: new Float64Array(amounts),
    text: Buffer.allocUnsafeSlow(texts * initialTextBytes),
    starts: new Uint32Array(texts + 1),
    byCreated: noSlots,
    byUpdated: noSlots,
    ordered: 0,
    index: null,
    counts: new Map(),
    orders: new Map(),
    marks: new Map(),
  }
}

export const isFull = (segment: Segment): boolean => segment.count === segment.alive.length

/** Appends a lead. The segment must not be full. */
export function append(segment: Segment, fields: SlotFields, text: string): number {
  const slot = segment.count
  const start = segment.starts[slot] ?? 0
  // UTF-8 needs at most three bytes per UTF-16 unit.
  growText(segment, start + text.length * 3)
  segment.starts[slot + 1] = start + segment.text.write(text, start)
  segment.ids.write(fields.id.replaceAll('-', ''), slot * 16, 'hex')
  segment.created[slot] = fields.created
  segment.updated[slot] = fields.updated
  segment.status[slot] = fields.status
  segment.assignee[slot] = fields.assignee
  segment.priority[slot] = fields.priority
  segment.source[slot] = fields.source
  segment.adPlatform[slot] = fields.adPlatform
  segment.estimated[slot] = fields.estimated ?? Number.NaN
  segment.actual[slot] = fields.actual ?? Number.NaN
  markUsed(segment, slot)
  return slot
}

/** Appends a lead from another segment. */
export function copySlot(into: Segment, from: Segment, slot: number): void {
  const target = into.count
  const start = into.starts[target] ?? 0
  const [first = 0, end = 0] = [from.starts[slot], from.starts[slot + 1]]
  growText(into, start + end - first)
  into.starts[target + 1] = start + from.text.copy(into.text, start, first, end)
  from.ids.copy(into.ids, target * 16, slot * 16, slot * 16 + 16)
  for (const column of columns) into[column][target] = from[column][slot] ?? 0
  markUsed(into, target)
}

const columns = [
  'created',
  'updated',
  'status',
  'assignee',
  'priority',
  'source',
  'adPlatform',
  'estimated',
  'actual',
] as const

function markUsed(segment: Segment, slot: number): void {
  segment.alive[slot] = 1
  segment.count++
  segment.live++
}

function growText(segment: Segment, bytes: number): void {
  if (bytes <= segment.text.length) return
  const larger = Buffer.allocUnsafeSlow(Math.ceil(bytes * 1.25))
  segment.text.copy(larger)
  segment.text = larger
}

export function markDead(segment: Segment, slot: number): void {
  segment.live -= segment.alive[slot] ?? 0
  segment.alive[slot] = 0
  segment.counts.clear()
  // A slot never changes its values, so only this slot is removed from the marks.
  for (const cached of segment.marks.values()) {
    cached.count -= cached.marks[slot] ?? 0
    cached.marks[slot] = 0
  }
}

/** Updates the two orders. */
export function updateOrders(segment: Segment): void {
  if (segment.ordered === segment.count) return
  segment.byCreated = sortedByTime(segment, segment.created)
  const byUpdated = sortedByTime(segment, segment.updated)
  // Leads never updated have the same order in both, which is then stored once.
  const isSame = byUpdated.every((slot, place) => slot === segment.byCreated[place])
  segment.byUpdated = isSame ? segment.byCreated : byUpdated
  segment.ordered = segment.count
}

function sortedByTime(segment: Segment, times: Float64Array): Uint16Array {
  return sortSlots(segment, allSlots(segment), times)
}

export const allSlots = ({ count }: Segment): Uint16Array => Uint16Array.from({ length: count }, (_, slot) => slot)

/** Sorts slots in place by time and id. */
export function sortSlots(segment: Segment, slots: Uint16Array, times: Float64Array): Uint16Array {
  const compare = (a: number, b: number) => (times[a] ?? 0) - (times[b] ?? 0) || compareIds(segment, a, segment, b)
  let isSorted = true
  for (let at = 1; at < slots.length && isSorted; at++) isSorted = compare(slots[at - 1] ?? 0, slots[at] ?? 0) < 0
  return isSorted ? slots : slots.sort(compare)
}

export function compareIds(a: Segment, slotA: number, b: Segment, slotB: number): number {
  return a.ids.compare(b.ids, slotB * 16, slotB * 16 + 16, slotA * 16, slotA * 16 + 16)
}

/** Returns a compact copy of the segment, sorted and indexed. */
export function freeze(segment: Segment): Segment {
  updateOrders(segment)
  const { contents, count, live, byCreated, byUpdated } = segment
  const text = segment.text.subarray(0, segment.starts[count] ?? 0)
  const starts = segment.starts.subarray(0, count + 1)
  const isSearched = contents === 'text'
  const blocks = isSearched ? blockBits(text, starts, count) : { bits: noNumbers, words: 0 }
  const postings = isSearched
    ? postingsOf(text, starts, count)
    : { steps: new Uint8Array(0), starts: noNumbers, counts: noNumbers }
  const packed = pack({
    alive: segment.alive.subarray(0, count),
    ids: segment.ids.subarray(0, count * 16),
    ...columnsOf(segment),
    text,
    starts,
    byCreated,
    byUpdated: byUpdated === byCreated ? byUpdated.subarray(0, 0) : byUpdated,
    bits: blocks.bits,
    steps: postings.steps,
    postingStarts: postings.starts,
    postingCounts: postings.counts,
  })
  const { bits, steps, postingStarts, postingCounts, ...rest } = packed
  return {
    contents,
    ...rest,
    byUpdated: byUpdated === byCreated ? rest.byCreated : rest.byUpdated,
    count,
    live,
    ordered: count,
    index: { blocks: { ...blocks, bits }, postings: { steps, starts: postingStarts, counts: postingCounts } },
    counts: new Map(),
    orders: new Map(),
    marks: new Map(),
  }
}

function columnsOf(segment: Segment): Pick<Segment, Column> {
  const entries = columns.map((name) => [name, segment[name].subarray(0, segment.count)])
  return Object.fromEntries(entries) as Pick<Segment, Column>
}

/** Empties a segment that is not frozen, keeping its memory. */
export function clear(segment: Segment): void {
  Object.assign(segment, { count: 0, live: 0, ordered: 0, byCreated: noSlots, byUpdated: noSlots })
}

const noSlots = new Uint16Array(0)
const noNumbers = new Uint32Array(0)

/** Returns the first number from `low` to below `high` that passes, or `high`; all after one that passes do as well. */
export function firstWhere(low: number, high: number, passes: (at: number) => boolean): number {
  let [first, end] = [low, high]
  while (first < end) {
    const middle = (first + end) >>> 1
    if (passes(middle)) end = middle
    else first = middle + 1
  }
  return first
}

/** Returns the live slot with this id and creation time, or -1. */
export function findSlot(segment: Segment, id: Buffer, created: number): number {
  updateOrders(segment)
  if (!coversTime(segment, created)) return -1
  let low = firstWhere(0, segment.count, (place) => {
    const slot = segment.byCreated[place] ?? 0
    const time = segment.created[slot] ?? 0
    return time > created || (time === created && compareId(segment, slot, id) >= 0)
  })
  // A dead slot may have the same key as the live slot after it.
  for (; low < segment.count; low++) {
    const slot = segment.byCreated[low] ?? 0
    if (segment.created[slot] !== created || compareId(segment, slot, id) !== 0) return -1
    if (segment.alive[slot] === 1) return slot
  }
  return -1
}

/** Returns true if the time is in the range of the segment; most segments cover other times. */
function coversTime({ byCreated, created, count }: Segment, time: number): boolean {
  const [first, last] = [created[byCreated[0] ?? 0], created[byCreated[count - 1] ?? 0]]
  return count > 0 && time >= (first ?? 0) && time <= (last ?? 0)
}

/** Compares the id of a slot with another id, in PostgreSQL's order. */
export function compareId(segment: Segment, slot: number, id: Buffer): number {
  return segment.ids.compare(id, 0, 16, slot * 16, slot * 16 + 16)
}

export const idBytes = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex')

export function idText(segment: Segment, slot: number): string {
  const hex = segment.ids.toString('hex', slot * 16, slot * 16 + 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export function bytesOf(segment: Segment): number {
  const { index, contents } = segment
  const indexBytes = index === null ? 0 : index.blocks.bits.byteLength + postingBytes(index.postings)
  const textBytes = contents === 'columns' ? 0 : startBytes
  const keptBytes = contents === 'values' ? valueBytes + 2 * maxCachedBytes : 0
  return segment.alive.length * (slotBytes + textBytes + keptBytes) + segment.text.length + indexBytes
}

type AnyColumn = Uint8Array | Uint16Array | Uint32Array | Float64Array

// From this size on, memory should be returned to the system.
const largeBytes = 1024 ** 2
// The C library caches freed memory, except for blocks larger than 32 MB.
const returnedBytes = 33 * 1024 ** 2

/**
 * Copies columns into one block of memory. Large blocks are allocated larger than needed, since only blocks over 32 MB
 * are returned to the system when freed; pages never written take no memory.
 */
export function pack<T extends Record<string, AnyColumn>>(columns: T): T {
  const bytes = Object.values(columns).reduce((sum, column) => sum + aligned(column.byteLength), 0)
  const memory = Buffer.allocUnsafeSlow(bytes < largeBytes ? bytes : Math.max(bytes, returnedBytes))
  let at = 0
  const copyColumn = (column: AnyColumn): AnyColumn => {
    const from = Buffer.from(column.buffer, column.byteOffset, column.byteLength)
    from.copy(memory, at)
    const view = viewOf(column, memory.buffer, at)
    at += aligned(column.byteLength)
    return view
  }
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, copyColumn(column)])) as T
}

const aligned = (bytes: number): number => Math.ceil(bytes / 8) * 8

function viewOf(column: AnyColumn, memory: ArrayBuffer, at: number): AnyColumn {
  if (Buffer.isBuffer(column)) return Buffer.from(memory, at, column.length)
  const View = column.constructor as new (memory: ArrayBuffer, at: number, length: number) => AnyColumn
  return new View(memory, at, column.length)
}
