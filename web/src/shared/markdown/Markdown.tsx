import type { ReactNode } from 'react'
import styles from './Markdown.module.css'
import { type BlockNode, type Inline, parseMarkdown } from './parse-markdown.ts'

/** Markdown as React elements: nothing of it becomes HTML. Headings are those below the page's own. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className={styles.text} dir="auto">
      {renderBlocks(parseMarkdown(text))}
    </div>
  )
}

const renderBlocks = (blocks: readonly BlockNode[]): ReactNode[] => blocks.map(renderBlock)

function renderBlock(block: BlockNode, n: number): ReactNode {
  switch (block.type) {
    case 'heading':
      return block.level <= 2 ? (
        <h3 key={n}>{renderInline(block.children)}</h3>
      ) : (
        <h4 key={n}>{renderInline(block.children)}</h4>
      )
    case 'paragraph':
      return <p key={n}>{renderInline(block.children)}</p>
    case 'code':
      return (
        <pre key={n}>
          <code>{block.text}</code>
        </pre>
      )
    case 'quote':
      return <blockquote key={n}>{renderBlocks(block.children)}</blockquote>
    case 'list': {
      // biome-ignore lint/suspicious/noArrayIndexKey: items are identified by position
      const items = block.items.map((item, at) => <li key={at}>{renderInline(item)}</li>)
      return block.isOrdered ? <ol key={n}>{items}</ol> : <ul key={n}>{items}</ul>
    }
    default:
      return <hr key={n} />
  }
}

const renderInline = (nodes: readonly Inline[]): ReactNode[] => nodes.map(renderNode)

function renderNode(node: Inline, n: number): ReactNode {
  switch (node.type) {
    case 'strong':
      return <strong key={n}>{renderInline(node.children)}</strong>
    case 'em':
      return <em key={n}>{renderInline(node.children)}</em>
    case 'code':
      return <code key={n}>{node.text}</code>
    case 'link':
      return (
        <a key={n} href={node.href} target="_blank" rel="noreferrer">
          {renderInline(node.children)}
        </a>
      )
    default:
      return node.text
  }
}
