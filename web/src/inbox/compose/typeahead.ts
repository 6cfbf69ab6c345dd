/** A word that is being typed behind `/` or `@`, up to the caret. */
export interface Asked {
  sign: '/' | '@'
  term: string
  /** Where the sign stands. */
  start: number
}

const maxTerm = 40

/** What the text before the caret asks for: `/hou` at the start of a line or behind a space, `@an` likewise. */
export function askedAt(text: string, caret: number, sign: Asked['sign']): Asked | null {
  const before = text.slice(0, caret)
  const start = before.lastIndexOf(sign)
  if (start === -1) return null
  const term = before.slice(start + 1)
  const isWordStart = start === 0 || /\s/.test(before.charAt(start - 1))
  if (!isWordStart || term.length > maxTerm || /[\s/@]/.test(term)) return null
  return { sign, term, start }
}

/** The text with the asked-for word replaced, and where the caret stands then. */
export function putInPlace(
  text: string,
  caret: number,
  { start }: Asked,
  words: string,
): { text: string; caret: number } {
  const rest = text.slice(caret)
  const gap = rest === '' || /^\s/.test(rest) || /\s$/.test(words) ? '' : ' '
  const before = text.slice(0, start) + words + gap
  return { text: before + rest, caret: before.length }
}

/** Letters without case and accents, so that `joao` finds João. */
export const plain = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
