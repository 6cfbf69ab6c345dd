// SHA-256 of short ASCII texts. The browser's own is asynchronous, too slow for thousands of tiny texts, and missing
// on pages without HTTPS.

const constants = new Uint32Array(64)
const initial = new Uint32Array(8)

// The first 32 bits of the fractions of the roots of the first primes, as the standard defines them.
let prime = 2
for (let count = 0; count < 64; prime++) {
  let isPrime = true
  for (let factor = 2; factor * factor <= prime; factor++) if (prime % factor === 0) isPrime = false
  if (!isPrime) continue
  const fraction = (root: number) => ((root - Math.floor(root)) * 2 ** 32) >>> 0
  if (count < 8) initial[count] = fraction(Math.sqrt(prime))
  constants[count++] = fraction(Math.cbrt(prime))
}

const schedule = new Uint32Array(64)
const rotate = (word: number, bits: number) => (word >>> bits) | (word << (32 - bits))
const at = (words: Uint32Array, index: number): number => words[index] ?? 0

/** Returns the digest as eight words. */
export function sha256(text: string): Uint32Array {
  const blocks = ((text.length + 8) >> 6) + 1
  const words = new Uint32Array(blocks * 16)
  for (let n = 0; n < text.length; n++) words[n >> 2] = at(words, n >> 2) | (text.charCodeAt(n) << (24 - (n & 3) * 8))
  words[text.length >> 2] = at(words, text.length >> 2) | (0x80 << (24 - (text.length & 3) * 8))
  words[blocks * 16 - 1] = text.length * 8
  const state = Uint32Array.from(initial)
  for (let block = 0; block < blocks; block++) addBlock(state, words.subarray(block * 16, block * 16 + 16))
  return state
}

function addBlock(state: Uint32Array, block: Uint32Array): void {
  schedule.set(block)
  for (let n = 16; n < 64; n++) {
    const [near, far] = [at(schedule, n - 2), at(schedule, n - 15)]
    const s0 = rotate(far, 7) ^ rotate(far, 18) ^ (far >>> 3)
    const s1 = rotate(near, 17) ^ rotate(near, 19) ^ (near >>> 10)
    schedule[n] = at(schedule, n - 16) + s0 + at(schedule, n - 7) + s1
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let n = 0; n < 64; n++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    const first = (h + s1 + ((e & f) ^ (~e & g)) + at(constants, n) + at(schedule, n)) | 0
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)
    const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  for (const [n, word] of [a, b, c, d, e, f, g, h].entries()) state[n] = at(state, n) + word
}

const chunk = 2_000

/** Finds a text that makes the digest of `challenge:text` begin with so many zero bits, without blocking the page. */
export async function solve(challenge: string, bits: number): Promise<string> {
  for (let n = 0; ; n++) {
    const solution = n.toString(36)
    if (Math.clz32(at(sha256(`${challenge}:${solution}`), 0)) >= bits) return solution
    if (n % chunk === chunk - 1) await new Promise((resolve) => setTimeout(resolve))
  }
}
