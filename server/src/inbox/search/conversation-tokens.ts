import type { Keyring } from '../../base/encryption/keyring.ts'
import { searchedDigits } from '../../base/phone/phone.ts'
import {
  foldText,
  grams,
  isUnspaced,
  shortWordPiece,
  shortWords,
  unspacedPiece,
  unspacedPieces,
} from '../../base/text/search-text.ts'
import type { Contact } from '../conversation/conversation.ts'

export type SearchableContact = Pick<Contact, 'name' | 'phone'>

/** Parsed search for conversations by the name or number shown in the list. */
export interface NameTerm {
  words: readonly string[]
  /** Parts of a number, independent of its formatting. */
  digits: readonly string[]
}

const minLength = 3
const maxLength = 100
const isShort = (word: string): boolean => [...word].length < minLength && !isUnspaced(word)

/** Returns null if nothing is left to search for. */
export function parseNameTerm(search: string): NameTerm | null {
  const text = foldText(search.slice(0, maxLength))
  if (text === '') return null
  return { words: text.split(' '), digits: searchedDigits(search).filter((digits) => digits.length >= minLength) }
}

interface FoldedFields {
  name: string
  phone: string
}

const foldedFieldsOf = ({ name, phone }: SearchableContact): FoldedFields => ({
  name: foldText(name ?? ''),
  phone: foldText(phone ?? ''),
})

/** Returns whether name and phone contain all words. A short word must match a whole word of the name. */
export function matchesName(contact: SearchableContact, { words, digits }: NameTerm): boolean {
  const { name, phone } = foldedFieldsOf(contact)
  if (digits.some((each) => phone.includes(each))) return true
  const whole = words.some(isShort) ? shortWords(name) : []
  return words.every((word) => (isShort(word) ? whole.includes(word) : name.includes(word) || phone.includes(word)))
}

const leadMark = '\u000e'

export function conversationTokens(keyring: Keyring, contact: SearchableContact): number[] {
  const { name, phone } = foldedFieldsOf(contact)
  const pieces = [
    ...[...grams(name), ...grams(phone), ...longRuns(phone)],
    ...[...shortWords(name).map(shortWordPiece), ...unspacedPieces(name)],
  ]
  return keyring.tokens(pieces.map(withMark))
}

/** Returns sets of tokens; every matching conversation has all tokens of at least one set. */
export function nameTermTokens(keyring: Keyring, { words, digits }: NameTerm): number[][] {
  const sets = [words.flatMap(wordPieces), ...digits.map(digitPieces)]
  return sets.flatMap((pieces) => keyring.indexVersions.map((version) => keyring.tokens(pieces.map(withMark), version)))
}

function wordPieces(word: string): string[] {
  if (isShort(word)) return [shortWordPiece(word)]
  const pieces = grams(word)
  return pieces.length > 0 ? pieces : [unspacedPiece(word)]
}

/** Three digits occur in many numbers, six in few. */
function digitPieces(digits: string): string[] {
  const runs = longRuns(digits)
  return runs.length > 0 ? runs : grams(digits)
}

const longRun = 6

const longRuns = (digits: string): string[] =>
  Array.from({ length: Math.max(0, digits.length - longRun + 1) }, (_, at) => digits.slice(at, at + longRun))

// Prevents matching these tokens with those of leads.
const withMark = (piece: string): string => leadMark + piece
