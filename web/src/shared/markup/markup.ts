import { parseLinks } from './link-rules.ts'

export type Style = 'bold' | 'italic' | 'struck'

/** Node of a formatted message. Never HTML: unknown markup stays text. */
export type MarkupNode =
  | { type: 'text'; text: string }
  | { type: 'link'; text: string; href: string }
  | { type: 'mention'; text: string }
  /** `mark` is the marker on both sides. */
  | { type: 'code'; mark: '`' | '```'; text: string }
  | { type: Style; mark: string; children: MarkupNode[] }

const styles: ReadonlyMap<string, Style> = new Map([
  ['*', 'bold'],
  ['_', 'italic'],
  ['~', 'struck'],
])

/**
 * Parses markup as phones show it: `*bold*`, `_italic_`, `~strikethrough~`, code between backticks, links, and names
 * mentioned by `@`. Runs in linear time for any input.
 */
export function parseMarkup(text: string, names: readonly string[] = []): MarkupNode[] {
  const reader = newReader()
  for (const { text: part, mark } of splitCode(text)) {
    if (mark !== null) reader.add({ type: 'code', mark, text: part })
    else parseText(reader, part, names)
  }
  return reader.end()
}

const hasMarks = /[*_~`]/

/** Returns the text without markup, for single-line previews. */
export function stripMarkup(text: string): string {
  return hasMarks.test(text) ? textOf(parseMarkup(text)) : text
}

const textOf = (pieces: readonly MarkupNode[]): string =>
  pieces.map((piece) => ('children' in piece ? textOf(piece.children) : piece.text)).join('')

interface CodePart {
  text: string
  mark: '`' | '```' | null
}

/** Splits code between backticks from other text. Three backticks may span lines. */
function splitCode(text: string): CodePart[] {
  const parts: CodePart[] = []
  let [start, hasFence] = [0, true]
  for (let at = text.indexOf('`'); at !== -1; at = text.indexOf('`', at)) {
    const isFence = hasFence && text.startsWith('```', at)
    const mark = isFence ? '```' : '`'
    const end = text.indexOf(mark, at + mark.length)
    if (isFence && end === -1) hasFence = false
    const inside = end === -1 ? '' : text.slice(at + mark.length, end)
    if (inside.trim() === '' || (!isFence && inside.includes('\n'))) {
      // Skips a whole fence without an end, so that a long run of backticks is not searched again for each of them.
      at += isFence && end !== -1 ? mark.length : 1
      continue
    }
    if (at > start) parts.push({ text: text.slice(start, at), mark: null })
    parts.push({ text: inside, mark })
    start = at = end + mark.length
  }
  if (start < text.length) parts.push({ text: text.slice(start), mark: null })
  return parts
}

function parseText(reader: Reader, text: string, names: readonly string[]): void {
  for (const { text: part, href } of parseLinks(text)) {
    if (href !== undefined) reader.add({ type: 'link', text: part, href })
    else for (const one of mentionsIn(part, names)) parseMarks(reader, one)
  }
}

/** Splits text at mentions. If one name starts with another, the longer one wins. */
function mentionsIn(text: string, names: readonly string[]): (string | { name: string })[] {
  if (names.length === 0) return [text]
  const byLength = names.toSorted((a, b) => b.length - a.length)
  const parts: (string | { name: string })[] = []
  let start = 0
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const name = byLength.find((one) => text.startsWith(one, at + 1) && !isWordAt(text, at + 1 + one.length))
    if (name === undefined) continue
    if (at > start) parts.push(text.slice(start, at))
    parts.push({ name: `@${name}` })
    start = at + 1 + name.length
  }
  if (start < text.length) parts.push(text.slice(start))
  return parts
}

function parseMarks(reader: Reader, part: string | { name: string }): void {
  if (typeof part !== 'string') {
    reader.add({ type: 'mention', text: part.name })
    return
  }
  for (const word of part.split(/([*_~\n])/)) {
    if (word === '\n') reader.endLine()
    else if (styles.has(word)) reader.mark(word)
    else if (word !== '') reader.add({ type: 'text', text: word })
  }
}

type Reader = ReturnType<typeof newReader>

/** An opening marker without a closing one yet: its index among the nodes, and whether text follows directly. */
interface OpenMark {
  mark: string
  at: number
}

function newReader() {
  const done: MarkupNode[] = []
  let line: MarkupNode[] = []
  let open: OpenMark[] = []
  // A marker is held back until the next character shows whether it opens, closes or is plain text.
  let waiting: string | null = null
  let before = ''

  const put = (piece: MarkupNode) => {
    line.push(piece)
    before = sourceEnd(piece)
  }
  const decide = (next: string) => {
    const mark = waiting
    waiting = null
    if (mark === null) return
    const opened = open.findLastIndex((one) => one.mark === mark)
    if (opened !== -1 && closes(before, next) && (open[opened]?.at ?? 0) + 1 < line.length) return close(opened, mark)
    if (opened === -1 && opens(before, next)) open.push({ mark, at: line.length })
    put({ type: 'text', text: mark })
  }
  const close = (opened: number, mark: string) => {
    const { at = 0 } = open[opened] ?? {}
    const children = mergeText(line.slice(at + 1))
    line.length = at
    open.length = opened
    put({ type: styles.get(mark) ?? 'bold', mark, children })
    before = mark
  }
  const endLine = () => {
    decide('')
    for (const piece of line) done.push(piece)
    line = []
    open = []
    before = ''
  }
  return {
    add: (piece: MarkupNode) => {
      decide(sourceStart(piece))
      put(piece)
    },
    mark: (mark: string) => {
      decide(mark)
      waiting = mark
    },
    endLine: () => {
      endLine()
      done.push({ type: 'text', text: '\n' })
    },
    end: (): MarkupNode[] => {
      endLine()
      return mergeText(done)
    },
  }
}

const opens = (before: string, next: string): boolean => !isWord(before) && next !== '' && !/^\s/.test(next)
const closes = (before: string, next: string): boolean => !/\s$/.test(before) && before !== '' && !isWord(next)

const isWord = (sign: string): boolean => /^[\p{L}\p{N}]/u.test(sign)
const isWordAt = (text: string, at: number): boolean => isWord(String.fromCodePoint(text.codePointAt(at) ?? 32))

function sourceStart(piece: MarkupNode): string {
  if (piece.type === 'code') return piece.mark
  return 'text' in piece ? String.fromCodePoint(piece.text.codePointAt(0) ?? 32) : piece.mark
}

function sourceEnd(piece: MarkupNode): string {
  if (piece.type === 'code') return piece.mark
  if (!('text' in piece)) return piece.mark
  // The last character may be a surrogate pair.
  return [...piece.text.slice(-2)].at(-1) ?? ''
}

/** Merges adjacent text nodes. */
function mergeText(pieces: readonly MarkupNode[]): MarkupNode[] {
  const all: MarkupNode[] = []
  for (const piece of pieces) {
    const last = all.at(-1)
    if (piece.type === 'text' && last?.type === 'text') last.text += piece.text
    else all.push({ ...piece })
  }
  return all
}
