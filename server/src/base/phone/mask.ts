import { normalizeText } from '../text/external-text.ts'
import { maskPhone } from './phone.ts'

/**
 * What a reader who sees phones masked sees of one customer. The mask is a boundary: what is shown of a text follows from that
 * text and from what the reader may see of the customer's numbers anyway, never from their hidden digits. Else a reader could
 * write a guess into one of the fields and see by its mask whether it is right. Nor does it need to know a number to hide it:
 * what may be most of one is hidden whosever it is, or it would come out with the next change of the phone.
 */
export interface Mask {
  phone: string | null
  /** A field whose values are phones. */
  number(text: string): string
  /** Any other text: hidden is what may be most of a number, and what may be a piece of the customer's own. */
  text(text: string): string
  /** What others know the customer by, and need whole: hidden is what may be most of a number. */
  reference(text: string): string
}

const wholeNumber = /^[+\p{Nd}\s.()[\]/\p{Pd}\u2212]+$/u
const numberRun = /\p{Nd}(?:[^\p{L}\p{N}]{0,3}\p{Nd})+/gu
/** Digits in a row that are no number of anybody. */
const dateOrTime = /^(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:[0-2]\d|3[01])(?:[ T](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)?$/
const minPhoneDigits = 8
/** So many are a number where people dial no area code, and a good part of any. */
const minDigits = 7
/** So many tell a digit that the phone hides. */
const minOwnDigits = 4
/** National numbers have fewer digits: so many begin with a country code. */
const minCompleteDigits = 12
const shownLast = 3

/** The mask for a customer who has this phone, and has or had the others. */
export function maskOf(phone: string | null, others: readonly string[] = []): Mask {
  const ownMask = phone === null ? null : maskPhone(phone)
  const ends = new Set([...(phone === null ? [] : [phone]), ...others].map((number) => number.slice(-shownLast)))
  // Two spellings of one number would show different parts of it.
  const shown = ownMask === null ? [] : [ownMask]

  const maskNumber = (text: string): string => {
    const digits = digitsOf(text).replace(/^00/, '')
    const mask = maskPhone(digits)
    if (shown.includes(mask)) return mask
    const mayBeShown = shown.some((other) => other.slice(-shownLast) === digits.slice(-shownLast))
    if (mayBeShown || !isComplete(text, digits)) {
      return '*'.repeat(digits.length - shownLast) + digits.slice(-shownLast)
    }
    shown.push(mask)
    return mask
  }
  const isOwn = (digits: string) =>
    digits.length >= minOwnDigits && [...ends].some((end) => digits.indexOf(end, minOwnDigits - shownLast) >= 0)
  const hide = (text: string, isHidden: (digits: string) => boolean, mayBeDate = true): string => {
    if (!hasDigits(text)) return text
    const plain = normalizeText(text)
    if (isNumber(plain) && !(mayBeDate && dateOrTime.test(plain))) return maskNumber(plain)
    const hidden = plain.replace(numberRun, (run) => {
      const digits = digitsOf(run)
      const isShown = dateOrTime.test(run) || (digits.length < minDigits && !isHidden(digits))
      return isShown ? run : run.replace(/\d/g, '*')
    })
    return hidden === plain ? text : hidden
  }

  return {
    phone: ownMask,
    number: (text) => hide(text, () => true, false),
    text: (text) => hide(text, isOwn),
    reference: (text) => hide(text, () => false),
  }
}

/** Numbers in running text, such as the notices of a platform, which name them: "… changed from … to …". */
export function maskNumbersIn(text: string): string {
  const plain = normalizeText(text)
  const hidden = plain.replace(noticeNumber, (run) => (dateOrTime.test(run) ? run : maskPhone(digitsOf(run))))
  return hidden === plain ? text : hidden
}

const noticeNumber = /\+?\d(?:[\s.()/-]{0,2}\d){6,19}/g

const digitsOf = (plain: string): string => plain.replace(/\D/g, '')

const isNumber = (plain: string): boolean => wholeNumber.test(plain) && digitsOf(plain).length >= minPhoneDigits

/** Whether there may be enough digits to hide: most texts have fewer, and need not be looked at closer. */
function hasDigits(text: string): boolean {
  let digits = 0
  for (let at = 0; at < text.length && digits < minOwnDigits; at++) {
    const code = text.charCodeAt(at)
    if ((code >= 48 && code <= 57) || code > 127) digits++
  }
  return digits >= minOwnDigits
}

const isComplete = (text: string, digits: string): boolean =>
  digits.length >= minCompleteDigits || text.includes('+') || digitsOf(text).startsWith('00')
