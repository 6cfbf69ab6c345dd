import { shortWords } from '../../../base/text/search-text.ts'
import type { Searchable, SearchLines, SearchTerm } from '../../lead/search-lines.ts'
import { isWordTerm, maskedLines, searchLines } from '../../lead/search-lines.ts'

// A mark begins every line. Folded text has no control characters, so no term reaches from one line into the next, and
// the beginning of a plain column can be looked for like any text.
export const plainMark = 1
const personalMark = 2
export const phoneMark = 3
/** Stands before the mark of a line that a masked reader's search does not look at. */
export const hiddenMark = 4
/** Stands on either side of each short word of the name. */
export const wordMark = 5

const plain = String.fromCharCode(plainMark)
const personal = String.fromCharCode(personalMark)
const phone = String.fromCharCode(phoneMark)
const hidden = String.fromCharCode(hiddenMark)
const word = String.fromCharCode(wordMark)

/** What is searched of a lead, in one text. */
export function leadText(lead: Searchable): string {
  const lines = searchLines(lead)
  return indexedText(lines, maskedLines(lead, lines))
}

/** What a masked reader's search looks at is part of what others' does: only pieces of its own are added. */
function indexedText(lines: SearchLines, shown = lines): string {
  const markOf = (line: string, mark: string, isShown: boolean) => (isShown ? '' : hidden) + mark + line
  let text = ''
  for (const line of lines.personal) text += markOf(line, personal, shown.personal.includes(line))
  if (shown.personal !== lines.personal) {
    for (const piece of shown.personal) if (!lines.personal.includes(piece)) text += personal + piece
  }
  if (lines.phone !== '') text += markOf(lines.phone, phone, false)
  for (const line of lines.otherPhones) text += markOf(line, phone, false)
  for (const line of lines.plain) text += markOf(line, plain, shown.plain.includes(line))
  return text + wordsText(shortWords(lines.name), shown.name === lines.name ? null : shortWords(shown.name))
}

/** The short words of a name, each between marks, so that a whole word can be looked for like any text. */
function wordsText(words: readonly string[], shown: readonly string[] | null): string {
  const seen = shown === null ? words : words.filter((each) => shown.includes(each))
  const unseen = shown === null ? [] : words.filter((each) => !shown.includes(each))
  const text = seen.length === 0 ? '' : `${word}${seen.join(word)}${word}`
  return text + unseen.map((each) => hidden + word + each + word).join('')
}

/** Bytes that a lead's text must hold for the term to match, in any of its lines or in those that are said. */
export interface Pattern {
  bytes: Buffer
  /** For each byte: how far it allows to move on, when it stands where the last of these bytes should (Horspool). */
  skips: Uint8Array
  within: 'all' | 'phone' | 'shown'
}

/** A lead matches a term when it matches one of these. */
export function patternsOf(term: SearchTerm): Pattern[] {
  const within = term.masked ? 'shown' : 'all'
  if (isWordTerm(term)) return [plain + term.text, word + term.text + word].map((text) => patternOf(text, within))
  const text = patternOf(term.text, within)
  return [text, ...term.digits.map((digits) => patternOf(digits, 'phone'))]
}

function patternOf(text: string, within: Pattern['within']): Pattern {
  const bytes = Buffer.from(text)
  const skips = new Uint8Array(256).fill(Math.min(bytes.length, 255))
  for (const [at, byte] of bytes.subarray(0, -1).entries()) skips[byte] = Math.min(bytes.length - 1 - at, 255)
  return { bytes, skips, within }
}
