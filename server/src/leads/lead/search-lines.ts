import type { Keyring } from '../../base/encryption/keyring.ts'
import { searchedDigits } from '../../base/phone/phone.ts'
import { emailKey, readableDomains } from '../../base/text/email.ts'
import {
  foldText,
  grams,
  isUnspaced,
  shortPrefixes,
  shortWordPiece,
  shortWords,
  unspacedPiece,
  unspacedPieces,
} from '../../base/text/search-text.ts'
import type { Lead } from './lead.ts'
import { maskedFields, maskPerson, type PhoneNumbers } from './present.ts'

export interface Searchable
  extends Pick<Lead, 'firstName' | 'lastName' | 'email' | 'uniqueCode' | 'externalRef'>,
    PhoneNumbers {}

/** Folded search term, and the digits to search for if the term is a formatted phone. */
export interface SearchTerm {
  text: string
  digits: readonly string[]
  /** True if the reader sees masked phones: the search then ignores phones. */
  masked: boolean
}

// Shorter terms match only whole words and the start of plain columns.
const minTextLength = 3

/** Parses a search term; null if nothing is left after folding. */
export function parseSearchTerm(
  search: string,
  masked = false,
  defaultCountry: string | null = null,
): SearchTerm | null {
  const text = foldText(readableDomains(search))
  if (text === '') return null
  const found = masked ? [] : searchedDigits(search, defaultCountry ?? undefined)
  return { text, digits: found.filter((digits) => digits.length >= minTextLength && digits !== text), masked }
}

/**
 * Returns true if the term is too short for a substring search: it matches whole words of names and the start of plain
 * columns. In a script without spaces a word is only a part of a text, so no term is too short.
 */
export const isWordTerm = ({ text }: SearchTerm): boolean => isShort(text) && !isUnspaced(text)

const isShort = (text: string): boolean => [...text].length < minTextLength

/** Folded text that search looks at, one line per field. No line is empty, except the phone of a lead without one. */
export interface SearchLines {
  /** First and last name in one line, so that a full name matches. */
  name: string
  /** Name and e-mails. */
  personal: string[]
  phone: string
  /** Other phones of a merged lead. */
  otherPhones: string[]
  /** uniqueCode and externalRef, which are not encrypted. */
  plain: string[]
}

export function searchLines(lead: Searchable): SearchLines {
  const filled = (lines: string[]) => lines.filter((line) => line !== '')
  const name = foldText(`${lead.firstName} ${lead.lastName ?? ''}`)
  return {
    name,
    personal: filled([name, foldEmail(lead.email ?? ''), ...otherEmails(lead).map(foldEmail)]),
    phone: foldText(lead.phone ?? ''),
    otherPhones: filled(otherPhones(lead).map(foldText)),
    plain: filled([foldText(lead.uniqueCode), foldText(lead.externalRef ?? '')]),
  }
}

const foldEmail = (email: string): string => foldText(readableDomains(email))

export const toList = (value: string | null): string[] => (value === null ? [] : [value])

/** Returns the lead's phone and those it got from merges. */
export const phonesOf = (lead: Pick<Searchable, 'phone' | 'contacts'>): string[] => [
  ...toList(lead.phone),
  ...otherPhones(lead),
]

/** Returns the phones of a merged lead, without its own. */
export const otherPhones = ({ phone, contacts }: Pick<Searchable, 'phone' | 'contacts'>): string[] =>
  (contacts?.phones ?? []).filter((one) => one !== phone)

export const otherEmails = ({ email, contacts }: Pick<Searchable, 'email' | 'contacts'>): string[] =>
  (contacts?.emails ?? []).filter((one) => emailKey(one) !== emailKey(email ?? ''))

/**
 * Returns the search lines for a masked reader: what the reader sees of the lead, without phones and values that are or
 * contain one. The unmasked words of a name stay.
 */
export function maskedLines(unmasked: Searchable, unmaskedLines = searchLines(unmasked)): SearchLines {
  // A masked reader does not see the contacts that a lead got from merges.
  const { contacts, ...lead } = unmasked
  const lines = contacts ? searchLines(lead) : unmaskedLines
  const shown = maskPerson(unmasked)
  if (maskedFields.every((field) => shown[field] === lead[field])) return { ...lines, phone: '' }
  const sameOrNone = (field: 'email' | 'uniqueCode' | 'externalRef') =>
    shown[field] === lead[field] ? lead[field] : null
  const { personal, plain } = searchLines({
    firstName: '',
    lastName: null,
    email: sameOrNone('email'),
    phone: null,
    uniqueCode: sameOrNone('uniqueCode') ?? '',
    externalRef: sameOrNone('externalRef'),
  })
  const pieces = namePieces(lead, shown)
  return { name: pieces.join(' '), personal: [...pieces, ...personal], phone: '', otherPhones: [], plain }
}

function namePieces(lead: Searchable, shown: Searchable): string[] {
  const words = (text: string, isMasked: boolean) => {
    const all = text.split(/[\s\p{Cc}]+/u)
    return (isMasked ? all.map((word) => (word.includes('*') ? maskedGap : word)) : all).join(' ')
  }
  const first = words(shown.firstName, shown.firstName !== lead.firstName)
  const last = words(shown.lastName ?? '', shown.lastName !== lead.lastName)
  const pieces = `${first} ${last}`.split(maskedGap).map(foldText)
  return pieces.filter((piece) => piece !== '')
}

const maskedGap = '\u0000'

/** Version of the rules that create search tokens. Tokens of another version are created again. */
export const tokenRulesVersion = 3

/** Returns the search tokens of a lead. */
export function searchTokens(keyring: Keyring, lead: Searchable): number[] {
  const { name, personal, phone, otherPhones, plain } = searchLines(lead)
  const pieces = [...personal, phone, ...otherPhones, ...plain].flatMap(grams)
  const short = [...plain.flatMap(shortPrefixes), ...shortWords(name).map(shortWordPiece)]
  return keyring.tokens([...pieces, ...short, ...[...personal, ...plain].flatMap(unspacedPieces)])
}

/**
 * Returns sets of tokens; every match has all tokens of one set. There are sets for the term, for its digits if it is a
 * formatted phone, and for both readings of a short term, each for all index key versions during a rotation.
 */
export function termTokens(keyring: Keyring, term: SearchTerm): number[][] {
  const sets = [...termPieces(term.text), ...term.digits.map(grams)]
  return sets.flatMap((pieces) => keyring.indexVersions.map((version) => keyring.tokens(pieces, version)))
}

function termPieces(text: string): string[][] {
  if (!isShort(text)) return [grams(text)]
  return [shortPrefixes(text).slice(-1), [isUnspaced(text) ? unspacedPiece(text) : shortWordPiece(text)]]
}

/** Returns true if the lead matches. Tokens only approximate this: each candidate is decrypted and checked here. */
export function matchesTerm(lead: Searchable, term: SearchTerm): boolean {
  const { name, personal, phone, otherPhones, plain } = term.masked ? maskedLines(lead) : searchLines(lead)
  if (isWordTerm(term)) return plain.some((line) => line.startsWith(term.text)) || shortWords(name).includes(term.text)
  const { digits } = term
  const phones = [phone, ...otherPhones]
  if (phones.some((line) => digits.some((each) => line.includes(each)))) return true
  return [...personal, ...phones, ...plain].some((line) => line.includes(term.text))
}
