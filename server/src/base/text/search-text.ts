import { invisible, normalizeDigits, normalizePunctuation } from './external-text.ts'

// Letters without a Unicode decomposition that people type without the stroke or ligature.
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
const marksAndInvisible = new RegExp(`[\\p{M}${invisible}]+`, 'gu')
const specialLetters = new RegExp(`[${Object.keys(plainLetters).join('')}]`, 'g')
const spaces = /[\s\p{Cc}]+/gu
const printableAscii = /^[ -~]*$/
const plainAscii = /^(?:[!-@[-~]+(?: [!-@[-~]+)*)?$/

/**
 * Normalizes text for search: without accents, in lower case, with single spaces, without control characters, and with
 * the digits, apostrophe, quotation mark and hyphen of a keyboard. Idempotent.
 */
export function foldText(text: string): string {
  if (plainAscii.test(text)) return normalizePunctuation(text)
  if (printableAscii.test(text)) return normalizePunctuation(text.toLowerCase()).replace(spaces, ' ').trim()
  // Some marks would decompose into a space and an accent.
  const letters = normalizePunctuation(text.toWellFormed())
    .normalize('NFKD')
    .replace(marksAndInvisible, '')
    .toLowerCase()
    .replace(specialLetters, (letter) => plainLetters[letter] ?? letter)
    .normalize('NFKD')
    .replace(marksAndInvisible, '')
  return normalizePunctuation(normalizeDigits(letters)).replace(spaces, ' ').trim()
}

/** Returns every sequence of three code points of a folded text, with repeats; none if it is shorter. */
export function grams(folded: string): string[] {
  const found: string[] = []
  if (plainAscii.test(folded)) {
    for (let at = 0; at + 3 <= folded.length; at++) found.push(folded.slice(at, at + 3))
    return found
  }
  let [first, second] = ['', '']
  for (const third of folded) {
    if (first !== '') found.push(first + second + third)
    first = second
    second = third
  }
  return found
}

/**
 * Returns the first code point and the first two of a folded text, marked to differ from grams. Only for columns stored
 * in plain text: there are so few values that blind-index tokens would reveal them.
 */
export function shortPrefixes(folded: string): string[] {
  const [first, second] = folded
  if (first === undefined) return []
  return second === undefined ? [prefixMark + first] : [prefixMark + first, prefixMark + first + second]
}

/**
 * Returns each distinct word of one or two code points of a folded text: letters and digits, or text between spaces.
 */
export function shortWords(folded: string): string[] {
  if (!mayHaveShortWord.test(folded)) return []
  const words = [...folded.split(' '), ...folded.split(betweenWords)]
  return [...new Set(words.filter((word) => word !== '' && [...word].length <= 2))]
}

/** Returns the token of a short word, marked to differ from grams. */
export const shortWordPiece = (word: string): string => wordMark + word

/** Returns true if a folded text has a letter of a script without spaces, whose words can't be separated. */
export const isUnspaced = (text: string): boolean => !plainAscii.test(text) && unspaced.test(text)

/** Splits a folded text where such a script starts or ends. */
export function splitUnspaced(text: string): { text: string; isUnspaced: boolean }[] {
  if (!isUnspaced(text)) return text === '' ? [] : [{ text, isUnspaced: false }]
  const parts: { text: string; isUnspaced: boolean }[] = []
  for (const letter of text) {
    const [last, of] = [parts.at(-1), unspaced.test(letter)]
    if (last?.isUnspaced === of) last.text += letter
    else parts.push({ text: letter, isUnspaced: of })
  }
  return parts
}

/**
 * Returns tokens of a folded text with letters of such a script: every pair of Chinese characters, and a mark that
 * there are such letters. Other scripts have so few letters that pairs would reveal them.
 */
export function unspacedPieces(folded: string): string[] {
  return isUnspaced(folded) ? [unspacedMark, ...chinesePairs(folded)] : []
}

/** Returns the token common to all texts that contain a text of one or two code points with such a letter. */
export function unspacedPiece(text: string): string {
  return chinesePairs(text)[0] ?? unspacedMark
}

/** Returns every pair of Chinese characters of a folded text. */
export function chinesePairs(folded: string): string[] {
  const letters = [...folded]
  return letters.flatMap((second, at) => {
    const first = letters[at - 1]
    return first !== undefined && chinese.test(first) && chinese.test(second) ? [first + second] : []
  })
}

// Most names have no short words and skip the split.
const mayHaveShortWord = /(?:^|[^\p{L}\p{N}])[^ ]{1,2}(?:[^\p{L}\p{N}]|$)/u
const betweenWords = /[^\p{L}\p{N}'’]+/u
const chinese = /^\p{Script=Han}$/u
const unspaced = new RegExp(
  `[${['Han', 'Bopomofo', 'Hiragana', 'Katakana', 'Hangul', 'Yi', 'Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan']
    .map((script) => `\\p{Script=${script}}`)
    .join('')}]`,
  'u',
)

// Not in folded text, which has no control characters.
const prefixMark = '\u0001'
const wordMark = '\u0002'
const unspacedMark = '\u0003'
