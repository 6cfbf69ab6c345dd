import type { LeadContacts } from '../../lead/lead.ts'
import { matchesTerm, type Searchable, type SearchTerm } from '../../lead/search-lines.ts'
import type { LeadFilter } from '../list-filter.ts'
import type { ChoiceColumn, NumberColumn, ReadableLead, TextColumn } from '../sorted/conditions.ts'
import { fullName } from '../sorted/decrypt-and-sort.ts'
import { compileFilter, type Dictionaries } from './filter-counts.ts'
import { patternsOf } from './indexed-text.ts'
import type { MemoryIndex } from './memory-index.ts'
import { fewSlots, markedSlots } from './query.ts'
import { firstWhere, type Marks, type Segment, sortSlots, updateOrders } from './segment.ts'
import { lookUp, type Selection, scanText } from './text-scan.ts'

// Values for orders and conditions in one text: parts separated by a mark, custom fields last.

const mark = '\u001f'
const keyMark = '\u001e'
const control = /\p{Cc}/gu

export interface LeadValues extends Searchable {
  hasNotes: boolean
  customTexts: readonly [key: string, text: string][]
}

export function valuesText(values: LeadValues): string {
  const { firstName, lastName, email, phone, uniqueCode, externalRef, contacts, hasNotes, customTexts } = values
  return [
    fullName(firstName, lastName),
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

// Longer texts are neither sorted nor filtered by.
const maxCustomText = 255

const parts: Record<TextColumn, number> = { name: 0, email: 1, phone: 2, uniqueCode: 3, externalRef: 4 }
const notesPartIndex = 5
const [phonesPart, emailsPart] = [6, 7]
const firstCustom = 8
const columnOf = { assignedTo: 'assignee' } as const

/** Reads leads of a segment, one slot at a time; `at` selects the slot. */
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
    hasNotes: () => part(notesPartIndex) !== '',
    // Only the database evaluates conditions on labels.
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
  phones === '' && emails === '' ? undefined : { phones: splitList(phones), emails: splitList(emails) }
const splitList = (text: string): string[] => (text === '' ? [] : text.split(keyMark))

function numberAt(segment: Segment, slot: number, column: NumberColumn): number | null {
  if (column === 'createdAt') return segment.created[slot] ?? null
  if (column === 'updatedAt') return segment.updated[slot] ?? null
  const number = segment[column === 'estimatedValue' ? 'estimated' : 'actual'][slot] ?? Number.NaN
  return Number.isNaN(number) ? null : number
}

/** Returns the values of each choice column by code. */
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

/**
 * Finds leads in an index of texts and marks them in an index of values of the same workspace, per segment. Both
 * contain everything committed before the call; one may also contain later changes.
 */
export function markMatches(
  values: MemoryIndex,
  texts: MemoryIndex,
  { filter, term }: { filter: LeadFilter; term: SearchTerm },
): Map<Segment, Marks> {
  const compiledFilter = compileFilter(texts.dictionaries, filter)
  const patterns = patternsOf(term)
  // Largest first: nearly all leads are there, and few are left to look for in the others.
  const targets = [...values.segments, values.tail].sort((a, b) => b.count - a.count)
  for (const target of targets) updateOrders(target)
  const found = new Map<Segment, Marks>()
  for (const segment of [...texts.segments, texts.tail]) {
    let slots = sortedSlots(segment, scanText(lookUp(segment, patterns), compiledFilter))
    for (const target of targets) slots = markSharedLeads(segment, slots, target, found)
  }
  return found
}

/** Returns the selected slots ordered by (created, id). */
function sortedSlots(segment: Segment, { marks, count }: Selection): Uint16Array {
  if (marks === null) return new Uint16Array(0)
  if (count <= fewSlots) return sortSlots(segment, markedSlots(marks, count), segment.created)
  updateOrders(segment)
  const slots = new Uint16Array(count)
  const { byCreated } = segment
  let filled = 0
  for (let place = 0; place < byCreated.length; place++) {
    const slot = byCreated[place] ?? 0
    if (marks[slot] === 1) slots[filled++] = slot
  }
  return slots
}

/**
 * Marks the live slots of `into` that have the leads of these slots, and returns the slots of leads it does not have.
 * Both are in the same order and usually have the same leads, so the next lead is expected at the same distance;
 * otherwise it is searched with growing steps.
 */
function markSharedLeads(from: Segment, slots: Uint16Array, into: Segment, found: Map<Segment, Marks>): Uint16Array {
  if (isDisjoint(from, slots, into)) return slots
  const { byCreated, alive, count } = into
  const isSame = idComparer(from, into)
  const marked = found.get(into) ?? { marks: new Uint8Array(count), count: 0 }
  let [place, last, left] = [0, slots[0] ?? 0, 0]
  for (let n = 0; n < slots.length; n++) {
    const slot = slots[n] ?? 0
    const guess = place + slot - last
    last = slot
    let target = guess < place || guess >= count ? -1 : (byCreated[guess] ?? 0)
    if (target >= 0 && alive[target] === 1 && isSame(slot, target)) place = guess
    else {
      place = firstNotBefore(from, slot, into, place)
      target = liveAt(from, slot, into, place)
    }
    if (target < 0) slots[left++] = slot
    else {
      marked.marks[target] = 1
      marked.count++
    }
  }
  if (marked.count > 0) found.set(into, marked)
  return slots.subarray(0, left)
}

function isDisjoint(from: Segment, slots: Uint16Array, { byCreated, created, count }: Segment): boolean {
  if (slots.length === 0 || count === 0) return true
  const timeAt = (place: number) => created[byCreated[place] ?? 0] ?? 0
  const [first = 0, last = 0] = [from.created[slots[0] ?? 0], from.created[slots.at(-1) ?? 0]]
  return first > timeAt(count - 1) || last < timeAt(0)
}

/** Returns the first place, from `place` on, whose lead is not before the lead of the slot. */
function firstNotBefore(from: Segment, slot: number, into: Segment, place: number): number {
  const isBefore = (at: number) => compare(from, slot, into, into.byCreated[at] ?? 0) > 0
  let [low, high] = [place, place]
  for (let step = 1; high < into.count && isBefore(high); step *= 2) {
    low = high + 1
    high = Math.min(high + step, into.count)
  }
  return firstWhere(low, high, (at) => !isBefore(at))
}

/** Returns the live slot of the lead, or -1; a dead slot may have the same key. */
function liveAt(from: Segment, slot: number, into: Segment, place: number): number {
  for (let at = place; at < into.count; at++) {
    const target = into.byCreated[at] ?? 0
    if (compare(from, slot, into, target) !== 0) return -1
    if (into.alive[target] === 1) return target
  }
  return -1
}

function idComparer(a: Segment, b: Segment): (slotA: number, slotB: number) => boolean {
  const [idsA, idsB] = [wordsOf(a.ids), wordsOf(b.ids)]
  return (slotA, slotB) => {
    for (let n = 3; n >= 0; n--) if (idsA[slotA * 4 + n] !== idsB[slotB * 4 + n]) return false
    return true
  }
}

const wordsOf = (ids: Buffer): Uint32Array => new Uint32Array(ids.buffer, ids.byteOffset, ids.length / 4)

// Byte by byte: leads of one import differ only in their ids, and a call to Buffer.compare costs more.
function compare(a: Segment, slotA: number, b: Segment, slotB: number): number {
  const difference = (a.created[slotA] ?? 0) - (b.created[slotB] ?? 0)
  if (difference !== 0) return difference
  for (let n = 0; n < 16; n++) {
    const differs = (a.ids[slotA * 16 + n] ?? 0) - (b.ids[slotB * 16 + n] ?? 0)
    if (differs !== 0) return differs
  }
  return 0
}
