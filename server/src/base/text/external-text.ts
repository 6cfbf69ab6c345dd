// Normalization of external text, shared by everything that stores, searches, hides or shows it.

/** For a character class with flag `u` or `v`: invisible characters except white space and control characters. */
export const invisible = String.raw`\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800`

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ascii = /^[\x00-\x7f]*$/
const allInvisible = new RegExp(`[${invisible}]+`, 'gu')
const visible = new RegExp(`[^\\p{White_Space}\\p{Cc}${invisible}]`, 'u')
const foreignDigits = /(?![0-9])\p{Nd}/gu
const digit = /^\p{Nd}$/u
const apostrophes = /['\u00b4`\u02b9-\u02bd\u02c8\u02ca\u02cb\u055a\u05f3\u2018-\u201b\u2032\u2035\ua78c\uff07]/gu
const quotes = /[\u00ab\u00bb\u02ba\u05f4\u201c-\u201f\u2033\u2036\u2039\u203a\u300c-\u300f\u301d-\u301f\uff02]/gu
const dashes = /[\p{Pd}\u02d7\u2043\u2212]/gu

const isAscii = (text: string): boolean => ascii.test(text)

/** Returns true if a text has no visible character. */
export const isBlank = (text: string): boolean => !visible.test(text)

/** Removes invisible characters, and normalizes character widths and the digits of all scripts. */
export function normalizeText(text: string): string {
  return isAscii(text) ? text : normalizeDigits(text.normalize('NFKC').replace(allInvisible, ''))
}

/** Replaces all kinds of apostrophes, quotation marks and hyphens by those of a keyboard. */
export function normalizePunctuation(text: string): string {
  if (isAscii(text)) return text.includes('`') ? text.replaceAll('`', "'") : text
  return text.replace(apostrophes, "'").replace(quotes, '"').replace(dashes, '-')
}

/** Replaces the digits of all scripts by 0 to 9. Unicode has the ten digits of a script in sequence. */
export function normalizeDigits(text: string): string {
  return text.replace(foreignDigits, (character) => {
    const code = character.codePointAt(0) ?? 0
    let before = 0
    while (digit.test(String.fromCodePoint(code - before - 1))) before++
    return String(before % 10)
  })
}

/**
 * Returns true if a text has more than `max` characters, counted like a schema's `maxLength`: one for an emoji of two
 * code units. Does not iterate over very long texts.
 */
function isLonger(text: string, max: number): boolean {
  return text.length > max && (text.length > 2 * max || [...text].length > max)
}

/** Returns the problem if a text is too long, otherwise null. */
export function lengthProblem(text: string, max: number): string | null {
  return isLonger(text, max) ? `must have at most ${max} characters` : null
}
