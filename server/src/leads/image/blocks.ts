import { plainMark } from './lines.ts'

/**
 * For each gram, which blocks of a segment have a lead that holds it. Grams share buckets: a hint, never an answer.
 * Every lead has a phone, so that grams of digits are in too many blocks, unless these are small.
 */
export interface BlockIndex {
  letters: BlockBits
  digits: BlockBits
}

interface BlockBits {
  /** `words` numbers for each bucket, a bit a block. */
  bits: Uint32Array
  words: number
  /** Slots in a block. */
  slots: number
}

/** Slots in a block of the smallest kind. */
export const minBlockSlots = 64
const letterBlockSlots = 128
const digitBuckets = 10_000
const letterBuckets = 14_000
const zero = 48
const nine = 57
const space = 32

export function indexText(text: Buffer, starts: Uint32Array, count: number): BlockIndex {
  const letters = newBits(letterBuckets, letterBlockSlots, count)
  const digits = newBits(digitBuckets, minBlockSlots, count)
  for (let first = 0; first < count; first += minBlockSlots) {
    const end = starts[Math.min(first + minBlockSlots, count)] ?? 0
    for (let at = starts[first] ?? 0; at < end; at++) {
      const gram = gramAt(text, at, end)
      if (gram >= digitBuckets) setBit(letters, gram - digitBuckets, first)
      else if (gram >= 0) setBit(digits, gram, first)
    }
  }
  return { letters, digits }
}

function newBits(buckets: number, slots: number, count: number): BlockBits {
  const words = Math.ceil(count / slots / 32)
  return { bits: new Uint32Array(buckets * words), words, slots }
}

function setBit({ bits, words, slots }: BlockBits, bucket: number, slot: number): void {
  const block = Math.floor(slot / slots)
  const place = bucket * words + (block >>> 5)
  bits[place] = (bits[place] ?? 0) | (1 << (block & 31))
}

export const indexBytes = ({ letters, digits }: BlockIndex): number => letters.bits.byteLength + digits.bits.byteLength

/** Which of the smallest blocks may hold these bytes, a bit each; null when the index cannot tell any of them apart. */
export function candidateBlocks({ letters, digits }: BlockIndex, bytes: Buffer): Uint32Array | null {
  const found = new Uint32Array(digits.words).fill(0xffffffff)
  let [isKnown, isEmpty] = [false, false]
  for (let at = 0; at + 2 < bytes.length && !isEmpty; at++) {
    const gram = gramAt(bytes, at, bytes.length)
    if (gram < 0) continue
    isKnown = true
    isEmpty = gram < digitBuckets ? !keepDigits(found, digits, gram) : !keepLetters(found, letters, gram - digitBuckets)
  }
  return isKnown ? found : null
}

/** Drops the blocks that lack the gram; false when none is left. */
function keepDigits(found: Uint32Array, { bits, words }: BlockBits, bucket: number): boolean {
  let left = 0
  for (let word = 0; word < words; word++) {
    const kept = (found[word] ?? 0) & (bits[bucket * words + word] ?? 0)
    found[word] = kept
    left |= kept
  }
  return left !== 0
}

/** As `keepDigits`, for blocks of twice the size. */
function keepLetters(found: Uint32Array, { bits, words }: BlockBits, bucket: number): boolean {
  let left = 0
  for (let word = 0; word < words; word++) {
    const large = bits[bucket * words + word] ?? 0
    const low = (found[word * 2] ?? 0) & (spread(large & 0xffff) * 3)
    const high = (found[word * 2 + 1] ?? 0) & (spread(large >>> 16) * 3)
    found[word * 2] = low
    found[word * 2 + 1] = high
    left |= low | high
  }
  return left !== 0
}

/** Sixteen bits, each moved to twice its place. */
function spread(half: number): number {
  let bits = half
  bits = (bits | (bits << 8)) & 0x00ff00ff
  bits = (bits | (bits << 4)) & 0x0f0f0f0f
  bits = (bits | (bits << 2)) & 0x33333333
  return (bits | (bits << 1)) & 0x55555555
}

/**
 * The gram that begins here: below 10,000 one of digits, -1 for none. Three bytes make a gram, but of digits it takes
 * four, since each lead has many of three. The bytes themselves decide which, so that a term has no gram that a text
 * with the term lacks.
 */
function gramAt(text: Buffer, at: number, end: number): number {
  if (at + 2 >= end) return -1
  const a = text[at] ?? 0
  const b = text[at + 1] ?? 0
  const c = text[at + 2] ?? 0
  // No term reaches over a mark, but short ones begin with that of a plain line.
  if (b < space || c < space || (a < space && a !== plainMark)) return -1
  if (!isDigit(a) || !isDigit(b) || !isDigit(c)) {
    return digitBuckets + ((Math.imul((a << 16) | (b << 8) | c, 0x9e3779b1) >>> 7) % letterBuckets)
  }
  const d = at + 3 < end ? (text[at + 3] ?? 0) : 0
  return isDigit(d) ? (a - zero) * 1000 + (b - zero) * 100 + (c - zero) * 10 + d - zero : -1
}

const isDigit = (byte: number): boolean => byte >= zero && byte <= nine
