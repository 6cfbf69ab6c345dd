import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max'
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

/** For people to read: `+55 11 98765-4321`. Digits that no plan knows follow the `+` as they are. */
export function formatPhone(digits: string): string {
  const parsed = parsePhoneNumberFromString(`+${digits}`)
  if (parsed === undefined || !parsed.isPossible() || parsed.number !== `+${digits}`) return `+${digits}`
  // Brazil writes a hyphen, which the international form lacks.
  const brazilian = parsed.country === 'BR' ? /^\((\d\d)\) (.+)$/.exec(parsed.formatNational()) : null
  return brazilian ? `+55 ${brazilian[1]} ${brazilian[2]}` : parsed.formatInternational()
}

interface Written {
  digits: string
  isInternational: boolean
}

const invisible = /\p{Cf}/gu
// A text that is none is known to be so in one pass: each character fits one part of the expression alone.
const phoneShape = /^[([\s]*(?:\+[\d\s.()[\]/\p{Pd}\u2212]+|[\d.)\]/\p{Pd}\u2212][\d\s.()[\]/\p{Pd}\u2212]*)$/u

function withoutFormatting(text: string): Written | null {
  const plain = text.normalize('NFKC').replace(invisible, '').trim()
  if (!phoneShape.test(plain)) return null
  const isInternational = plain.includes('+') || plain.replace(/\D/g, '').startsWith('00')
  // In `+44 (0)20 …` the zero is dialled within the country only.
  const digits = (isInternational ? plain.replace(/\(0\)/, '') : plain).replace(/\D/g, '')
  return { digits: isInternational ? digits.replace(/^0+/, '') : digits, isInternational }
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
