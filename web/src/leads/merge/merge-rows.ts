import type { Lead } from '../../data/leads.ts'
import type { NewMerge } from '../../data/merges.ts'

/** In display order. */
const mergedFields = [
  'firstName',
  'lastName',
  'phone',
  'email',
  'status',
  'assignedTo',
  'priority',
  'source',
  'adPlatform',
  'estimatedValue',
  'actualValue',
  'notes',
  'externalRef',
  'uniqueCode',
] as const

export type MergedField = (typeof mergedFields)[number]
export type Choice = 'kept' | 'other' | 'both' | 'none'
export type Choices = Readonly<Record<string, Choice>>
type Value = string | number | boolean | null

export interface MergeRow {
  /** Custom fields have the prefix `custom:`. */
  id: string
  field: MergedField | null
  label: string | null
  kept: Value
  other: Value
  options: readonly Choice[]
  /** Applied without a choice. */
  defaultChoice: Choice
}

export const maxCustomFields = 10
const maxNotes = 10_000

/** Returns all fields of two leads: conflicts, values that only one has, equal values. */
export function mergeRows(kept: Lead, other: Lead): Record<'conflicts' | 'filled' | 'same', MergeRow[]> {
  const rows = [...mergedFields.flatMap((field) => rowOf(field, kept[field], other[field])), ...customRows(kept, other)]
  return {
    conflicts: rows.filter((row) => row.kept !== null && row.other !== null && row.kept !== row.other),
    filled: rows.filter((row) => (row.kept === null) !== (row.other === null)),
    same: rows.filter((row) => row.kept === row.other && row.kept !== null),
  }
}

function rowOf(field: MergedField, kept: Value, other: Value): MergeRow {
  const row = { id: field, field, label: null, kept, other }
  if (field !== 'notes' || kept === null || other === null) {
    return { ...row, options: ['kept', 'other'], defaultChoice: kept === null ? 'other' : 'kept' }
  }
  const fits = String(kept).length + String(other).length + 2 <= maxNotes
  return {
    ...row,
    options: fits ? ['kept', 'other', 'both'] : ['kept', 'other'],
    defaultChoice: fits ? 'both' : 'kept',
  }
}

function customRows(kept: Lead, other: Lead): MergeRow[] {
  const [own, others] = [kept, other].map(({ customFields = [] }) => new Map(customFields.map((one) => [one.key, one])))
  return [...new Set([...(own?.keys() ?? []), ...(others?.keys() ?? [])])].map((key) => {
    const [ofKept, ofOther] = [own?.get(key), others?.get(key)]
    return {
      id: customId(key),
      field: null,
      label: ofKept?.label ?? ofOther?.label ?? key,
      kept: ofKept?.value ?? null,
      other: ofOther?.value ?? null,
      options: ['kept', 'other', 'none'],
      defaultChoice: ofKept === undefined ? 'other' : 'kept',
    }
  })
}

const customPrefix = 'custom:'
const customId = (key: string) => customPrefix + key
export const keyOfCustom = (id: string): string => id.replace(customPrefix, '')
const isCustom = ({ field }: MergeRow) => field === null

/** Returns the number of custom fields above the limit, which must be dropped before merging. */
export function excessFields(rows: readonly MergeRow[], choices: Choices): number {
  const stay = rows.filter((row) => {
    const choice = choices[row.id] ?? row.defaultChoice
    return isCustom(row) && choice !== 'none' && (choice === 'other' ? row.other : row.kept) !== null
  })
  return Math.max(0, stay.length - maxCustomFields)
}

/** Converts choices for the API, without defaults. */
export function toRequestChoices(
  rows: readonly MergeRow[],
  choices: Choices,
): Pick<NewMerge, 'fields' | 'customFields'> {
  const isChosen = ({ id, defaultChoice }: MergeRow) => choices[id] !== undefined && choices[id] !== defaultChoice
  const named = (ofCustom: boolean) =>
    Object.fromEntries(
      rows.filter((row) => isCustom(row) === ofCustom && isChosen(row)).map(({ id }) => [keyOfCustom(id), choices[id]]),
    )
  // Rows offer only choices that the API accepts for their field.
  return { fields: named(false), customFields: named(true) } as Pick<NewMerge, 'fields' | 'customFields'>
}

const swapped: Partial<Record<Choice, Choice>> = { kept: 'other', other: 'kept' }

/** Returns the same choices for keeping the other lead. */
export const swapChoices = (choices: Choices): Choices =>
  Object.fromEntries(Object.entries(choices).map(([id, choice]) => [id, swapped[choice] ?? choice]))
