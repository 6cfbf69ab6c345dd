import { memo, type ReactNode } from 'react'
import { type MarkupNode, parseMarkup } from '../parts/markup.ts'
import styles from './Thread.module.css'

interface MessageTextProps {
  text: string
  /** Names mentioned by `@`. */
  names?: readonly string[]
}

/** Formatted text in the direction of its script. Never HTML; links send no referrer. */
export const MessageText = memo(function MessageText({ text, names }: MessageTextProps) {
  return (
    <span className={styles.text} dir="auto">
      {drawn(parseMarkup(text, names))}
    </span>
  )
})

const drawn = (pieces: readonly MarkupNode[]): ReactNode[] => pieces.map(drawPiece)

function drawPiece(piece: MarkupNode, n: number): ReactNode {
  switch (piece.type) {
    case 'text':
      return piece.text
    case 'link':
      return (
        <a key={n} href={piece.href} target="_blank" rel="noopener noreferrer nofollow">
          {piece.text}
        </a>
      )
    case 'mention':
      return (
        <b key={n} className={styles.mention}>
          {piece.text}
        </b>
      )
    case 'code':
      return (
        <code key={n} className={styles.code}>
          {piece.text}
        </code>
      )
    case 'bold':
      return <strong key={n}>{drawn(piece.pieces)}</strong>
    case 'italic':
      return <em key={n}>{drawn(piece.pieces)}</em>
    case 'struck':
      return <s key={n}>{drawn(piece.pieces)}</s>
    default:
      return piece satisfies never
  }
}
