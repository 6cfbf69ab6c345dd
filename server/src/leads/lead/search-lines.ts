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
import type { Lead, LeadContacts } from './lead.ts'
import { maskedFields, maskPerson } from './present.ts'

export type Searchable = Pick<Lead, 'firstName' | 'lastName' | 'email' | 'phone' | 'uniqueCode' | 'externalRef'> & {
  contacts?: LeadContacts | null | undefined
  formerPhones?: string[] | undefined
}

/** A search term, folded; and the digits to look for where it is a phone that is stored in another way. */
export interface SearchTerm {
  text: string
  digits: readonly string[]
  /** Whether the reader sees phones masked: then the search looks at no phone. */
  masked: boolean
}

/** Terms shorter than this are no text that is looked for anywhere. */
const minTextLength = 3

/** The term, or null when nothing is left of it. */
export function readSearchTerm(
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
 * Whether the term is too short to be looked for in the midst of a text: it matches names that have exactly this word, and the
 * plain columns at their start. In a script without blanks a word is no more than a part of a text, so no term is too short.
 */
export const isWordTerm = ({ text }: SearchTerm): boolean => isShort(text) && !isUnspaced(text)

const isShort = (text: string): boolean => [...text].length < minTextLength

/** What search looks at, a line a field, folded; no line is empty but the phone of a lead that has none. */
export interface SearchLines {
  /** First and last name make one line, so that a full name is found. */
  name: string
  /** The name, and the e-mail. */
  personal: string[]
  phone: string
  /** The other phones of a lead that was merged. */
  otherPhones: string[]
  /** uniqueCode and externalRef, which are stored in plain text. */
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

export const listed = (value: string | null): string[] => (value === null ? [] : [value])

/** The lead's phone, and those that it has by a merge. */
export const phonesOf = (lead: Pick<Searchable, 'phone' | 'contacts'>): string[] => [
  ...listed(lead.phone),
  ...otherPhones(lead),
]

/** The phones of a lead that was merged, without its own. */
export const otherPhones = ({ phone, contacts }: Pick<Searchable, 'phone' | 'contacts'>): string[] =>
  (contacts?.phones ?? []).filter((one) => one !== phone)

export const otherEmails = ({ email, contacts }: Pick<Searchable, 'email' | 'contacts'>): string[] =>
  (contacts?.emails ?? []).filter((one) => emailKey(one) !== emailKey(email ?? ''))

/**
 * What the search of a masked reader looks at: what it sees of the lead, without the phone and whatever is or holds one. Of
 * a name the other words stay, each still whole.
 */
export function maskedLines(whole: Searchable, linesOfAll = searchLines(whole)): SearchLines {
  // It sees none of the contacts that a lead has got by a merge.
  const { contacts, ...lead } = whole
  const lines = contacts ? searchLines(lead) : linesOfAll
  const shown = maskPerson(whole)
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
    return (isMasked ? all.map((word) => (word.includes('*') ? gap : word)) : all).join(' ')
  }
  const first = words(shown.firstName, shown.firstName !== lead.firstName)
  const last = words(shown.lastName ?? '', shown.lastName !== lead.lastName)
  const pieces = `${first} ${last}`.split(gap).map(foldText)
  return pieces.filter((piece) => piece !== '')
}

const gap = '\u0000'

/** Counts the changes of what tokens are made: those that were made by other rules are made anew. */
export const tokenRules = 3

/** The tokens under which a lead is found. */
export function searchTokens(keyring: Keyring, lead: Searchable): number[] {
  const { name, personal, phone, otherPhones, plain } = searchLines(lead)
  const pieces = [...personal, phone, ...otherPhones, ...plain].flatMap(grams)
  const short = [...plain.flatMap(shortPrefixes), ...shortWords(name).map(shortWordPiece)]
  return keyring.tokens([...pieces, ...short, ...[...personal, ...plain].flatMap(unspacedPieces)])
}

/**
 * Sets of tokens of which every match has one: for the term, for its digits when it is a formatted phone, for what a short
 * one may be; and the same of each version while the index key is rotated.
 */
export function termTokens(keyring: Keyring, term: SearchTerm): number[][] {
  const sets = [...piecesOf(term.text), ...term.digits.map(grams)]
  return sets.flatMap((pieces) => keyring.indexVersions.map((version) => keyring.tokens(pieces, version)))
}

function piecesOf(text: string): string[][] {
  if (!isShort(text)) return [grams(text)]
  return [shortPrefixes(text).slice(-1), [isUnspaced(text) ? unspacedPiece(text) : shortWordPiece(text)]]
}

/** The truth that tokens only approximate: every candidate is opened and held against this. */
export function matchesTerm(lead: Searchable, term: SearchTerm): boolean {
  const { name, personal, phone, otherPhones, plain } = term.masked ? maskedLines(lead) : searchLines(lead)
  if (isWordTerm(term)) return plain.some((line) => line.startsWith(term.text)) || shortWords(name).includes(term.text)
  const { digits } = term
  const phones = [phone, ...otherPhones]
  if (phones.some((line) => digits.some((each) => line.includes(each)))) return true
  return [...personal, ...phones, ...plain].some((line) => line.includes(term.text))
}
