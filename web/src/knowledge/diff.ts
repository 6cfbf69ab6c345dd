export interface DiffPart {
  type: 'same' | 'added' | 'removed'
  text: string
}

/** Beyond this many different pieces, the middle is shown as replaced: the work grows with the square. */
const maxPieces = 1500

/** Returns what has changed between two texts, word by word. */
export function diffTexts(before: string, after: string): DiffPart[] {
  const [from, to] = [piecesOf(before), piecesOf(after)]
  let start = 0
  while (start < from.length && start < to.length && from[start] === to[start]) start++
  let end = 0
  while (end < from.length - start && end < to.length - start && from.at(-1 - end) === to.at(-1 - end)) end++
  const parts: DiffPart[] = []
  const add = (type: DiffPart['type'], text: string) => {
    const last = parts.at(-1)
    if (text === '') return
    if (last?.type === type) last.text += text
    else parts.push({ type, text })
  }
  add('same', from.slice(0, start).join(''))
  for (const { type, text } of middle(from.slice(start, from.length - end), to.slice(start, to.length - end))) {
    add(type, text)
  }
  add('same', from.slice(from.length - end).join(''))
  return parts
}

const piecesOf = (text: string): string[] => text.split(/(\s+)/).filter((piece) => piece !== '')

/** Compares by the longest common subsequence. */
function middle(from: readonly string[], to: readonly string[]): DiffPart[] {
  if (from.length > maxPieces || to.length > maxPieces) {
    return [
      { type: 'removed', text: from.join('') },
      { type: 'added', text: to.join('') },
    ]
  }
  const width = to.length + 1
  const lengths = new Uint16Array((from.length + 1) * width)
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0
  for (let row = from.length - 1; row >= 0; row--) {
    for (let column = to.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        from[row] === to[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const parts: DiffPart[] = []
  let [row, column] = [0, 0]
  while (row < from.length || column < to.length) {
    const [old = '', fresh = ''] = [from[row], to[column]]
    if (row < from.length && column < to.length && old === fresh) {
      parts.push({ type: 'same', text: old })
      row++
      column++
    } else if (column >= to.length || (row < from.length && at(row + 1, column) >= at(row, column + 1))) {
      parts.push({ type: 'removed', text: old })
      row++
    } else {
      parts.push({ type: 'added', text: fresh })
      column++
    }
  }
  return parts
}
