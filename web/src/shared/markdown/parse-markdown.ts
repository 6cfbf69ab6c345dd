import { safeUrl } from '../markup/link-rules.ts'

/** Inline node. Never HTML: unknown Markdown stays text. */
export type Inline =
  | { type: 'text' | 'code'; text: string }
  | { type: 'strong' | 'em'; children: Inline[] }
  | { type: 'link'; href: string; children: Inline[] }

export type BlockNode =
  | { type: 'heading'; level: number; children: Inline[] }
  | { type: 'paragraph'; children: Inline[] }
  | { type: 'code'; text: string }
  | { type: 'quote'; children: BlockNode[] }
  | { type: 'list'; isOrdered: boolean; items: Inline[][] }
  | { type: 'rule' }

const maxDepth = 4

/** Parses headings, paragraphs, lists, quotes, code, emphasis and links of Markdown, in linear time. */
export function parseMarkdown(text: string, depth = 0): BlockNode[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const blocks: BlockNode[] = []
  for (let n = 0; n < lines.length; ) {
    const line = lines[n] ?? ''
    if (line.trim() === '') {
      n++
    } else if (line.startsWith('```')) {
      const inside = takeWhile(lines, n + 1, (one) => !one.startsWith('```'))
      blocks.push({ type: 'code', text: inside.join('\n') })
      n += inside.length + 2
    } else if (/^#{1,6} /.test(line)) {
      const level = line.indexOf(' ')
      blocks.push({ type: 'heading', level, children: parseInline(line.slice(level + 1).trim()) })
      n++
    } else if (/^(?:---+|\*\*\*+)\s*$/.test(line)) {
      blocks.push({ type: 'rule' })
      n++
    } else if (line.startsWith('>') && depth < maxDepth) {
      const quoted = takeWhile(lines, n, (one) => one.startsWith('>'))
      const inner = quoted.map((one) => one.replace(/^> ?/, '')).join('\n')
      blocks.push({ type: 'quote', children: parseMarkdown(inner, depth + 1) })
      n += quoted.length
    } else if (isItem(line)) {
      const isOrdered = isNumbered(line)
      const items = takeWhile(lines, n, (one) => isItem(one) && isNumbered(one) === isOrdered)
      blocks.push({ type: 'list', isOrdered, items: items.map((one) => parseInline(one.replace(bullet, ''))) })
      n += items.length
    } else {
      const words = takeWhile(lines, n, (one) => one.trim() !== '' && !startsBlock(one))
      // A line that starts a block but is none, such as a quote that is nested too deep.
      const taken = words.length === 0 ? [line] : words
      blocks.push({ type: 'paragraph', children: parseInline(taken.join('\n')) })
      n += taken.length
    }
  }
  return blocks
}

const bullet = /^ {0,9}(?:[-*+]|\d{1,4}[.)]) /
const isItem = (line: string): boolean => bullet.test(line)
const isNumbered = (line: string): boolean => /^ {0,9}\d/.test(line)
const startsBlock = (line: string): boolean => /^(?:```|#{1,6} |>)/.test(line) || isItem(line)

function takeWhile(lines: readonly string[], from: number, fits: (line: string) => boolean): string[] {
  let to = from
  while (to < lines.length && fits(lines[to] ?? '')) to++
  return lines.slice(from, to)
}

// Each alternative ends within a bounded number of characters.
const inlines =
  /`([^`\n]{1,500})`|\*\*([^*\n]{1,500})\*\*|__([^_\n]{1,500})__|(?<![\p{L}\p{N}*])\*([^*\n]{1,500})\*|(?<![\p{L}\p{N}_])_([^_\n]{1,500})_(?![\p{L}\p{N}])|\[([^[\]\n]{1,300})\]\(([^()\s]{1,1000})\)|(https?:\/\/[^\s<>"'`)\]]{1,1000})/gu

function parseInline(text: string, depth = 0): Inline[] {
  if (depth >= maxDepth) return [{ type: 'text', text }]
  const nodes: Inline[] = []
  let end = 0
  const children = (inner: string) => parseInline(inner, depth + 1)
  for (const match of text.matchAll(inlines)) {
    const [whole, code, strong, strong2, em, em2, label, target, address] = match
    const node = ((): Inline | null => {
      if (code !== undefined) return { type: 'code', text: code }
      const bold = strong ?? strong2
      if (bold !== undefined) return { type: 'strong', children: children(bold) }
      const slanted = em ?? em2
      if (slanted !== undefined) return { type: 'em', children: children(slanted) }
      const href = safeUrl(target ?? address ?? null)
      if (href === null) return null
      return { type: 'link', href, children: [{ type: 'text', text: label ?? whole }] }
    })()
    if (node === null) continue
    if (match.index > end) nodes.push({ type: 'text', text: text.slice(end, match.index) })
    nodes.push(node)
    end = match.index + whole.length
  }
  if (end < text.length) nodes.push({ type: 'text', text: text.slice(end) })
  return nodes
}

/** Returns Markdown as a message on a phone: with its bold and italic, links as addresses, and no other markup. */
export function markdownToMessage(markdown: string): string {
  return parseMarkdown(markdown).map(blockText).join('\n\n').trim()
}

function blockText(block: BlockNode): string {
  switch (block.type) {
    case 'heading':
      return `*${inlineText(block.children, true)}*`
    case 'paragraph':
      return inlineText(block.children)
    case 'code':
      return block.text
    case 'quote':
      return block.children.map(blockText).join('\n\n')
    case 'list':
      return block.items.map((item, n) => `${block.isOrdered ? `${n + 1}.` : '•'} ${inlineText(item)}`).join('\n')
    default:
      return '—'
  }
}

function inlineText(nodes: readonly Inline[], isPlain = false): string {
  return nodes
    .map((node) => {
      if (!('children' in node)) return node.text
      const inner = inlineText(node.children, isPlain)
      if (node.type === 'link')
        return inner === node.href || node.href.startsWith(inner) ? node.href : `${inner}: ${node.href}`
      if (isPlain) return inner
      return node.type === 'strong' ? `*${inner}*` : `_${inner}_`
    })
    .join('')
}
