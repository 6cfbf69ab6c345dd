import type { SearchLines, SearchTerm } from '../search-lines.ts'
import { minSealedTermLength } from '../search-lines.ts'

// A mark begins every line. Folded text has no control characters, so no term reaches from one line into the next, and
// the beginning of a plain column can be looked for like any text.
export const plainMark = 1
const personalMark = 2
export const phoneMark = 3

const [plain, personal, phone] = [plainMark, personalMark, phoneMark].map((mark) => String.fromCharCode(mark))

/** What is searched of a lead, in one text. */
export function imageText(lines: SearchLines): string {
  let text = ''
  for (const line of lines.personal) text += personal + line
  if (lines.phone !== '') text += phone + lines.phone
  for (const line of lines.plain) text += plain + line
  return text
}

/** Bytes that a lead's text must hold for the term to match; within its phone only, if so said. */
export interface Pattern {
  bytes: Buffer
  /** For each byte: how far it allows to move on, when it stands where the last of these bytes should (Horspool). */
  skips: Uint8Array
  inPhone: boolean
}

/** A lead matches a term when it matches one of these. */
export function patternsOf(term: SearchTerm): Pattern[] {
  const isShort = [...term.text].length < minSealedTermLength
  const text = patternOf(isShort ? plain + term.text : term.text, false)
  return term.digits === null ? [text] : [text, patternOf(term.digits, true)]
}

function patternOf(text: string, inPhone: boolean): Pattern {
  const bytes = Buffer.from(text)
  const skips = new Uint8Array(256).fill(Math.min(bytes.length, 255))
  for (const [at, byte] of bytes.subarray(0, -1).entries()) skips[byte] = Math.min(bytes.length - 1 - at, 255)
  return { bytes, skips, inPhone }
}
