import { plainMark, wordMark } from './indexed-text.ts'

/**
 * Bitmap per trigram: which blocks of a segment contain it. Trigrams share buckets, so a set bit is only a hint.
 * Trigrams of digits are left out: every lead has a phone, so nearly every block would contain them; postings serve
 * them better.
 */
export interface BlockBits {
  /** `words` numbers per bucket. */
  bits: Uint32Array
  words: number
}

/** Slots per block. */
export const blockSlots = 128
const buckets = 14_000
const zero = 48
const nine = 57
const space = 32

export function blockBits(text: Buffer, starts: Uint32Array, count: number): BlockBits {
  const words = Math.ceil(count / blockSlots / 32)
  const bits = new Uint32Array(buckets * words)
  for (let block = 0; block * blockSlots < count; block++) {
    const end = starts[Math.min((block + 1) * blockSlots, count)] ?? 0
    for (let at = starts[block * blockSlots] ?? 0; at < end; at++) {
      const bucket = bucketAt(text, at, end)
      if (bucket < 0) continue
      const place = bucket * words + (block >>> 5)
      bits[place] = (bits[place] ?? 0) | (1 << (block & 31))
    }
  }
  return { bits, words }
}

/** Returns a bitmap of blocks that may contain these bytes; null if they have no trigram with a bucket. */
export function candidateBlocks({ bits, words }: BlockBits, bytes: Buffer): Uint32Array | null {
  const found = new Uint32Array(words).fill(0xffffffff)
  let [isKnown, left] = [false, 1]
  for (let at = 0; at + 2 < bytes.length && left !== 0; at++) {
    const bucket = bucketAt(bytes, at, bytes.length)
    if (bucket < 0) continue
    isKnown = true
    left = 0
    for (let word = 0; word < words; word++) {
      const kept = (found[word] ?? 0) & (bits[bucket * words + word] ?? 0)
      found[word] = kept
      left |= kept
    }
  }
  return isKnown ? found : null
}

/** Returns the bucket of the trigram at this position; -1 if it is not a trigram, or one of digits. */
function bucketAt(text: Buffer, at: number, end: number): number {
  if (at + 2 >= end) return -1
  const a = text[at] ?? 0
  const b = text[at + 1] ?? 0
  const c = text[at + 2] ?? 0
  // Terms do not span line marks, but short terms start with one.
  if (b < space || c < space || (a < space && a !== plainMark && a !== wordMark)) return -1
  if (isDigit(a) && isDigit(b) && isDigit(c)) return -1
  return (Math.imul((a << 16) | (b << 8) | c, 0x9e3779b1) >>> 7) % buckets
}

const isDigit = (byte: number): boolean => byte >= zero && byte <= nine

/**
 * Lists of slots per trigram of three digits, or with a space. A lead has few of these, so the lists are short enough
 * to store: a part of a phone, or the gap between two words, is found without a scan. Trigrams with a space share
 * lists; those of digits do not.
 */
export interface Postings {
  /** Distance from each slot of a list to the next, one byte each; 0 skips 255 slots. */
  steps: Uint8Array
  /** The list of bucket n is from `starts[n]` to `starts[n + 1]`. */
  starts: Uint32Array
  /** Number of slots per list. */
  counts: Uint32Array
}

const digitBuckets = 1000
const lists = 4096
const maxStep = 255

export function postingsOf(text: Buffer, starts: Uint32Array, count: number): Postings {
  const sizes = new Uint32Array(lists + 1)
  const counts = new Uint32Array(lists)
  eachPosting(text, starts, count, (bucket, step) => {
    sizes[bucket + 1] = (sizes[bucket + 1] ?? 0) + Math.ceil(step / maxStep)
    counts[bucket] = (counts[bucket] ?? 0) + 1
  })
  for (let bucket = 0; bucket < lists; bucket++) sizes[bucket + 1] = (sizes[bucket + 1] ?? 0) + (sizes[bucket] ?? 0)
  const steps = new Uint8Array(sizes[lists] ?? 0)
  const ends = sizes.slice()
  eachPosting(text, starts, count, (bucket, step) => {
    const end = (ends[bucket] ?? 0) + Math.ceil(step / maxStep)
    // The bytes before it are already 0. A step of 255 needs none.
    steps[end - 1] = ((step - 1) % maxStep) + 1
    ends[bucket] = end
  })
  return { steps, starts: sizes, counts }
}

/** Calls `record` once per trigram and slot, with the distance to the previous slot that has it; counts from slot -1. */
function eachPosting(
  text: Buffer,
  starts: Uint32Array,
  count: number,
  record: (bucket: number, step: number) => void,
): void {
  const last = new Int32Array(lists).fill(-1)
  for (let slot = 0; slot < count; slot++) {
    const end = starts[slot + 1] ?? 0
    for (let at = starts[slot] ?? 0; at + 2 < end; at++) {
      const bucket = listAt(text, at)
      const before = last[bucket] ?? slot
      if (bucket < 0 || before === slot) continue
      record(bucket, slot - before)
      last[bucket] = slot
    }
  }
}

export const postingBytes = ({ steps, starts, counts }: Postings): number =>
  steps.byteLength + starts.byteLength + counts.byteLength

// A list longer than this many times the remaining slots costs more than it saves.
const maxListFactor = 32

/**
 * Returns the slots that may contain these bytes, ascending; null if none of their trigrams has a list. `isExact` means
 * that all of them contain the bytes.
 */
export function candidateSlots(postings: Postings, bytes: Buffer): { slots: Uint16Array; isExact: boolean } | null {
  const listed = new Set<number>()
  for (let at = 0; at + 2 < bytes.length; at++) {
    const bucket = listAt(bytes, at)
    if (bucket >= 0) listed.add(bucket)
  }
  const sizeOf = (bucket: number) => postings.counts[bucket] ?? 0
  const [shortest, ...others] = [...listed].sort((a, b) => sizeOf(a) - sizeOf(b))
  if (shortest === undefined) return null
  let slots = readList(postings, shortest)
  for (const bucket of others) {
    if (sizeOf(bucket) > slots.length * maxListFactor) break
    slots = intersectList(slots, postings, bucket)
  }
  return { slots, isExact: bytes.length === 3 && shortest < digitBuckets }
}

function readList({ steps, starts, counts }: Postings, bucket: number): Uint16Array {
  const slots = new Uint16Array(counts[bucket] ?? 0)
  const end = starts[bucket + 1] ?? 0
  let [slot, found] = [-1, 0]
  for (let at = starts[bucket] ?? 0; at < end; at++) {
    const step = steps[at] ?? 0
    slot += step === 0 ? maxStep : step
    if (step !== 0) slots[found++] = slot
  }
  return slots
}

function intersectList(slots: Uint16Array, { steps, starts }: Postings, bucket: number): Uint16Array {
  const end = starts[bucket + 1] ?? 0
  let [slot, next, kept] = [-1, 0, 0]
  for (let at = starts[bucket] ?? 0; at < end && next < slots.length; at++) {
    const step = steps[at] ?? 0
    slot += step === 0 ? maxStep : step
    if (step === 0) continue
    while (next < slots.length && (slots[next] ?? 0) < slot) next++
    if (next < slots.length && slots[next] === slot) slots[kept++] = slot
  }
  return slots.subarray(0, kept)
}

/** Returns the bucket of the trigram at this position; -1 if it has no list. Trigrams do not contain line marks. */
function listAt(text: Buffer, at: number): number {
  const a = text[at] ?? 0
  const b = text[at + 1] ?? 0
  const c = text[at + 2] ?? 0
  if (isDigit(a) && isDigit(b) && isDigit(c)) return (a - zero) * 100 + (b - zero) * 10 + c - zero
  if ((a !== space && b !== space && c !== space) || a < space || b < space || c < space) return -1
  return digitBuckets + ((Math.imul((a << 16) | (b << 8) | c, 0x9e3779b1) >>> 7) % (lists - digitBuckets))
}
