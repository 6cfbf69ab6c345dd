import { type BlockBits, blockBits, type Postings, postingBytes, postingsOf } from './grams.ts'

/**
 * What an index is asked for: texts to search, values to sort and narrow by, or neither, so that it is small: pages and totals
 * of what is not sealed.
 */
export type Held = 'text' | 'values' | 'columns'

/**
 * Up to 65,536 leads in columns, a slot for each in the order of their arrival. Times are milliseconds. Once a segment
 * is sealed, nothing of it changes but `alive`.
 */
export interface Segment {
  holds: Held
  /** Slots that are taken. */
  count: number
  /** Slots whose lead still is as it says. */
  live: number
  alive: Uint8Array
  /** 16 bytes a slot. */
  ids: Buffer
  created: Float64Array
  updated: Float64Array
  /** Places in the dictionaries of the index. */
  status: Uint16Array
  assignee: Uint16Array
  priority: Uint8Array
  source: Uint8Array
  adPlatform: Uint8Array
  /** Only of an index of values, empty else; what is not known is no number. */
  estimated: Float64Array
  actual: Float64Array
  /** The text of slot n stands from `starts[n]` to `starts[n + 1]`; none of an index of columns alone. */
  text: Buffer
  starts: Uint32Array
  /** Slots in ascending order of (created, id) and of (updated, id). */
  byCreated: Uint16Array
  byUpdated: Uint16Array
  /** How many slots the two orders hold: fewer than `count` while they are out of date. */
  ordered: number
  /** Only when sealed. */
  index: { blocks: BlockBits; postings: Postings } | null
  /** How many slots pass a filter, by its key, since the last lead died. */
  counts: Map<string, number>
  /** Of an index of values: its last orders, and which live slots pass. */
  orders: Map<string, SlotOrder>
  marks: Map<string, Marks>
}

/** The slots of a segment in an order, those with nothing to be sorted by behind the others. */
export interface SlotOrder {
  slots: Uint16Array
  /** How many have something to be sorted by. */
  filled: number
}

export interface Marks {
  marks: Uint8Array
  count: number
}

/** What a slot holds, apart from the text. */
interface SlotFields {
  id: string
  created: number
  updated: number
  status: number
  assignee: number
  priority: number
  source: number
  adPlatform: number
  estimated?: number | null
  actual?: number | null
}

export const maxSlots = 65_536
/** What a slot takes besides its text and its share of the block index. */
const slotBytes = 1 + 16 + 8 + 8 + 2 + 2 + 3 + 2 + 2
/** Where its text begins. */
const startBytes = 4
const textBytesAtFirst = 96
/** What orders and marks of a slot may come to. */
const maxKeptBytes = 4 * 2

/** What a slot of an index of values takes beside. */
const valueBytes = 8 + 8

export function newSegment(capacity: number, holds: Held = 'text'): Segment {
  const amounts = holds === 'values' ? capacity : 0
  const texts = holds === 'columns' ? 0 : capacity
  return {
    holds,
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
    text: Buffer.allocUnsafeSlow(texts * textBytesAtFirst),
    starts: new Uint32Array(texts + 1),
    byCreated: none,
    byUpdated: none,
    ordered: 0,
    index: null,
    counts: new Map(),
    orders: new Map(),
    marks: new Map(),
  }
}

export const isFull = (segment: Segment): boolean => segment.count === segment.alive.length

/** Takes the next slot; the segment must not be full. */
export function append(segment: Segment, fields: SlotFields, text: string): number {
  const slot = segment.count
  const start = segment.starts[slot] ?? 0
  // UTF-8 takes three bytes at most for each unit of a string.
  makeRoom(segment, start + text.length * 3)
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
  take(segment, slot)
  return slot
}

/** Takes the next slot for a lead of another segment. */
export function copySlot(into: Segment, from: Segment, slot: number): void {
  const target = into.count
  const start = into.starts[target] ?? 0
  const [first = 0, end = 0] = [from.starts[slot], from.starts[slot + 1]]
  makeRoom(into, start + end - first)
  into.starts[target + 1] = start + from.text.copy(into.text, start, first, end)
  from.ids.copy(into.ids, target * 16, slot * 16, slot * 16 + 16)
  for (const column of columns) into[column][target] = from[column][slot] ?? 0
  take(into, target)
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

function take(segment: Segment, slot: number): void {
  segment.alive[slot] = 1
  segment.count++
  segment.live++
}

function makeRoom(segment: Segment, bytes: number): void {
  if (bytes <= segment.text.length) return
  const larger = Buffer.allocUnsafeSlow(Math.ceil(bytes * 1.25))
  segment.text.copy(larger)
  segment.text = larger
}

export function kill(segment: Segment, slot: number): void {
  segment.live -= segment.alive[slot] ?? 0
  segment.alive[slot] = 0
  segment.counts.clear()
  // What a slot holds never changes: of those that pass, this one is one less.
  for (const kept of segment.marks.values()) {
    kept.count -= kept.marks[slot] ?? 0
    kept.marks[slot] = 0
  }
}

/** Brings the two orders up to date. */
export function order(segment: Segment): void {
  if (segment.ordered === segment.count) return
  segment.byCreated = sorted(segment, segment.created)
  const byUpdated = sorted(segment, segment.updated)
  // Leads that nobody has touched stand in one order: once is enough.
  const isSame = byUpdated.every((slot, place) => slot === segment.byCreated[place])
  segment.byUpdated = isSame ? segment.byCreated : byUpdated
  segment.ordered = segment.count
}

function sorted(segment: Segment, times: Float64Array): Uint16Array {
  return sortSlots(
    segment,
    Uint16Array.from({ length: segment.count }, (_, slot) => slot),
    times,
  )
}

/** Sorts slots in place, by time and id. */
export function sortSlots(segment: Segment, slots: Uint16Array, times: Float64Array): Uint16Array {
  const compare = (a: number, b: number) => (times[a] ?? 0) - (times[b] ?? 0) || compareIds(segment, a, segment, b)
  let isSorted = true
  for (let at = 1; at < slots.length && isSorted; at++) isSorted = compare(slots[at - 1] ?? 0, slots[at] ?? 0) < 0
  return isSorted ? slots : slots.sort(compare)
}

export function compareIds(a: Segment, slotA: number, b: Segment, slotB: number): number {
  return a.ids.compare(b.ids, slotB * 16, slotB * 16 + 16, slotA * 16, slotA * 16 + 16)
}

/** A copy of the segment without spare room, ordered and indexed. */
export function seal(segment: Segment): Segment {
  order(segment)
  const { holds, count, live, byCreated, byUpdated } = segment
  const text = segment.text.subarray(0, segment.starts[count] ?? 0)
  const starts = segment.starts.subarray(0, count + 1)
  const isSearched = holds === 'text'
  const blocks = isSearched ? blockBits(text, starts, count) : { bits: noneOfThem, words: 0 }
  const postings = isSearched
    ? postingsOf(text, starts, count)
    : { steps: new Uint8Array(0), starts: noneOfThem, counts: noneOfThem }
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
    holds,
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

function columnsOf(segment: Segment): Pick<Segment, (typeof columns)[number]> {
  const entries = columns.map((name) => [name, segment[name].subarray(0, segment.count)])
  return Object.fromEntries(entries) as Pick<Segment, (typeof columns)[number]>
}

/** Makes a segment that is not sealed as it was when it was new, in the memory that it has. */
export function clear(segment: Segment): void {
  Object.assign(segment, { count: 0, live: 0, ordered: 0, byCreated: none, byUpdated: none })
}

const none = new Uint16Array(0)
const noneOfThem = new Uint32Array(0)

/** The slot of a live lead with this id, which was created at this time; -1 when there is none. */
export function findSlot(segment: Segment, id: Buffer, created: number): number {
  order(segment)
  if (!spans(segment, created)) return -1
  let [low, high] = [0, segment.count]
  while (low < high) {
    const middle = (low + high) >>> 1
    const slot = segment.byCreated[middle] ?? 0
    const time = segment.created[slot] ?? 0
    const isBefore = time < created || (time === created && compareId(segment, slot, id) < 0)
    if (isBefore) low = middle + 1
    else high = middle
  }
  // A dead slot may have the same key as the live one that came after it.
  for (; low < segment.count; low++) {
    const slot = segment.byCreated[low] ?? 0
    if (segment.created[slot] !== created || compareId(segment, slot, id) !== 0) return -1
    if (segment.alive[slot] === 1) return slot
  }
  return -1
}

/** Whether a lead of this time may be there; most segments are of another time. */
function spans({ byCreated, created, count }: Segment, time: number): boolean {
  const [first, last] = [created[byCreated[0] ?? 0], created[byCreated[count - 1] ?? 0]]
  return count > 0 && time >= (first ?? 0) && time <= (last ?? 0)
}

/** The order of a slot's id and another id, which is that of PostgreSQL. */
export function compareId(segment: Segment, slot: number, id: Buffer): number {
  return segment.ids.compare(id, 0, 16, slot * 16, slot * 16 + 16)
}

export const idBytes = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex')

export function idText(segment: Segment, slot: number): string {
  const hex = segment.ids.toString('hex', slot * 16, slot * 16 + 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** What the segment takes in memory. */
export function bytesOf(segment: Segment): number {
  const { index, holds } = segment
  const indexBytes = index === null ? 0 : index.blocks.bits.byteLength + postingBytes(index.postings)
  const textBytes = holds === 'columns' ? 0 : startBytes
  const keptBytes = holds === 'values' ? valueBytes + 2 * maxKeptBytes : 0
  return segment.alive.length * (slotBytes + textBytes + keptBytes) + segment.text.length + indexBytes
}

type AnyColumn = Uint8Array | Uint16Array | Uint32Array | Float64Array

/** From here on memory is worth to be given back. */
const largeBytes = 1024 ** 2
/** The C library keeps what is freed for later use, except for pieces that are larger than 32 MB. */
const returnedBytes = 33 * 1024 ** 2

/**
 * The same columns in one piece of memory. A large one is asked for larger than it need be, since only so does it go back
 * to the system when it is dropped; the pages that nothing is written to take no memory.
 */
export function pack<T extends Record<string, AnyColumn>>(columns: T): T {
  const bytes = Object.values(columns).reduce((sum, column) => sum + aligned(column.byteLength), 0)
  const memory = Buffer.allocUnsafeSlow(bytes < largeBytes ? bytes : Math.max(bytes, returnedBytes))
  let at = 0
  const moved = (column: AnyColumn): AnyColumn => {
    const from = Buffer.from(column.buffer, column.byteOffset, column.byteLength)
    from.copy(memory, at)
    const view = viewOf(column, memory.buffer, at)
    at += aligned(column.byteLength)
    return view
  }
  return Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, moved(column)])) as T
}

const aligned = (bytes: number): number => Math.ceil(bytes / 8) * 8

function viewOf(column: AnyColumn, memory: ArrayBuffer, at: number): AnyColumn {
  if (Buffer.isBuffer(column)) return Buffer.from(memory, at, column.length)
  const View = column.constructor as new (memory: ArrayBuffer, at: number, length: number) => AnyColumn
  return new View(memory, at, column.length)
}
