import type { Keyring } from '../base/keyring.ts'
import { foldText, grams, shortPrefixes } from '../base/search-text.ts'
import type { Lead } from './lead.ts'
import { maskedFields, maskPerson } from './mask-lead.ts'

export type Searchable = Pick<Lead, 'firstName' | 'lastName' | 'email' | 'phone' | 'uniqueCode' | 'externalRef'>

/** A search term, folded; `digits` when it is a phone written with formatting. */
export interface SearchTerm {
  text: string
  digits: string | null
  /** Whether the reader sees phones masked: then the search looks at no phone. */
  masked: boolean
}

/** Terms shorter than this match only the plain columns, and only at their start. */
export const minSealedTermLength = 3

/** The term, or null when nothing is left of it. */
export function readSearchTerm(search: string, masked = false): SearchTerm | null {
  const text = foldText(search)
  if (text === '') return null
  const digits = /^[\d\s+().-]+$/.test(text) ? text.replace(/\D/g, '') : ''
  const isPhone = !masked && digits.length >= minSealedTermLength && digits !== text
  return { text, digits: isPhone ? digits : null, masked }
}

/** What search looks at, a line a field, folded; no line is empty but the phone of a lead that has none. */
export interface SearchLines {
  /** First and last name make one line, so that a full name is found; then the e-mail. */
  personal: string[]
  phone: string
  /** uniqueCode and externalRef, which are stored in plain text. */
  plain: string[]
}

export function searchLines(lead: Searchable): SearchLines {
  const fold = (texts: string[]) => texts.map(foldText).filter((line) => line !== '')
  return {
    personal: fold([`${lead.firstName} ${lead.lastName ?? ''}`, lead.email ?? '']),
    phone: foldText(lead.phone ?? ''),
    plain: fold([lead.uniqueCode, lead.externalRef ?? '']),
  }
}

/**
 * What the search of a masked reader looks at: what it sees of the lead, without the phone and whatever is or holds one. Of
 * a name the other words stay, each still whole.
 */
export function maskedLines(lead: Searchable, lines = searchLines(lead)): SearchLines {
  const shown = maskPerson(lead)
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
  return { personal: [...namePieces(lead, shown), ...personal], phone: '', plain }
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

/** The tokens under which a lead is found. */
export function searchTokens(keyring: Keyring, lead: Searchable): number[] {
  const { personal, phone, plain } = searchLines(lead)
  const pieces = [...personal, phone, ...plain].flatMap(grams)
  return keyring.tokens([...pieces, ...plain.flatMap(shortPrefixes)])
}

/**
 * Sets of tokens of which every match has one: a set for the term, one for its digits when it is a formatted phone,
 * and the same of each version while the index key is rotated.
 */
export function termTokens(keyring: Keyring, term: SearchTerm): number[][] {
  const texts = [term.text, ...(term.digits === null ? [] : [term.digits])]
  return texts.flatMap((text) => {
    const pieces = [...text].length < minSealedTermLength ? shortPrefixes(text).slice(-1) : grams(text)
    return keyring.indexVersions.map((version) => keyring.tokens(pieces, version))
  })
}

/** The truth that tokens only approximate: every candidate is opened and held against this. */
export function matchesTerm(lead: Searchable, term: SearchTerm): boolean {
  const { personal, phone, plain } = term.masked ? maskedLines(lead) : searchLines(lead)
  if ([...term.text].length < minSealedTermLength) return plain.some((line) => line.startsWith(term.text))
  if (term.digits !== null && phone.includes(term.digits)) return true
  return [...personal, phone, ...plain].some((line) => line.includes(term.text))
}
