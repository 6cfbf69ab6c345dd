import { plainMark, wordMark } from './indexed-text.ts'

/**
 * For each gram that is not of digits, which blocks of a segment have a lead that holds it, a bit each. Grams share
 * buckets: a hint, never an answer. What grams of digits say, `postings.ts` says better: every lead has a phone, so
 * that every block has nearly all of them.
 */
export interface BlockBits {
  /** `words` numbers for each bucket. */
  bits: Uint32Array
  words: number
}

/** Slots in a block. */
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

/** Which blocks may hold these bytes, a bit each; null when their grams cannot tell any of them apart. */
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

/** The bucket of the gram of three bytes that begins here; -1 when it is no gram, or one of digits. */
function bucketAt(text: Buffer, at: number, end: number): number {
  if (at + 2 >= end) return -1
  const a = text[at] ?? 0
  const b = text[at + 1] ?? 0
  const c = text[at + 2] ?? 0
  // No term reaches over a mark, but short ones begin with one.
  if (b < space || c < space || (a < space && a !== plainMark && a !== wordMark)) return -1
  if (isDigit(a) && isDigit(b) && isDigit(c)) return -1
  return (Math.imul((a << 16) | (b << 8) | c, 0x9e3779b1) >>> 7) % buckets
}

const isDigit = (byte: number): boolean => byte >= zero && byte <= nine
