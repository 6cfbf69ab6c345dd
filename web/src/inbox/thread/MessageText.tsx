import { memo, type ReactNode } from 'react'
import { type MarkupNode, parseMarkup } from '../../shared/markup/markup.ts'
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
      {renderNodes(parseMarkup(text, names))}
    </span>
  )
})

const renderNodes = (pieces: readonly MarkupNode[]): ReactNode[] => pieces.map(renderNode)

function renderNode(piece: MarkupNode, n: number): ReactNode {
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
      return <strong key={n}>{renderNodes(piece.children)}</strong>
    case 'italic':
      return <em key={n}>{renderNodes(piece.children)}</em>
    case 'struck':
      return <s key={n}>{renderNodes(piece.children)}</s>
    default:
      return piece satisfies never
  }
}
