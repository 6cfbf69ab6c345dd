import type { Piece } from './diff-words.ts'

/** What changed between two texts: removed words in `del`, added ones in `ins`. */
export function TextDiff({ pieces }: { pieces: readonly Piece[] }) {
  return pieces.map(({ kind, text }, n) => {
    const Part = kind === 'same' ? 'span' : kind === 'added' ? 'ins' : 'del'
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one comparison
      <Part key={n}>{text}</Part>
    )
  })
}
