import { normalizeText } from '../text/external-text.ts'
import { maskPhone } from './phone.ts'

/**
 * What a reader without access to phones sees of one customer. The mask is a security boundary: the visible part of a
 * text depends only on that text and on what the reader may see of the customer's numbers, never on hidden digits.
 * Otherwise a reader could write a guess into a field and check it by its mask. Hiding doesn't depend on known numbers:
 * whatever may be most of a number is hidden, so that a later change of the phone reveals nothing.
 */
export interface Mask {
  phone: string | null
  /** Masks a field whose values are phones. */
  number(text: string): string
  /** Masks any other text: whatever may be most of a number, or a part of the customer's own. */
  text(text: string): string
  /** Masks an external reference, which others need complete: only whatever may be most of a number. */
  reference(text: string): string
}

const wholeNumber = /^[+\p{Nd}\s.()[\]/\p{Pd}\u2212]+$/u
const numberRun = /\p{Nd}(?:[^\p{L}\p{N}]{0,3}\p{Nd})+/gu
/** Digit sequences that are not phones. */
const dateOrTime = /^(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:[0-2]\d|3[01])(?:[ T](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)?$/
const minPhoneDigits = 8
/** Length of a number where no area code is dialed, and a large part of any number. */
const minDigits = 7
/** This many digits reveal a digit that the mask hides. */
const minOwnDigits = 4
/** National numbers are shorter, so these have a country code. */
const minCompleteDigits = 12
const shownLast = 3

/** Returns the mask for a customer with this phone and these other or former numbers. */
export function createMask(phone: string | null, others: readonly string[] = []): Mask {
  const ownMask = phone === null ? null : maskPhone(phone)
  const lastDigits = new Set([...(phone === null ? [] : [phone]), ...others].map((number) => number.slice(-shownLast)))
  // Two formats of one number would show different parts of it.
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
    digits.length >= minOwnDigits && [...lastDigits].some((end) => digits.indexOf(end, minOwnDigits - shownLast) >= 0)
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

/** Masks numbers in running text, such as platform notices: "… changed from … to …". */
export function maskNumbersIn(text: string): string {
  const plain = normalizeText(text)
  const hidden = plain.replace(noticeNumber, (run) => (dateOrTime.test(run) ? run : maskPhone(digitsOf(run))))
  return hidden === plain ? text : hidden
}

const noticeNumber = /\+?\d(?:[\s.()/-]{0,2}\d){6,19}/g

const digitsOf = (plain: string): string => plain.replace(/\D/g, '')

const isNumber = (plain: string): boolean => wholeNumber.test(plain) && digitsOf(plain).length >= minPhoneDigits

/** Returns true if the text may have enough digits to hide. Most texts don't, and need no closer check. */
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
