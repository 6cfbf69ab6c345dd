import type { Lead } from '../../data/leads.ts'
import type { NewMerge } from '../../data/merges.ts'

/** In the order in which they are shown. */
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
  /** `custom:` stands before the key of a custom field. */
  id: string
  field: MergedField | null
  label: string | null
  kept: Value
  other: Value
  options: readonly Choice[]
  /** What happens when nobody chooses. */
  defaultChoice: Choice
}

export const maxCustomFields = 10
const maxNotes = 10_000

/** All that two leads have, row by row: what contradicts, what only one has, what is the same. */
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

/** How many custom fields have to go before the merge can be. */
export function excessFields(rows: readonly MergeRow[], choices: Choices): number {
  const stay = rows.filter((row) => {
    const choice = choices[row.id] ?? row.defaultChoice
    return isCustom(row) && choice !== 'none' && (choice === 'other' ? row.other : row.kept) !== null
  })
  return Math.max(0, stay.length - maxCustomFields)
}

/** What was chosen, as the service takes it: nothing of what would be so anyway. */
export function toRequestChoices(
  rows: readonly MergeRow[],
  choices: Choices,
): Pick<NewMerge, 'fields' | 'customFields'> {
  const chosen = rows.flatMap((row) => {
    const choice = choices[row.id]
    return choice === undefined || choice === row.defaultChoice ? [] : [{ row, choice }]
  })
  const named = (ofCustom: boolean) =>
    Object.fromEntries(
      chosen.filter(({ row }) => isCustom(row) === ofCustom).map(({ row, choice }) => [keyOfCustom(row.id), choice]),
    )
  // A row offers nothing that the service does not take for its field.
  return { fields: named(false), customFields: named(true) } as Pick<NewMerge, 'fields' | 'customFields'>
}

/** The same choices when the other lead is kept. */
export const swapChoices = (choices: Choices): Choices =>
  Object.fromEntries(
    Object.entries(choices).map(([id, choice]) => [
      id,
      choice === 'kept' ? 'other' : choice === 'other' ? 'kept' : choice,
    ]),
  )
