import { foldText, splitUnspaced } from '../../base/text/search-text.ts'

/** A word, or a run of letters of a script without spaces between words. */
export interface Piece {
  text: string
  isUnspaced: boolean
}

/** With its position in the source text, in UTF-16 units. */
export interface PositionedPiece extends Piece {
  from: number
  to: number
}

// Letters with combining marks and format characters; everything else separates words.
const runs = /[\p{L}\p{N}\p{M}\p{Cf}]+/gu
const betweenWords = /[^\p{L}\p{N}]+/u

/** Returns the words of a text in order. */
export function piecesOf(text: string): PositionedPiece[] {
  return [...text.matchAll(runs)].flatMap(({ 0: run, index }) => piecesOfRun(run, index))
}

function piecesOfRun(run: string, from: number): PositionedPiece[] {
  const pieces: Piece[] = splitUnspaced(foldText(run)).flatMap((cut) =>
    cut.isUnspaced ? [cut] : wordsOf(cut.text).map((text) => ({ text, isUnspaced: false })),
  )
  // If folding changed the length, positions within the run are unknown and all pieces get the whole run.
  const isSameLength = pieces.reduce((length, { text }) => length + text.length, 0) === run.length
  let at = from
  return pieces.map((piece) => {
    const place = isSameLength ? { from: at, to: at + piece.text.length } : { from, to: from + run.length }
    at = place.to
    return { ...piece, ...place }
  })
}

// Compatibility forms may contain separators, as ½ does.
const wordsOf = (text: string): string[] => text.split(betweenWords).filter((word) => word !== '')

/** Words that must follow each other. */
export interface Phrase {
  pieces: readonly Piece[]
  /** Whether the last word also matches as a prefix. */
  isOpen: boolean
}

/** Parsed search; all phrases must match. */
export interface MessageTerm {
  phrases: readonly Phrase[]
}

const quoted = /["“”„«»]([^"“”„«»]*)["“”„«»]|(\S+)/gu
const minPrefix = 3

/**
 * Parses typed text: all words must occur, the last one also as a prefix; words in quotes or without spaces between
 * them must follow each other. Null if there is no word.
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

export interface Span {
  from: number
  to: number
}

/** Returns the ranges of the term in a text, in order and disjoint; null if a phrase is missing. */
export function findTerm(text: string, { phrases }: MessageTerm): Span[] | null {
  // Rejects most false candidates with far less work.
  const folded = foldText(text)
  if (!phrases.every((phrase) => phrase.pieces.every((piece) => folded.includes(piece.text)))) return null
  const pieces = piecesOf(text)
  const found: Span[] = []
  for (const phrase of phrases) {
    const phraseSpans = pieces.flatMap((_, at) => spanAt(pieces, at, phrase) ?? [])
    if (phraseSpans.length === 0) return null
    found.push(...phraseSpans)
  }
  return mergeSpans(found)
}

function spanAt(pieces: readonly PositionedPiece[], at: number, { pieces: words, isOpen }: Phrase): Span | null {
  const last = words.length - 1
  const span: Span = { from: Number.POSITIVE_INFINITY, to: 0 }
  for (let n = 0; n <= last; n++) {
    const [piece, word] = [pieces[at + n], words[n]]
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

/** Matches part of an unspaced run; within a phrase the part must touch the adjacent words. */
function positionWithin({ text, from, to }: PositionedPiece, expected: string, isFirst: boolean, isLast: boolean) {
  const at = isLast ? text.indexOf(expected) : text.length - expected.length
  if (at < 0 || !text.startsWith(expected, at) || (!isFirst && at > 0)) return null
  return text.length === to - from ? { from: from + at, to: from + at + expected.length } : { from, to }
}

function mergeSpans(spans: Span[]): Span[] {
  const inOrder = spans.sort((a, b) => a.from - b.from || a.to - b.to)
  const merged: Span[] = []
  for (const span of inOrder) {
    const before = merged.at(-1)
    if (before !== undefined && span.from < before.to) before.to = Math.max(before.to, span.to)
    else merged.push({ ...span })
  }
  return merged
}

/** A part of a snippet, and whether it is a match. */
interface SnippetPart {
  text: string
  isHit: boolean
}

const [before, length] = [40, 160]
/** Further hits are not highlighted. */
const maxHits = 20
export const [maxSnippetParts, maxSnippetPartLength] = [2 * maxHits + 3, 2 * length]

/** Returns one line around the first hit, cut between words where possible. */
export function snippetOf(text: string, hits: readonly Span[]): SnippetPart[] {
  const first = hits[0]?.from ?? 0
  const from = first <= before ? 0 : wordBegin(text, first - before, first)
  const to = from + length >= text.length ? text.length : wordEnd(text, from + length)
  const parts: SnippetPart[] = from === 0 ? [] : [{ text: '…', isHit: false }]
  let at = from
  for (const hit of hits.filter((one) => one.from < to).slice(0, maxHits)) {
    const end = Math.min(hit.to, to)
    parts.push({ text: text.slice(at, hit.from), isHit: false }, { text: text.slice(hit.from, end), isHit: true })
    at = end
  }
  parts.push({ text: text.slice(at, to), isHit: false })
  if (to < text.length) parts.push({ text: '…', isHit: false })
  return parts.map(({ text: part, isHit }) => ({ text: inOneLine(part), isHit })).filter((one) => one.text !== '')
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

/** Does not split a surrogate pair. */
const letterBegin = (text: string, at: number): number => (/[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at - 1 : at)

const inOneLine = (text: string): string => text.slice(0, maxSnippetPartLength).toWellFormed().replaceAll(/\s+/g, ' ')
