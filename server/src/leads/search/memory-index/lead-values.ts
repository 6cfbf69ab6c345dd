import type { LeadContacts } from '../../lead/lead.ts'
import { matchesTerm, type SearchTerm } from '../../lead/search-lines.ts'
import type { ChoiceColumn, NumberColumn, ReadableLead, TextColumn } from '../arranged/match.ts'
import { nameOf } from '../arranged/opened.ts'
import type { Dictionaries } from './filter-counts.ts'
import type { Segment } from './segment.ts'

// What orders and conditions look at of a lead, in one text: parts with a mark between them, the custom fields behind.

const mark = '\u001f'
const keyMark = '\u001e'
const control = /\p{Cc}/gu

export interface Values {
  firstName: string
  lastName: string | null
  email: string | null
  phone: string | null
  uniqueCode: string
  externalRef: string | null
  contacts?: LeadContacts | null | undefined
  hasNotes: boolean
  customTexts: readonly [key: string, text: string][]
}

export function valuesText(values: Values): string {
  const { firstName, lastName, email, phone, uniqueCode, externalRef, contacts, hasNotes, customTexts } = values
  return [
    nameOf(firstName, lastName),
    email ?? '',
    phone ?? '',
    uniqueCode,
    externalRef ?? '',
    hasNotes ? '1' : '',
    (contacts?.phones ?? []).join(keyMark),
    (contacts?.emails ?? []).join(keyMark),
    ...customTexts.map(([key, text]) => `${key}${keyMark}${text.slice(0, maxCustomText)}`),
  ]
    .map((part) => part.replace(control, (sign) => (sign === keyMark ? keyMark : ' ')))
    .join(mark)
}

/** What is kept of a custom field: a page of text is neither sorted nor filtered by. */
export const maxCustomText = 255

const parts: Record<TextColumn, number> = { name: 0, email: 1, phone: 2, uniqueCode: 3, externalRef: 4 }
const notesPart = 5
const [phonesPart, emailsPart] = [6, 7]
const firstCustom = 8
const columnOf = { assignedTo: 'assignee' } as const

/** Reads one lead of a segment after the other: what it was told to look at last. */
export interface SlotReader extends ReadableLead {
  at(slot: number): SlotReader
  matches(term: SearchTerm): boolean
}

export function slotReader(segment: Segment, names: Record<ChoiceColumn, readonly (string | null)[]>): SlotReader {
  let slot = 0
  let read: string[] | null = null
  const part = (n: number): string => {
    read ??= segment.text.toString('utf8', segment.starts[slot] ?? 0, segment.starts[slot + 1] ?? 0).split(mark)
    return read[n] ?? ''
  }
  const reader: SlotReader = {
    at: (next) => {
      slot = next
      read = null
      return reader
    },
    text: (column) => part(parts[column]),
    hasNotes: () => part(notesPart) !== '',
    // Conditions on labels are for the database.
    labels: () => [],
    choice: (column) => names[column][segment[column === 'assignedTo' ? columnOf[column] : column][slot] ?? 0] ?? null,
    number: (column) => numberAt(segment, slot, column),
    field: (key) => {
      part(0)
      const of = (name: string) => {
        const start = `${name}${keyMark}`
        const found = read?.find((one, n) => n >= firstCustom && one.startsWith(start))
        return found?.slice(start.length)
      }
      return of(key) ?? of(`k_${key}`) ?? ''
    },
    matches: (term) =>
      matchesTerm(
        {
          firstName: part(0),
          lastName: null,
          email: part(1),
          phone: part(2),
          uniqueCode: part(3),
          externalRef: part(4),
          contacts: contactsIn(part(phonesPart), part(emailsPart)),
        },
        term,
      ),
  }
  return reader
}

const contactsIn = (phones: string, emails: string): LeadContacts | undefined =>
  phones === '' && emails === '' ? undefined : { phones: listIn(phones), emails: listIn(emails) }
const listIn = (text: string): string[] => (text === '' ? [] : text.split(keyMark))

function numberAt(segment: Segment, slot: number, column: NumberColumn): number | null {
  if (column === 'createdAt') return segment.created[slot] ?? null
  if (column === 'updatedAt') return segment.updated[slot] ?? null
  const number = segment[column === 'estimatedValue' ? 'estimated' : 'actual'][slot] ?? Number.NaN
  return Number.isNaN(number) ? null : number
}

/** The values of each choice by their codes. */
export function namesOf(dictionaries: Dictionaries): Record<ChoiceColumn, readonly (string | null)[]> {
  const byCode = (dictionary: ReadonlyMap<string, number>) => {
    const names: (string | null)[] = [null]
    for (const [value, code] of dictionary) names[code] = value
    return names
  }
  return {
    status: byCode(dictionaries.status),
    priority: byCode(dictionaries.priority),
    source: byCode(dictionaries.source),
    adPlatform: byCode(dictionaries.adPlatform),
    assignedTo: byCode(dictionaries.assignee),
  }
}
