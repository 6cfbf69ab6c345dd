import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { Issue } from '../errors.ts'
import { lengthProblem, normalizeText } from '../text/external-text.ts'
import { phoneVariants } from './phone-variants.ts'

const minDigits = 8
const maxDigits = 20
/** Whatever people put between the digits; what is longer is not looked at. */
export const maxPhoneLength = 64

/**
 * The 8–20 digits of a phone number, country code first, or null when the text is not one. With a default country
 * (ISO 3166-1 alpha-2), a number written the national way gets its country code. No number is refused for being
 * unknown to the numbering plans: those lag behind what is in use.
 */
export function readPhone(text: string, defaultCountry?: string): string | null {
  if (text.length > maxPhoneLength) return null
  const written = withoutFormatting(text)
  if (written === null) return null
  const digits =
    defaultCountry === undefined || written.isInternational || !isSupportedCountry(defaultCountry)
      ? written.digits
      : withCountryCode(written.digits, defaultCountry)
  return digits.length >= minDigits && digits.length <= maxDigits ? digits : null
}

/** First 5 and last 3 digits stay; of 8 digits or fewer only the last 3 do. One asterisk for each digit hidden. */
export function maskPhone(digits: string): string {
  const shownFirst = digits.length <= minDigits ? 0 : 5
  const hidden = Math.max(0, digits.length - shownFirst - 3)
  return digits.slice(0, shownFirst) + '*'.repeat(hidden) + digits.slice(shownFirst + hidden)
}

interface Written {
  digits: string
  isInternational: boolean
}

// A text that is none is known to be so in one pass: each character fits one part of the expression alone.
const phoneShape = /^[([\s]*(?:\+[\d\s.()[\]/\p{Pd}\u2212]+|[\d.)\]/\p{Pd}\u2212][\d\s.()[\]/\p{Pd}\u2212]*)$/u

function withoutFormatting(text: string): Written | null {
  const plain = withoutDecimals(normalizeText(text).trim())
  if (plain === null || !phoneShape.test(plain)) return null
  const isInternational = plain.includes('+') || plain.replace(/\D/g, '').startsWith('00')
  // In `+44 (0)20 …` the zero is dialled within the country only.
  const digits = (isInternational ? plain.replace(/\(0\)/, '') : plain).replace(/\D/g, '')
  return { digits: isInternational ? digits.replace(/^0+/, '') : digits, isInternational }
}

// A spreadsheet keeps a number as one to calculate with: it adds decimals, or writes a long one with an exponent.
const decimals = /^(?<whole>\+?\d{8,20})[.,](?<decimals>\d{1,4})$/
const exponent = /^(?<first>\d)[.,](?<rest>\d{1,19})E\+?(?<power>\d{1,2})$/i

/** The number that a program has formatted, or null where it has lost some of it. */
function withoutDecimals(text: string): string | null {
  const number = decimals.exec(text)?.groups
  if (number !== undefined) return /^0+$/.test(number.decimals ?? '') ? (number.whole ?? null) : null
  // No country writes a last group of one digit.
  if (/\d[.,]0$/.test(text)) return text.replace(/(?<![.,]0)(?:[.,]0)+$/, '')
  const short = exponent.exec(text)?.groups
  if (short === undefined) return text.replace(/^'(?=\+?\d)/, '')
  const { first = '', rest = '', power } = short
  return rest.length === Number(power) ? first + rest : null
}

export const phoneMessage = 'must be a phone number of 8 to 20 digits with country code'

/** What is wrong with a text that is no phone. */
export function phoneProblem(text: string): string {
  const problem = lengthProblem(text, maxPhoneLength)
  if (problem !== null) return problem
  return calculated.test(text)
    ? `${phoneMessage}: a spreadsheet has shortened this one, so format its column as text and write all digits`
    : phoneMessage
}

const calculated = /^\s*\d+[.,]\d+(?:E\+?\d+)?\s*$/i

/**
 * What to look for among stored digits when somebody types this, or a part of it: as it is, without what stands before a
 * country code, and as it would be stored. Nothing when it is no number.
 */
export function searchedDigits(text: string, defaultCountry?: string): string[] {
  if (text.length > maxPhoneLength) return []
  const written = withoutFormatting(text)
  if (written === null) return []
  const whole = readPhone(text, defaultCountry)
  const asTyped = normalizeText(text).replace(/\D/g, '')
  return [...new Set([asTyped, written.digits, ...(whole === null ? [] : phoneVariants(whole))])]
}

/**
 * Whether bare digits are a national number or carry a country code already is a guess, the surest first: what is
 * in the numbering plan of the country itself, then as a national number, then of any other country.
 */
function withCountryCode(digits: string, country: CountryCode): string {
  const parsed = parsePhoneNumberFromString(withoutMobilePrefix(digits, country), country)
  if (parsed === undefined) return digits
  const national = parsed.number.slice(1)
  const hasCode = digits.startsWith(parsed.countryCallingCode)
  if (hasCode && isKnownPhone(digits)) return digits
  if (isKnownPhone(national)) return national
  if (hasCode || isKnownPhone(digits)) return digits
  // A number that lacks its area code cannot be completed; where there are area codes, a whole one has 10 digits.
  const isWhole = digits.startsWith('0') || (parsed.nationalNumber.length >= 10 && parsed.isPossible())
  // A guess that would itself be read as another number is worse than none.
  return isWhole && withCountryCode(national, country) === national ? national : digits
}

// Mexico dialled 01, 044 or 045 before the ten digits until 2019; the library forgot them, address books did not.
function withoutMobilePrefix(digits: string, country: CountryCode): string {
  return country === 'MX' ? digits.replace(/^(?:01|04[45])(?=\d{10}$)/, '') : digits
}

/**
 * Whether a numbering plan has it. Old spellings of a number, such as a Brazilian mobile without its ninth digit, count as the
 * number.
 */
export function isKnownPhone(digits: string): boolean {
  return phoneVariants(digits).some((variant) => parsePhoneNumberFromString(`+${variant}`)?.isValid() === true)
}

/** What is wrong with a default country; numbers of one that has no numbering plan would all be read as foreign. */
export function issuesOfCountry(country: string | null | undefined): Issue[] {
  if (country === undefined || country === null || isSupportedCountry(country)) return []
  return [{ path: 'defaultCountry', message: 'must be an ISO 3166-1 code of a country with phone numbers, as in BR' }]
}
