import type { CountryCode } from 'libphonenumber-js/max'
import { loadLater } from '../load-later.ts'
import { lengthProblem, normalizeText } from '../text/external-text.ts'
import { phoneVariants } from './phone-variants.ts'

const library = loadLater<typeof import('libphonenumber-js/max')>('libphonenumber-js/max')

const minDigits = 8
const maxDigits = 20
/** Includes any formatting; longer texts are not parsed. */
export const maxPhoneLength = 64

/**
 * Parses the 8–20 digits of a phone number, country code first; null if the text is not one. A default country (ISO
 * 3166-1 alpha-2) completes national numbers. Accepts numbers unknown to the numbering plans, which lag behind actual
 * use.
 */
export function parsePhone(text: string, defaultCountry?: string): string | null {
  if (text.length > maxPhoneLength) return null
  const parsedDigits = withoutFormatting(text)
  if (parsedDigits === null) return null
  const digits =
    defaultCountry === undefined || parsedDigits.isInternational || !hasNumberingPlan(defaultCountry)
      ? parsedDigits.digits
      : withCountryCode(parsedDigits.digits, defaultCountry)
  return digits.length >= minDigits && digits.length <= maxDigits ? digits : null
}

/** Shows the first 5 and last 3 digits, or only the last 3 of up to 8 digits. One asterisk per hidden digit. */
export function maskPhone(digits: string): string {
  const shownFirst = digits.length <= minDigits ? 0 : 5
  const hidden = Math.max(0, digits.length - shownFirst - 3)
  return digits.slice(0, shownFirst) + '*'.repeat(hidden) + digits.slice(shownFirst + hidden)
}

/** Whether the numbering plan of a country (ISO 3166-1 alpha-2) is known. */
export const hasNumberingPlan = (country: string): country is CountryCode => library().isSupportedCountry(country)

interface ParsedDigits {
  digits: string
  isInternational: boolean
}

// Linear: each character matches only one part of the expression.
const phoneShape = /^[([\s]*(?:\+[\d\s.()[\]/\p{Pd}\u2212]+|[\d.)\]/\p{Pd}\u2212][\d\s.()[\]/\p{Pd}\u2212]*)$/u

function withoutFormatting(text: string): ParsedDigits | null {
  const plain = withoutDecimals(normalizeText(text).trim())
  if (plain === null || !phoneShape.test(plain)) return null
  const isInternational = plain.includes('+') || plain.replace(/\D/g, '').startsWith('00')
  // In `+44 (0)20 …` the zero is only dialed within the country.
  const digits = (isInternational ? plain.replace(/\(0\)/, '') : plain).replace(/\D/g, '')
  return { digits: isInternational ? digits.replace(/^0+/, '') : digits, isInternational }
}

// Spreadsheets treat phones as numbers: they add decimals, or write long ones with an exponent.
const decimals = /^(?<whole>\+?\d{8,20})[.,](?<decimals>\d{1,4})$/
const exponent = /^(?<first>\d)[.,](?<rest>\d{1,19})E\+?(?<power>\d{1,2})$/i

/** Returns the number without spreadsheet formatting, or null if digits were lost. */
function withoutDecimals(text: string): string | null {
  const number = decimals.exec(text)?.groups
  if (number !== undefined) return /^0+$/.test(number.decimals ?? '') ? (number.whole ?? null) : null
  // No country uses a last group of one digit.
  if (/\d[.,]0$/.test(text)) return text.replace(/(?<![.,]0)(?:[.,]0)+$/, '')
  const short = exponent.exec(text)?.groups
  if (short === undefined) return text.replace(/^'(?=\+?\d)/, '')
  const { first = '', rest = '', power } = short
  return rest.length === Number(power) ? first + rest : null
}

export const phoneMessage =
  "must be a phone number of 8 to 20 digits, with country code unless it is in the workspace's default country"

/** Returns why a text is not a valid phone. */
export function phoneProblem(text: string): string {
  const problem = lengthProblem(text, maxPhoneLength)
  if (problem !== null) return problem
  return spreadsheetNumber.test(text)
    ? `${phoneMessage}: a spreadsheet has shortened this one, so format its column as text and write all digits`
    : phoneMessage
}

const spreadsheetNumber = /^\s*\d+[.,]\d+(?:E\+?\d+)?\s*$/i

/**
 * Returns the digits to search for when someone enters a number or part of one: as typed, without an international
 * prefix, and in every stored form. Empty if it is not a number.
 */
export function searchedDigits(text: string, defaultCountry?: string): string[] {
  if (text.length > maxPhoneLength) return []
  const parsedDigits = withoutFormatting(text)
  if (parsedDigits === null) return []
  const whole = parsePhone(text, defaultCountry)
  const asTyped = normalizeText(text).replace(/\D/g, '')
  return [...new Set([asTyped, parsedDigits.digits, ...(whole === null ? [] : phoneVariants(whole))])]
}

/**
 * Decides whether bare digits are national or have a country code. Order of certainty: a number in the country's own
 * numbering plan, then a valid national number, then a number of another country.
 */
function withCountryCode(digits: string, country: CountryCode): string {
  const parsed = library().parsePhoneNumberFromString(withoutMobilePrefix(digits, country), country)
  if (parsed === undefined) return digits
  const national = parsed.number.slice(1)
  const hasCode = digits.startsWith(parsed.countryCallingCode)
  if (hasCode && isKnownPhone(digits)) return digits
  if (isKnownPhone(national)) return national
  if (hasCode || isKnownPhone(digits)) return digits
  // A number without its area code can't be completed; where area codes exist, a complete one has 10 digits.
  const isWhole = digits.startsWith('0') || (parsed.nationalNumber.length >= 10 && parsed.isPossible())
  // A result that would itself parse as another number is worse than none.
  return isWhole && withCountryCode(national, country) === national ? national : digits
}

// Until 2019 Mexico dialed 01, 044 or 045 before the ten digits; the library dropped this, address books still have it.
function withoutMobilePrefix(digits: string, country: CountryCode): string {
  return country === 'MX' ? digits.replace(/^(?:01|04[45])(?=\d{10}$)/, '') : digits
}

/** Returns true if a numbering plan contains the number, or a former format of it, such as a mobile without its 9. */
export function isKnownPhone(digits: string): boolean {
  return phoneVariants(digits).some(
    (variant) => library().parsePhoneNumberFromString(`+${variant}`)?.isValid() === true,
  )
}

/** Where a phone number belongs, as far as the numbering plans tell. */
export interface PhoneCountry {
  /** ISO 3166-1 alpha-2; null if several countries share the code and none of them has the number. */
  country: string | null
  /** Digits of the country calling code. */
  callingCode: string
}

/** Returns the country of a phone number in digits, country code first; null if no country has the code. */
export function phoneCountry(digits: string): PhoneCountry | null {
  const parsed = library().parsePhoneNumberFromString(`+${digits}`)
  if (parsed === undefined) return null
  return { country: parsed.country ?? null, callingCode: parsed.countryCallingCode }
}
