import { parseLinks } from './link-rules.ts'

export type Style = 'bold' | 'italic' | 'struck'

/** A piece of a message as it is drawn. Nothing of it is HTML: what has no meaning here stays the text that it is. */
export type MarkupNode =
  | { type: 'text'; text: string }
  | { type: 'link'; text: string; href: string }
  | { type: 'mention'; text: string }
  /** `mark` is what stands on both sides of it. */
  | { type: 'code'; mark: '`' | '```'; text: string }
  | { type: Style; mark: string; pieces: MarkupNode[] }

const styles: ReadonlyMap<string, Style> = new Map([
  ['*', 'bold'],
  ['_', 'italic'],
  ['~', 'struck'],
])

/**
 * Reads a message as people's phones show it: `*bold*`, `_italic_`, `~struck~`, code between backticks, links, and the
 * names that a note mentions by `@`. Takes as many steps as the text is long, whatever is written.
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

/** The words alone, for where there is one line of them. */
export function stripMarkup(text: string): string {
  return hasMarks.test(text) ? textOf(parseMarkup(text)) : text
}

const textOf = (pieces: readonly MarkupNode[]): string =>
  pieces.map((piece) => ('pieces' in piece ? textOf(piece.pieces) : piece.text)).join('')

interface CodePart {
  text: string
  mark: '`' | '```' | null
}

/** What stands between backticks, and what does not. Three of them go over lines. */
function splitCode(text: string): CodePart[] {
  const parts: CodePart[] = []
  let [begun, hasFence] = [0, true]
  for (let at = text.indexOf('`'); at !== -1; at = text.indexOf('`', at)) {
    const isFence = hasFence && text.startsWith('```', at)
    const mark = isFence ? '```' : '`'
    const end = text.indexOf(mark, at + mark.length)
    if (isFence && end === -1) hasFence = false
    const inside = end === -1 ? '' : text.slice(at + mark.length, end)
    if (inside.trim() === '' || (!isFence && inside.includes('\n'))) {
      // So many have no words between them that each alone would be looked past again and again.
      at += isFence && end !== -1 ? mark.length : 1
      continue
    }
    if (at > begun) parts.push({ text: text.slice(begun, at), mark: null })
    parts.push({ text: inside, mark })
    begun = at = end + mark.length
  }
  if (begun < text.length) parts.push({ text: text.slice(begun), mark: null })
  return parts
}

function parseText(reader: Reader, text: string, names: readonly string[]): void {
  for (const { text: part, href } of parseLinks(text)) {
    if (href !== undefined) reader.add({ type: 'link', text: part, href })
    else for (const one of mentionsIn(part, names)) parseMarks(reader, one)
  }
}

/** Of two names of which one begins the other, the longer counts. */
function mentionsIn(text: string, names: readonly string[]): (string | { name: string })[] {
  if (names.length === 0) return [text]
  const byLength = names.toSorted((a, b) => b.length - a.length)
  const parts: (string | { name: string })[] = []
  let begun = 0
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    const name = byLength.find((one) => text.startsWith(one, at + 1) && !isWordAt(text, at + 1 + one.length))
    if (name === undefined) continue
    if (at > begun) parts.push(text.slice(begun, at))
    parts.push({ name: `@${name}` })
    begun = at + 1 + name.length
  }
  if (begun < text.length) parts.push(text.slice(begun))
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

/** An opening mark, until its closing one is found: where it is among the pieces, and whether words came right after it. */
interface Open {
  mark: string
  at: number
}

function newReader() {
  const done: MarkupNode[] = []
  let line: MarkupNode[] = []
  let open: Open[] = []
  // A mark waits for what follows it, by which it opens, closes or is a sign like others.
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
    const pieces = mergeText(line.slice(at + 1))
    line.length = at
    open.length = opened
    put({ type: styles.get(mark) ?? 'bold', mark, pieces })
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
  // The last sign may be two halves.
  return [...piece.text.slice(-2)].at(-1) ?? ''
}

/** Texts beside each other are one. */
function mergeText(pieces: readonly MarkupNode[]): MarkupNode[] {
  const all: MarkupNode[] = []
  let words: string[] = []
  const flush = () => {
    if (words.length > 0) all.push({ type: 'text', text: words.join('') })
    words = []
  }
  for (const piece of pieces) {
    if (piece.type === 'text') words.push(piece.text)
    else {
      flush()
      all.push(piece)
    }
  }
  flush()
  return all
}
