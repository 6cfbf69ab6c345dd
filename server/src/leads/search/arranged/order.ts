import { adPlatforms, priorities, sources } from '../../lead/lead.ts'
import { collationKey, type Language } from './collation.ts'
import { type Column, type CustomColumn, isNumber, kindOf } from './conditions.ts'
import type { ChoiceColumn, NumberColumn, ReadableLead, TextColumn } from './match.ts'

/** An order by any column but the notes and the labels. */
export interface Arrangement {
  by: Exclude<Column, 'notes' | 'labels'> | CustomColumn
  order: 'asc' | 'desc'
  language: Language
  /** The values of a choice in their order; of statuses, people and custom fields, those of the workspace. */
  choices: readonly string[]
}

/** What a lead's place depends on: numbers or texts, of one kind in one order; null stands last in both directions. */
export type PlaceKey = number | string | null

export interface Place {
  key: PlaceKey
  id: string
}

/** Choices stand as they are offered, not by their names. */
export const fixedChoices: Partial<Record<Column, readonly string[]>> = {
  priority: priorities,
  source: sources,
  adPlatform: adPlatforms,
}

export function placeKeyOf(arrangement: Arrangement): (lead: ReadableLead) => PlaceKey {
  const { by, language } = arrangement
  switch (kindOf(by)) {
    case 'choice': {
      const ranks = new Map(arrangement.choices.map((value, rank) => [value, rank]))
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
      const ranks = new Map(arrangement.choices.map((value, rank) => [value, `\u0000${sortableNumber(rank)}`]))
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

// Numbers come before words, each among their own, and what can be chosen before both.
const customKey = (text: string, language: Language): string | null =>
  isNumber(text)
    ? `\u0001${sortableNumber(Number(text))}`
    : text === ''
      ? null
      : `\u0002${collationKey(text, language)}`

const bits = new DataView(new ArrayBuffer(8))

/** A number as a text that stands where the number does. */
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

/** The order of the list; that of ids as texts is the same as that of their bytes. */
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
