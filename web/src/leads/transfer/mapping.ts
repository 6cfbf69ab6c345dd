import type { ChosenField, ColumnValues, Matcher, Preview } from '../../data/imports.ts'
import { customFieldName } from '../../ui/format/lead-texts.ts'

/** What each column fills, by its heading; null for none. */
export type Mapping = ReadonlyMap<string, string | null>

export const fieldTargets = [
  'firstName',
  'lastName',
  'email',
  'phone',
  'status',
  'priority',
  'source',
  'adPlatform',
  'assignedTo',
  'estimatedValue',
  'actualValue',
  'notes',
  'externalRef',
  'uniqueCode',
] as const
export type FieldTarget = (typeof fieldTargets)[number]

export const isField = (target: string): target is FieldTarget => (fieldTargets as readonly string[]).includes(target)

export type DefinedTarget = { value: string; label: string }

/** The fields that the workspace defines, as what a column may fill. */
export const definedTargets = (
  fields: readonly { key: string; label: string; isArchived: boolean }[],
): DefinedTarget[] =>
  fields
    .filter(({ isArchived }) => !isArchived)
    .map(({ key, label }) => ({ value: key.startsWith('k_') ? key : `customFieldValues.${key}`, label }))

/** What was proposed, with what somebody chose instead. */
export function mappingOf({ columns }: Pick<Preview, 'columns'>, chosen: Mapping): Mapping {
  const requested = new Set(chosen.values())
  return new Map(
    columns.map(({ name, target }) => [
      name,
      // A column that was given a field takes it from the one that was only proposed for it.
      chosen.has(name) ? (chosen.get(name) ?? null) : target !== null && requested.has(target) ? null : target,
    ]),
  )
}

/** Gives a column a field, and takes it from whichever column had been given it before. */
export function choose(chosen: Mapping, column: string, target: string | null): Mapping {
  const others = [...chosen].map(([name, had]) => [name, target !== null && had === target ? null : had] as const)
  return new Map([...others.filter(([name]) => name !== column), [column, target]])
}

/** By which fields a row may find its lead: those that a column fills. The first is the best. */
export function matchersOf(format: 'csv' | 'ndjson', mapping: Mapping): Matcher[] {
  if (format === 'ndjson') return ['id', 'externalRef', 'uniqueCode', 'phone', 'none']
  const filled = new Set(mapping.values())
  return [...(['externalRef', 'uniqueCode', 'phone'] as const).filter((field) => filled.has(field)), 'none']
}

/** The column's own name as a custom field; of one that no key can be made of, its place. */
export function customTargetOf(column: string, at: number): string {
  const key = column
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
  return `k_${key === '' ? `column_${at + 1}` : key}`.slice(0, 40).replace(/_$/, '')
}

/** What a custom field is called until somebody says otherwise: as its column, unless that is its bare key. */
export const labelOf = (column: string, target: string): string =>
  column === target || /^(?:k_|customFieldValues\.)/.test(column)
    ? customFieldName({ key: keyOf(target), label: keyOf(target) })
    : column

const keyOf = (target: string): string => target.replace(/^customFieldValues\./, '')

/** Fields of which a lead has one of a few values. */
const chosenFields: readonly ChosenField[] = ['status', 'priority', 'source', 'adPlatform', 'assignedTo']

export const isChosen = (target: string): target is ChosenField => (chosenFields as readonly string[]).includes(target)

/** A column with what it fills. */
export interface Filling {
  column: string
  target: string
}

/** The columns whose values may have to be said what they mean: of these fields, and of defined ones with options. */
export const chosenColumns = (mapping: Mapping, withOptions: readonly string[]): Filling[] =>
  [...mapping].flatMap(([column, target]) =>
    target !== null && (isChosen(target) || withOptions.includes(target)) ? [{ column, target }] : [],
  )

/** Lines of JSON name their fields themselves. */
export const jsonColumns = (withOptions: readonly string[]): Filling[] =>
  [...chosenFields, ...withOptions].map((target) => ({ column: target, target }))

/** What the values of the file mean, as far as somebody has said so: by what they fill, and by how the file writes them. */
export type Meanings = Record<string, Record<string, string | null>>

export const valueKey = (text: string): string => text.normalize('NFKC').trim().toLowerCase()

/** What a value is taken for: as somebody said, else as proposed; null leaves it out, undefined is not known yet. */
export function meaningOf(
  meanings: Meanings,
  target: string,
  { text, value }: { text: string; value: string | null },
): string | null | undefined {
  const existing = meanings[target]?.[valueKey(text)]
  return existing !== undefined ? existing : (value ?? undefined)
}

/** What is sent of it: everything that is known, proposals included. */
export function sentMeanings(
  meanings: Meanings,
  columns: readonly Pick<Filling, 'target'>[],
  values: readonly (ColumnValues | undefined)[],
): { values: Partial<Record<ChosenField, Meanings[string]>>; fieldValues: Meanings } {
  const known = columns.map(({ target }, n): [string, Meanings[string]] => {
    const entries = (values[n]?.values ?? []).flatMap((one) => {
      const meaning = meaningOf(meanings, target, one)
      return meaning === undefined ? [] : [[one.text, meaning] as const]
    })
    return [target, Object.fromEntries(entries)]
  })
  return {
    values: Object.fromEntries(known.filter(([target]) => isChosen(target))),
    fieldValues: Object.fromEntries(known.filter(([target]) => !isChosen(target))),
  }
}

/** What stands before cents in a file, by the looks of some amounts; else as in the language of the reader. */
export function decimalOf(samples: readonly string[], language: string): '.' | ',' {
  const count = (pattern: RegExp) => samples.filter((text) => pattern.test(text.trim())).length
  const comma = count(/,\d{1,2}\D*$/) + count(/\.\d{3}\D*$/)
  const point = count(/\.\d{1,2}\D*$/) + count(/,\d{3}\D*$/)
  if (comma !== point) return comma > point ? ',' : '.'
  const parts = new Intl.NumberFormat(language).formatToParts(1.1)
  return parts.find(({ type }) => type === 'decimal')?.value === ',' ? ',' : '.'
}

/** Whether a column looks as if it had whole names. */
export const hasFullNames = (samples: readonly string[]): boolean =>
  samples.length > 0 && 2 * samples.filter((name) => /\S\s+\S/.test(name)).length >= samples.length

/** The cells of the column that fills a field, as far as they are shown. */
export function samplesFor(preview: Pick<Preview, 'columns' | 'rows'>, mapping: Mapping, target: string): string[] {
  const at = preview.columns.findIndex(({ name }) => mapping.get(name) === target)
  return at === -1 ? [] : preview.rows.map((row) => row[at] ?? '').filter((cell) => cell.trim() !== '')
}

/** How much is done, from 0 to 1. */
export const shareOf = ({ doneBytes, sizeBytes }: { doneBytes: number; sizeBytes: number }): number =>
  sizeBytes === 0 ? 0 : Math.min(1, doneBytes / sizeBytes)

/** What custom fields are to be called; those whose name was emptied are called as their column. */
export const sentLabels = (mapping: Mapping, labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    [...mapping].flatMap(([column, target]) =>
      target === null || isField(target) ? [] : [[target, labels[target]?.trim() || labelOf(column, target)]],
    ),
  )
