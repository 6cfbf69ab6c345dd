/** A part of two texts: in both, or in one of them. */
export interface Piece {
  kind: 'same' | 'removed' | 'added'
  text: string
}

/**
 * Compares two texts word by word: the pieces without the added ones are the first, without the removed ones the second.
 * Where more than `maxPieces` differ, they are one removed and one added piece: the work grows with the square.
 */
export function diffWords(before: string, after: string, maxPieces = 4000): Piece[] {
  const [old, now] = [wordsIn(before), wordsIn(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++
  const pieces: Piece[] = []
  const add = (kind: Piece['kind'], words: readonly string[]) => {
    const text = words.join('')
    const last = pieces.at(-1)
    if (text === '') return
    if (last?.kind === kind) last.text += text
    else pieces.push({ kind, text })
  }
  add('same', old.slice(0, start))
  const [removed, added] = [old.slice(start, old.length - end), now.slice(start, now.length - end)]
  if (removed.length > maxPieces || added.length > maxPieces) {
    add('removed', removed)
    add('added', added)
  } else {
    for (const { kind, word } of changesOf(removed, added)) add(kind, [word])
  }
  add('same', old.slice(old.length - end))
  return pieces
}

/** Words, and the spaces between them. */
const wordsIn = (text: string): string[] => text.match(/\s+|\S+/g) ?? []

/** The shortest changes, by the longest common subsequence; removed words come before added ones. */
function* changesOf(
  old: readonly string[],
  now: readonly string[],
): Generator<{ kind: Piece['kind']; word: string }, void> {
  // Number of common words from here to the ends, row by row.
  const width = now.length + 1
  const common = new Uint16Array((old.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      common[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  let [i, j] = [0, 0]
  while (i < old.length || j < now.length) {
    const [was, is] = [old[i], now[j]]
    if (was !== undefined && was === is) {
      yield { kind: 'same', word: was }
      i++
      j++
    } else if (was !== undefined && (is === undefined || at(i + 1, j) >= at(i, j + 1))) {
      yield { kind: 'removed', word: was }
      i++
    } else {
      yield { kind: 'added', word: is ?? '' }
      j++
    }
  }
}
