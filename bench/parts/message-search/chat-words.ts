// Realistic texts of customers, the same for the same seed: few frequent words, many rare ones.

const syllables =
  'ba be bri ca clo dan del do en fa fre gi go ha hel is jo kla ku la lin lo ma me nor o pe qua ri ro sa sta ta tel u va ves wi xa yo zel zu'.split(
    ' ',
  )
const words = 30_000

/** Returns the word with this frequency rank: the most frequent are short. */
export function wordOf(rank: number): string {
  let [text, left] = ['', rank + 1]
  for (; left > 0; left = Math.floor(left / syllables.length)) text += syllables[left % syllables.length]
  return rank < 60 ? text : `${text}${syllables[rank % 7]}`
}

const shares = new Float64Array(words)
let sum = 0
for (let rank = 0; rank < words; rank++) {
  sum += 1 / (rank + 2.7)
  shares[rank] = sum
}

/** Follows the Zipf–Mandelbrot law. */
function rankOf(share: number): number {
  let [low, high] = [0, words - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((shares[middle] ?? 0) < share * sum) low = middle + 1
    else high = middle
  }
  return low
}

/** Appears in a tenth of the messages up to this share of them, and in none after: a former topic. */
export const formerTopic = 'verano'
export const formerShare = 0.3
/** Number of messages per occurrence. */
export const rareEvery = 50_000

/** Returns the n-th of `count` messages. */
export function chatText(n: number, count: number): string {
  const random = randomOf(n)
  const length = 1 + Math.floor(-9 * Math.log(1 - random() * 0.98))
  const said = Array.from({ length }, () => wordOf(rankOf(random())))
  if (random() < 0.1) said.push(String(10_000 + Math.floor(random() * 90_000)))
  if (n < count * formerShare && random() < 0.1) said.push(formerTopic)
  if (n % rareEvery === 7) said.push('rarissima')
  const [first = '', ...rest] = said
  return `${first.charAt(0).toUpperCase()}${first.slice(1)} ${rest.join(' ')}.`
}

function randomOf(seed: number): () => number {
  let state = (seed + 1) * 0x9e3779b1
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
