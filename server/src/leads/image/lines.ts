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
  inPhone: boolean
}

/** A lead matches a term when it matches one of these. */
export function patternsOf(term: SearchTerm): Pattern[] {
  const isShort = [...term.text].length < minSealedTermLength
  const text: Pattern = { bytes: Buffer.from(isShort ? plain + term.text : term.text), inPhone: false }
  return term.digits === null ? [text] : [text, { bytes: Buffer.from(term.digits), inPhone: true }]
}
