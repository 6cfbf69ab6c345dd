import { adPlatforms, priorities, sources } from '../../lead/lead.ts'
import type { ChoiceColumn, Column, CustomColumn, NumberColumn, ReadableLead, TextColumn } from './conditions.ts'
import { isNumber, kindOf } from './conditions.ts'

/** Languages with a sort order. English and Portuguese have the same one. */
export const languages = ['en', 'es', 'pt'] as const
export type Language = (typeof languages)[number]

// Only this much of a text affects its order.
const maxLength = 64

// Order of the Unicode collation: spaces, punctuation, digits, letters.
const collationOrder = `\t _-,;:!?.'"()[]{}@*/\\&#%\`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz`
const weights = new Map([...collationOrder].map((sign, place) => [sign, 2 * place + 2]))
const otherLettersWeight = 0x200
const spanishN = (weights.get('n') ?? 0) + 1
const tilde = '\u0303'
const marks = '\u0301\u0300\u0306\u0302\u030c\u030a\u0308\u030b\u0303\u0307\u0328\u0327\u0304'

const letterExpansions: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i' }
const expandedLetter = /[ßæœøłđı]/g
const isMark = /\p{M}/u
const plain = /^[ -~]*$/

/**
 * Returns a sort key; keys compare as plain strings. Sorts by letters, then accents, then case, as in the language.
 * Custom, because comparing a million texts with `Intl.Collator` takes seconds.
 */
export function collationKey(text: string, language: Language): string {
  const cut = text.slice(0, maxLength).trim()
  if (plain.test(cut)) return plainKey(cut)
  let [letters, accents, cases, place] = ['', '', '', 0]
  let [accented, upper] = [0, 0]
  const decomposed = cut.normalize('NFD').replace(expandedLetter, (letter) => letterExpansions[letter] ?? letter)
  for (const sign of decomposed) {
    if (isMark.test(sign)) {
      if (sign === tilde && language === 'es' && letters.charCodeAt(letters.length - 1) === spanishN - 1) {
        letters = letters.slice(0, -1) + String.fromCharCode(spanishN)
        continue
      }
      accents += '\u0001'.repeat(Math.max(0, place - accented - 1)) + accentOf(sign)
      accented = Math.max(accented, place)
      continue
    }
    const lower = sign.toLowerCase()
    letters += weightOf(lower)
    place++
    if (lower === sign) continue
    cases += `${'\u0001'.repeat(place - upper - 1)}\u0002`
    upper = place
  }
  return `${letters}\u0000${accents}\u0000${cases}`
}

function plainKey(text: string): string {
  let [letters, cases] = ['', '']
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at)
    const lower = sign.toLowerCase()
    letters += weightOf(lower)
    if (lower !== sign) cases += `${'\u0001'.repeat(at - cases.length)}\u0002`
  }
  return `${letters}\u0000\u0000${cases}`
}

const weightOf = (sign: string): string =>
  String.fromCharCode(weights.get(sign) ?? Math.min(0xffff, otherLettersWeight + (sign.codePointAt(0) ?? 0)))

const accentOf = (mark: string): string => String.fromCharCode(2 + ((marks.indexOf(mark) + 64) % 64))

/** Sort order of a list, by any column except notes and labels. */
export interface SortOrder {
  by: Exclude<Column, 'notes' | 'labels'> | CustomColumn
  order: 'asc' | 'desc'
  language: Language
  /** Values of a choice column in their order; for statuses, members and custom fields those of the workspace. */
  choices: readonly string[]
}

/** Sort key of a lead. All keys of one order have the same type; null sorts last in both directions. */
export type SortKey = number | string | null

export interface Place {
  key: SortKey
  id: string
}

/** Values of fixed choice columns, in their sort order. */
export const fixedChoices: Partial<Record<Column, readonly string[]>> = {
  priority: priorities,
  source: sources,
  adPlatform: adPlatforms,
}

export function sortKeyOf(sortOrder: SortOrder): (lead: ReadableLead) => SortKey {
  const { by, language } = sortOrder
  switch (kindOf(by)) {
    case 'choice': {
      const ranks = new Map(sortOrder.choices.map((value, rank) => [value, rank]))
      return (lead) => {
        const value = lead.choice(by as ChoiceColumn)
        return value === null ? null : (ranks.get(value) ?? ranks.size)
      }
    }
    case 'number':
    case 'time':
      return (lead) => lead.number(by as NumberColumn)
    case 'custom': {
      const key = by.slice('field:'.length)
      const ranks = new Map(sortOrder.choices.map((value, rank) => [value, `\u0000${sortableNumber(rank)}`]))
      return (lead) => {
        const text = lead.field(key)
        return ranks.get(text) ?? customKey(text, language)
      }
    }
    default:
      return (lead) => textKey(lead.text(by as TextColumn), language)
  }
}

const textKey = (text: string, language: Language): string | null => (text === '' ? null : collationKey(text, language))

// Choices sort before numbers, numbers before other texts.
const customKey = (text: string, language: Language): string | null =>
  isNumber(text)
    ? `\u0001${sortableNumber(Number(text))}`
    : text === ''
      ? null
      : `\u0002${collationKey(text, language)}`

const bits = new DataView(new ArrayBuffer(8))

/** Returns a number as a string that sorts like the number. */
function sortableNumber(number: number): string {
  bits.setFloat64(0, number === 0 ? 0 : number)
  const isNegative = bits.getUint8(0) >= 0x80
  return [0, 2, 4, 6]
    .map((at) => {
      const part = bits.getUint16(at)
      return String.fromCharCode(isNegative ? 0xffff - part : at === 0 ? part + 0x8000 : part)
    })
    .join('')
}

/** Returns the comparison of a list. Ids as text sort like their bytes. */
export function comparePlaces(order: 'asc' | 'desc'): (a: Place, b: Place) => number {
  const sign = order === 'asc' ? 1 : -1
  return (a, b) => {
    if (a.key !== b.key) {
      if (a.key === null) return 1
      if (b.key === null) return -1
      return a.key < b.key ? -sign : sign
    }
    return a.id === b.id ? 0 : a.id < b.id ? -sign : sign
  }
}
