import { cutUnspaced, foldText } from '../../base/text/search-text.ts'

/** A word as it is searched, or a stretch of letters of a script that leaves no blanks between words. */
export interface Piece {
  text: string
  isUnspaced: boolean
}

/** With the place in the text that it was made of, in UTF-16 units. */
export interface PositionedPiece extends Piece {
  from: number
  to: number
}

// Letters with what is written over and within them; all else stands between words.
const runs = /[\p{L}\p{N}\p{M}\p{Cf}]+/gu
const betweenWords = /[^\p{L}\p{N}]+/u

/** The words of a text, in order. */
export function piecesOf(text: string): PositionedPiece[] {
  return [...text.matchAll(runs)].flatMap(({ 0: run, index }) => piecesOfRun(run, index))
}

function piecesOfRun(run: string, from: number): PositionedPiece[] {
  const pieces: Piece[] = cutUnspaced(foldText(run)).flatMap((cut) =>
    cut.isUnspaced ? [cut] : wordsOf(cut.text).map((text) => ({ text, isUnspaced: false })),
  )
  // Letters that became others, or several, have no place of their own: the run is theirs.
  const isSameLength = pieces.reduce((length, { text }) => length + text.length, 0) === run.length
  let at = from
  return pieces.map((piece) => {
    const place = isSameLength ? { from: at, to: at + piece.text.length } : { from, to: from + run.length }
    at = place.to
    return { ...piece, ...place }
  })
}

// Compatible forms of a sign may have what stands between words in them, as ½ has.
const wordsOf = (text: string): string[] => text.split(betweenWords).filter((word) => word !== '')

/** Words that have to follow each other. */
export interface Phrase {
  pieces: readonly Piece[]
  /** Whether a word that begins with the last one does as well. */
  isOpen: boolean
}

/** What is looked for: all of these. */
export interface MessageTerm {
  phrases: readonly Phrase[]
}

const quoted = /["“”„«»]([^"“”„«»]*)["“”„«»]|(\S+)/gu
const minPrefix = 3

/**
 * Reads what a person has typed: words that all have to be there, the last of which may go on; in quotes, or without blanks
 * between them, those that follow each other. Null when no word is in it.
 */
export function parseMessageTerm(search: string): MessageTerm | null {
  const phrases: Phrase[] = []
  for (const [, inQuotes, chunk] of search.matchAll(quoted)) {
    const pieces = piecesOf(inQuotes ?? chunk ?? '').map(({ text, isUnspaced }) => ({ text, isUnspaced }))
    if (pieces.length > 0) phrases.push({ pieces, isOpen: inQuotes === undefined })
  }
  const last = phrases.at(-1)
  if (last === undefined) return null
  return { phrases: phrases.map((phrase) => ({ ...phrase, isOpen: phrase === last && matchesPrefix(phrase) })) }
}

function matchesPrefix({ pieces, isOpen }: Phrase): boolean {
  const last = pieces.at(-1)
  return isOpen && last !== undefined && !last.isUnspaced && [...last.text].length >= minPrefix
}

/** A stretch of a text. */
export interface Span {
  from: number
  to: number
}

/** Where the term stands in a text, in order and apart from each other; null when a part of it does not. */
export function findTerm(text: string, { phrases }: MessageTerm): Span[] | null {
  // Most candidates that are none are known by this, which is far less work.
  const folded = foldText(text)
  if (!phrases.every((phrase) => phrase.pieces.every((piece) => folded.includes(piece.text)))) return null
  const pieces = piecesOf(text)
  const found: Span[] = []
  for (const phrase of phrases) {
    const places = pieces.flatMap((_, at) => spanAt(pieces, at, phrase) ?? [])
    if (places.length === 0) return null
    found.push(...places)
  }
  return mergeSpans(found)
}

function spanAt(pieces: readonly PositionedPiece[], at: number, { pieces: wanted, isOpen }: Phrase): Span | null {
  const last = wanted.length - 1
  const span: Span = { from: Number.POSITIVE_INFINITY, to: 0 }
  for (let n = 0; n <= last; n++) {
    const [piece, word] = [pieces[at + n], wanted[n]]
    if (piece === undefined || word === undefined || piece.isUnspaced !== word.isUnspaced) return null
    const place = word.isUnspaced
      ? positionWithin(piece, word.text, n === 0, n === last)
      : piece.text === word.text || (isOpen && n === last && piece.text.startsWith(word.text))
        ? piece
        : null
    if (place === null) return null
    span.from = Math.min(span.from, place.from)
    span.to = place.to
  }
  return span
}

/** Of a stretch without blanks a part is enough, but within a phrase it reaches to where that goes on. */
function positionWithin(
  { text, from, to }: PositionedPiece,
  wanted: string,
  isFirst: boolean,
  isLast: boolean,
): Span | null {
  const at = isLast ? text.indexOf(wanted) : text.length - wanted.length
  if (at < 0 || !text.startsWith(wanted, at) || (!isFirst && at > 0)) return null
  return text.length === to - from ? { from: from + at, to: from + at + wanted.length } : { from, to }
}

function mergeSpans(spans: Span[]): Span[] {
  const inOrder = spans.sort((a, b) => a.from - b.from || a.to - b.to)
  const apart: Span[] = []
  for (const span of inOrder) {
    const before = apart.at(-1)
    if (before !== undefined && span.from < before.to) before.to = Math.max(before.to, span.to)
    else apart.push({ ...span })
  }
  return apart
}

/** A stretch of a text, and whether it is what was looked for. */
interface SnippetPart {
  text: string
  isHit: boolean
}

const [before, length] = [40, 160]
/** Of more hits than these the others are shown as the rest is. */
const maxHits = 20
export const [maxStretches, maxStretchLength] = [2 * maxHits + 3, 2 * length]

/** What stands around the first hit in a text, in one line, cut between words where that is near. */
export function snippetOf(text: string, hits: readonly Span[]): SnippetPart[] {
  const first = hits[0]?.from ?? 0
  const from = first <= before ? 0 : wordBegin(text, first - before, first)
  const to = from + length >= text.length ? text.length : wordEnd(text, from + length)
  const shown: SnippetPart[] = from === 0 ? [] : [{ text: '…', isHit: false }]
  let at = from
  for (const hit of hits.filter((one) => one.from < to).slice(0, maxHits)) {
    const end = Math.min(hit.to, to)
    shown.push({ text: text.slice(at, hit.from), isHit: false }, { text: text.slice(hit.from, end), isHit: true })
    at = end
  }
  shown.push({ text: text.slice(at, to), isHit: false })
  if (to < text.length) shown.push({ text: '…', isHit: false })
  return shown.map(({ text: part, isHit }) => ({ text: inOneLine(part), isHit })).filter((one) => one.text !== '')
}

const near = 20

function wordBegin(text: string, from: number, until: number): number {
  const blank = text.slice(from, Math.min(from + near, until)).search(/\s/)
  return blank === -1 ? letterBegin(text, from) : from + blank + 1
}

function wordEnd(text: string, to: number): number {
  const blanks = [...text.slice(to - near, to).matchAll(/\s/g)]
  const last = blanks.at(-1)?.index
  return last === undefined ? letterBegin(text, to) : to - near + last
}

/** None is cut in two. */
const letterBegin = (text: string, at: number): number => (/[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at - 1 : at)

const inOneLine = (text: string): string => text.slice(0, maxStretchLength).toWellFormed().replaceAll(/\s+/g, ' ')
