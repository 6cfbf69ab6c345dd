import { maskPhone } from './phone.ts'

/**
 * What a reader who sees phones masked sees of one customer. The mask is a boundary: what is shown of a text follows from that
 * text and from what the reader sees of the phone anyway, never from its hidden digits. Else a reader could write a guess
 * into one of the fields and see by its mask whether it is right.
 */
export interface Mask {
  phone: string | null
  /** A field whose values are phones. */
  number(text: string): string
  /** A name is no number: one that is nothing else is masked, and so is every number within it. */
  name(text: string): string
  /** A field that is free: a phone when it is nothing but a number. */
  value(text: string): string
  /** Any other text: hidden is what may be the customer's own number. */
  text(text: string): string
  /** What others know the customer by, and need whole: hidden is what may be most of the number. */
  reference(text: string): string
}

const wholeNumber = /^[+\p{Nd}\s.()[\]/\p{Pd}\u2212]+$/u
const numberRun = /\p{Nd}(?:[^\p{L}\p{N}]{0,3}\p{Nd})+/gu
const isoDate = /^\d{4}-\d\d-\d\d$/
const minPhoneDigits = 8
/** So many tell a digit that the phone hides. */
const minOwnDigits = 4
/** So many are a number where people dial no area code. */
const minOwnDigitsOfReference = 7
/** National numbers have fewer digits: so many begin with a country code. */
const minCompleteDigits = 12
const shownLast = 3

export function maskOf(phone: string | null): Mask {
  const ownMask = phone === null ? null : maskPhone(phone)
  const end = ownMask?.slice(-shownLast) ?? null
  // Two spellings of one number would show different parts of it.
  const shown = ownMask === null ? [] : [ownMask]
  const holdsEnd = (digits: string, from: number) => end !== null && digits.indexOf(end, from) >= 0

  const maskNumber = (text: string): string => {
    const digits = digitsOf(text).replace(/^00/, '')
    if (!/^\d+$/.test(digits)) return stars(digits)
    const mask = maskPhone(digits)
    if (shown.includes(mask)) return mask
    const mayBeShown = shown.some((other) => other.slice(-shownLast) === digits.slice(-shownLast))
    if (mayBeShown || !isComplete(text, digits)) return stars(digits.slice(0, -shownLast)) + digits.slice(-shownLast)
    shown.push(mask)
    return mask
  }
  const hideRuns = (text: string, minDigits: number, isHidden: (digits: string) => boolean): string => {
    if (!hasDigits(text, minDigits)) return text
    const plain = plainOf(text)
    const hidden = plain.replace(numberRun, (run) => (isHidden(digitsOf(run)) ? run.replace(/\p{Nd}/gu, '*') : run))
    return hidden === plain ? text : hidden
  }
  const isOwn = (digits: string, minDigits: number) =>
    digits.length >= minDigits && holdsEnd(digits, minDigits - shownLast)
  const hideOwn = (text: string, minDigits: number) => {
    if (isNumber(text) && isOwn(digitsOf(plainOf(text)), minDigits)) return maskNumber(plainOf(text))
    return hideRuns(text, minDigits, (digits) => isOwn(digits, minDigits))
  }

  return {
    phone: ownMask,
    number: (text) => (isNumber(text) ? maskNumber(plainOf(text)) : hideRuns(text, 1, () => true)),
    name: (text) =>
      isNumber(text)
        ? maskNumber(plainOf(text))
        : hideRuns(text, minOwnDigits, (digits) => digits.length >= minPhoneDigits || isOwn(digits, minOwnDigits)),
    value: (text) => (isNumber(text) && !isoDate.test(text) ? maskNumber(plainOf(text)) : hideOwn(text, minOwnDigits)),
    text: (text) => hideOwn(text, minOwnDigits),
    reference: (text) => hideOwn(text, minOwnDigitsOfReference),
  }
}

/** Numbers in running text, such as the notices of a platform, which name them: "… changed from … to …". */
export function maskNumbersIn(text: string): string {
  return text.replace(noticeNumber, (run) => maskPhone(run.replace(/\D/g, '')))
}

const noticeNumber = /\+?\d(?:[\s.()/-]{0,2}\d){7,19}/g

// What is written wide, in small digits or with invisible characters in between is a number all the same.
const plainOf = (text: string): string => (ascii.test(text) ? text : text.normalize('NFKC').replace(/\p{Cf}/gu, ''))

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ascii = /^[\x00-\x7f]*$/

const digitsOf = (text: string): string => text.replace(/\P{Nd}/gu, '')

function isNumber(text: string): boolean {
  if (!hasDigits(text, minPhoneDigits)) return false
  const plain = plainOf(text)
  return wholeNumber.test(plain) && digitsOf(plain).length >= minPhoneDigits
}

/** Whether there may be so many digits: most texts have fewer, and need not be looked at closer. */
function hasDigits(text: string, count: number): boolean {
  let digits = 0
  for (let at = 0; at < text.length && digits < count; at++) {
    const code = text.charCodeAt(at)
    if ((code >= 48 && code <= 57) || code > 127) digits++
  }
  return digits >= count
}

const isComplete = (text: string, digits: string): boolean =>
  digits.length >= minCompleteDigits || text.includes('+') || digitsOf(text).startsWith('00')

const stars = (digits: string): string => '*'.repeat([...digits].length)
