import type { Span } from './words.ts'

/** A stretch of a text, and whether it is what was looked for. */
export interface Shown {
  text: string
  isHit: boolean
}

const [before, length] = [40, 160]
/** Of more hits than these the others are shown as the rest is. */
const maxHits = 20
export const [maxStretches, maxStretchLength] = [2 * maxHits + 3, 2 * length]

/** What stands around the first hit in a text, in one line, cut between words where that is near. */
export function snippetOf(text: string, hits: readonly Span[]): Shown[] {
  const first = hits[0]?.from ?? 0
  const from = first <= before ? 0 : wordBegin(text, first - before, first)
  const to = from + length >= text.length ? text.length : wordEnd(text, from + length)
  const shown: Shown[] = from === 0 ? [] : [{ text: '…', isHit: false }]
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
