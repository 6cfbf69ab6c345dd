import { shortWords } from '../../../base/text/search-text.ts'
import type { Searchable, SearchLines, SearchTerm } from '../../lead/search-lines.ts'
import { isWordTerm, maskedLines, searchLines } from '../../lead/search-lines.ts'

// A mark starts every line. Folded text has no control characters, so no term spans lines, and the start of a plain
// column can be searched for like any text.
export const plainMark = 1
const personalMark = 2
export const phoneMark = 3
/** Precedes the mark of a line that is hidden from masked readers. */
export const hiddenMark = 4
/** Surrounds each short word of the name. */
export const wordMark = 5

const plain = String.fromCharCode(plainMark)
const personal = String.fromCharCode(personalMark)
const phone = String.fromCharCode(phoneMark)
const hidden = String.fromCharCode(hiddenMark)
const word = String.fromCharCode(wordMark)

/** Returns the searchable text of a lead in one string. */
export function leadText(lead: Searchable): string {
  const lines = searchLines(lead)
  return indexedText(lines, maskedLines(lead, lines))
}

/** Adds the lines; a masked reader searches a subset of them, plus pieces of masked names. */
function indexedText(lines: SearchLines, visible = lines): string {
  const markOf = (line: string, mark: string, isShown: boolean) => (isShown ? '' : hidden) + mark + line
  let text = ''
  for (const line of lines.personal) text += markOf(line, personal, visible.personal.includes(line))
  if (visible.personal !== lines.personal) {
    for (const piece of visible.personal) if (!lines.personal.includes(piece)) text += personal + piece
  }
  if (lines.phone !== '') text += markOf(lines.phone, phone, false)
  for (const line of lines.otherPhones) text += markOf(line, phone, false)
  for (const line of lines.plain) text += markOf(line, plain, visible.plain.includes(line))
  return text + wordsText(shortWords(lines.name), visible.name === lines.name ? null : shortWords(visible.name))
}

/** Returns the short words of a name, each between marks, so that a whole word can be searched for like any text. */
function wordsText(words: readonly string[], visible: readonly string[] | null): string {
  const seen = visible === null ? words : words.filter((each) => visible.includes(each))
  const hiddenWords = visible === null ? [] : words.filter((each) => !visible.includes(each))
  const text = seen.length === 0 ? '' : `${word}${seen.join(word)}${word}`
  return text + hiddenWords.map((each) => hidden + word + each + word).join('')
}

/** Bytes to find in a lead's text, in any line or in lines of one kind. */
export interface Pattern {
  bytes: Buffer
  /** Shift per byte for Boyer–Moore–Horspool search. */
  skips: Uint8Array
  within: 'all' | 'phone' | 'shown'
}

/** Returns the patterns of a term; a lead matches if it contains one of them. */
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
