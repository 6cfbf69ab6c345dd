/** Texts beyond this many words are compared by their beginnings: the work grows with the square. */
const maxWords = 1000

/**
 * Returns how much of a text was changed, from 0 (nothing) to 1 (everything): words inserted, removed and replaced, as a
 * share of the longer text.
 */
export function editDistance(before: string, after: string): number {
  if (before === after) return 0
  const [from, to] = [wordsOf(before), wordsOf(after)]
  const longest = Math.max(from.length, to.length)
  // Only the spaces differ.
  if (longest === 0) return 0
  let previous = Array.from({ length: to.length + 1 }, (_, n) => n)
  for (const [row, word] of from.entries()) {
    const current = [row + 1]
    for (const [column, other] of to.entries()) {
      const replaced = (previous[column] ?? 0) + (word === other ? 0 : 1)
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1))
    }
    previous = current
  }
  return (previous[to.length] ?? 0) / longest
}

const wordsOf = (text: string): string[] =>
  text
    .split(/\s+/, maxWords + 1)
    .filter((word) => word !== '')
    .slice(0, maxWords)
