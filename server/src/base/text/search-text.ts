import { invisible, normalizeDigits, normalizePunctuation } from './external-text.ts'

// Letters that no decomposition takes apart, yet people type without the stroke or the ligature.
const plainLetters: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ŋ: 'n',
  ı: 'i',
  ȷ: 'j',
  ĸ: 'k',
  ς: 'σ',
}
const marksAndUnseen = new RegExp(`[\\p{M}${invisible}]+`, 'gu')
const specialLetters = new RegExp(`[${Object.keys(plainLetters).join('')}]`, 'g')
const blanks = /[\s\p{Cc}]+/gu
const printableAscii = /^[ -~]*$/
const plainAscii = /^(?:[!-@[-~]+(?: [!-@[-~]+)*)?$/

/**
 * Text as it is searched: without accents, in lower case, with single spaces and no control characters, with the digits and the
 * apostrophe, quotation mark and hyphen of every keyboard. What is folded already stays as it is.
 */
export function foldText(text: string): string {
  if (plainAscii.test(text)) return normalizePunctuation(text)
  if (printableAscii.test(text)) return normalizePunctuation(text.toLowerCase()).replace(blanks, ' ').trim()
  // Some marks would fall apart into a blank and an accent.
  const letters = normalizePunctuation(text.toWellFormed())
    .normalize('NFKD')
    .replace(marksAndUnseen, '')
    .toLowerCase()
    .replace(specialLetters, (letter) => plainLetters[letter] ?? letter)
    .normalize('NFKD')
    .replace(marksAndUnseen, '')
  return normalizePunctuation(normalizeDigits(letters)).replace(blanks, ' ').trim()
}

/** Every run of three code points of a folded line, as often as it occurs; none when the line is shorter. */
export function grams(line: string): string[] {
  const found: string[] = []
  if (plainAscii.test(line)) {
    for (let at = 0; at + 3 <= line.length; at++) found.push(line.slice(at, at + 3))
    return found
  }
  let [first, second] = ['', '']
  for (const third of line) {
    if (first !== '') found.push(first + second + third)
    first = second
    second = third
  }
  return found
}

/**
 * The first code point and the first two of a folded line, marked so that they are no grams. Only for columns that
 * are stored in plain text: so few values are possible that a token would give the letters away.
 */
export function shortPrefixes(line: string): string[] {
  const [first, second] = line
  if (first === undefined) return []
  return second === undefined ? [prefixMark + first] : [prefixMark + first, prefixMark + first + second]
}

/** Each word of one or two code points of a folded line, once: of letters and digits, or whatever stands between blanks. */
export function shortWords(line: string): string[] {
  if (!mayHaveShortWord.test(line)) return []
  const words = [...line.split(' '), ...line.split(betweenWords)]
  return [...new Set(words.filter((word) => word !== '' && [...word].length <= 2))]
}

/** A short word as a piece that is no gram. */
export const shortWordPiece = (word: string): string => wordMark + word

/** Whether a folded text has a letter of a script that leaves no blanks between words: its words cannot be told apart. */
export const isUnspaced = (text: string): boolean => !plainAscii.test(text) && unspaced.test(text)

/** A folded text cut where such a script begins or ends, in order. */
export function cutUnspaced(text: string): { text: string; isUnspaced: boolean }[] {
  if (!isUnspaced(text)) return text === '' ? [] : [{ text, isUnspaced: false }]
  const cuts: { text: string; isUnspaced: boolean }[] = []
  for (const letter of text) {
    const [last, of] = [cuts.at(-1), unspaced.test(letter)]
    if (last?.isUnspaced === of) last.text += letter
    else cuts.push({ text: letter, isUnspaced: of })
  }
  return cuts
}

/**
 * Pieces of a folded line with letters of such a script: every run of two Chinese characters, and a mark that says that
 * there are such letters. The other scripts have so few letters that runs of two would give them away.
 */
export function unspacedPieces(line: string): string[] {
  return isUnspaced(line) ? [unspacedMark, ...chinesePairs(line)] : []
}

/** The piece that every line has in which a text of one or two code points with such a letter occurs. */
export function unspacedPiece(text: string): string {
  return chinesePairs(text)[0] ?? unspacedMark
}

/** Every run of two Chinese characters of a folded line. */
export function chinesePairs(line: string): string[] {
  const letters = [...line]
  return letters.flatMap((second, at) => {
    const first = letters[at - 1]
    return first !== undefined && chinese.test(first) && chinese.test(second) ? [first + second] : []
  })
}

// Most names have none, and are not taken apart.
const mayHaveShortWord = /(?:^|[^\p{L}\p{N}])[^ ]{1,2}(?:[^\p{L}\p{N}]|$)/u
const betweenWords = /[^\p{L}\p{N}'’]+/u
const chinese = /^\p{Script=Han}$/u
const unspaced = new RegExp(
  `[${['Han', 'Bopomofo', 'Hiragana', 'Katakana', 'Hangul', 'Yi', 'Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan']
    .map((script) => `\\p{Script=${script}}`)
    .join('')}]`,
  'u',
)

// Folded text has no control characters.
const prefixMark = '\u0001'
const wordMark = '\u0002'
const unspacedMark = '\u0003'
