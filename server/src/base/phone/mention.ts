import type { ErasedCustomer } from '../erasure.ts'

/** Digits of a number that stay the same in all its variants. */
const tailLength = 8

/** The longest that a phone or an e-mail can be in a text, with formatting. */
export const longestMention = 512

/**
 * Tells whether a text names the customer by phone, however it is formatted, or by e-mail. Looks at the last eight digits:
 * rather one text too many than one too few. E-mails are taken letter by letter, so the text may as well be Latin-1 of UTF-8.
 */
export function mentionFinder({ phones, emails, knownEmails }: ErasedCustomer): (text: string) => boolean {
  const tails = [...new Set(phones.map((phone) => phone.slice(-tailLength)))]
  const asText = [...emails, ...knownEmails].map((email) => email.toLowerCase())
  const asBytes = asText.map((email) => Buffer.from(email).toString('latin1').toLowerCase())
  const spellings = [...new Set([...asText, ...asBytes])]
  return (text) => {
    const lower = text.toLowerCase()
    if (spellings.some((spelling) => lower.includes(spelling))) return true
    if (tails.length === 0) return false
    const digits = text.replace(/[ ()./\-\u00a0\u00c2]/g, '')
    return tails.some((tail) => digits.includes(tail))
  }
}
