import { plainMark } from './lines.ts'

/** For each gram, which blocks of a segment have a lead that holds it. Grams share buckets: a hint, never an answer. */
export interface BlockIndex {
  /** `words` numbers for each bucket, a bit a block. */
  bits: Uint32Array
  words: number
}

/** Slots in a block. */
export const blockSlots = 128
const digitBuckets = 10_000
const buckets = 1 << 15
const zero = 48
const nine = 57
const space = 32

export function indexText(text: Buffer, starts: Uint32Array, count: number): BlockIndex {
  const blocks = Math.ceil(count / blockSlots)
  const words = Math.ceil(blocks / 32)
  const bits = new Uint32Array(buckets * words)
  for (let block = 0; block < blocks; block++) {
    const word = block >>> 5
    const bit = 1 << (block & 31)
    const end = starts[Math.min((block + 1) * blockSlots, count)] ?? 0
    for (let at = starts[block * blockSlots] ?? 0; at + 2 < end; at++) {
      const bucket = bucketAt(text, at, end)
      if (bucket >= 0) bits[bucket * words + word] = (bits[bucket * words + word] ?? 0) | bit
    }
  }
  return { bits, words }
}

/** The blocks that may hold these bytes, a bit each; null when the index cannot tell any of them apart. */
export function candidateBlocks({ bits, words }: BlockIndex, bytes: Buffer): Uint32Array | null {
  let found: Uint32Array | null = null
  for (let at = 0; at + 2 < bytes.length; at++) {
    const bucket = bucketAt(bytes, at, bytes.length)
    if (bucket < 0) continue
    const start = bucket * words
    if (found === null) found = bits.slice(start, start + words)
    else for (let word = 0; word < words; word++) found[word] = (found[word] ?? 0) & (bits[start + word] ?? 0)
  }
  return found
}

/**
 * The bucket of the gram that begins here, or -1 for none. Three bytes make a gram, but of digits it takes four: a
 * thousand grams would stand in every block, since every lead has a phone. The bytes themselves decide which, so that a
 * term has no gram that a text with the term lacks.
 */
function bucketAt(text: Buffer, at: number, end: number): number {
  const a = text[at] ?? 0
  const b = text[at + 1] ?? 0
  const c = text[at + 2] ?? 0
  // No term reaches over a mark, but short ones begin with that of a plain line.
  if (b < space || c < space || (a < space && a !== plainMark)) return -1
  if (!isDigit(a) || !isDigit(b) || !isDigit(c)) {
    return digitBuckets + ((Math.imul((a << 16) | (b << 8) | c, 0x9e3779b1) >>> 7) % (buckets - digitBuckets))
  }
  const d = at + 3 < end ? (text[at + 3] ?? 0) : 0
  return isDigit(d) ? (a - zero) * 1000 + (b - zero) * 100 + (c - zero) * 10 + d - zero : -1
}

const isDigit = (byte: number): boolean => byte >= zero && byte <= nine
