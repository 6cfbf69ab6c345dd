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
const marksAndInvisible = /[\p{M}\p{Cf}]+/gu
const specialLetters = new RegExp(`[${Object.keys(plainLetters).join('')}]`, 'g')
const blanks = /[\s\p{Cc}]+/gu
const plainAscii = /^(?:[!-@[-~]+(?: [!-@[-~]+)*)?$/

/**
 * Text as it is searched: without accents, in lower case, with single spaces and no control characters. What is
 * folded already stays as it is.
 */
export function foldText(text: string): string {
  if (plainAscii.test(text)) return text
  return text
    .toWellFormed()
    .normalize('NFKD')
    .replace(marksAndInvisible, '')
    .toLowerCase()
    .replace(specialLetters, (letter) => plainLetters[letter] ?? letter)
    .normalize('NFKD')
    .replace(marksAndInvisible, '')
    .replace(blanks, ' ')
    .trim()
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

// Folded text has no control characters.
const prefixMark = '\u0001'
