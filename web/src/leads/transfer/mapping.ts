import type { ChosenField, ColumnValues, Matcher, Preview } from '../../data/imports.ts'
import { customFieldName } from '../../ui/format/lead-texts.ts'

/** Target of each column, by its header; null for none. */
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
type FieldTarget = (typeof fieldTargets)[number]

export const isField = (target: string): target is FieldTarget => (fieldTargets as readonly string[]).includes(target)

export type DefinedTarget = { value: string; label: string }

/** Returns the custom fields of the workspace as targets. */
export const definedTargets = (
  fields: readonly { key: string; label: string; isArchived: boolean }[],
): DefinedTarget[] =>
  fields
    .filter(({ isArchived }) => !isArchived)
    .map(({ key, label }) => ({ value: key.startsWith('k_') ? key : `customFieldValues.${key}`, label }))

/** Returns the suggested targets, overridden by the chosen ones. */
export function mappingOf({ columns }: Pick<Preview, 'columns'>, chosen: Mapping): Mapping {
  const requested = new Set(chosen.values())
  return new Map(
    columns.map(({ name, target }) => [
      name,
      // A chosen target replaces the same suggestion for another column.
      chosen.has(name) ? (chosen.get(name) ?? null) : target !== null && requested.has(target) ? null : target,
    ]),
  )
}

/** Sets the target of a column, removing it from any other column. */
export function setTarget(chosen: Mapping, column: string, target: string | null): Mapping {
  const others = [...chosen].map(([name, had]) => [name, target !== null && had === target ? null : had] as const)
  return new Map([...others.filter(([name]) => name !== column), [column, target]])
}

/** Returns the fields that rows can be matched by, best first: those that a column fills. */
export function matchersOf(format: 'csv' | 'ndjson', mapping: Mapping): Matcher[] {
  if (format === 'ndjson') return ['id', 'externalRef', 'uniqueCode', 'phone', 'none']
  const filled = new Set(mapping.values())
  return [...(['externalRef', 'uniqueCode', 'phone'] as const).filter((field) => filled.has(field)), 'none']
}

/** Returns the column as a custom field; named by its index if its header yields no key. */
export function customTargetOf(column: string, at: number): string {
  const key = column
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
  return `k_${key === '' ? `column_${at + 1}` : key}`.slice(0, 40).replace(/_$/, '')
}

/** Returns the initial label of a custom field: the header, unless that is just its key. */
export const labelOf = (column: string, target: string): string =>
  column === target || /^(?:k_|customFieldValues\.)/.test(column)
    ? customFieldName({ key: keyOf(target), label: keyOf(target) })
    : column

const keyOf = (target: string): string => target.replace(/^customFieldValues\./, '')

/** Fields with a fixed set of values. */
const chosenFields: readonly ChosenField[] = ['status', 'priority', 'source', 'adPlatform', 'assignedTo']

export const isChosen = (target: string): target is ChosenField => (chosenFields as readonly string[]).includes(target)

/** A column and its target. */
export interface ColumnTarget {
  column: string
  target: string
}

/** Returns the columns whose values may need mapping: fields with fixed values, and custom fields with options. */
export const chosenColumns = (mapping: Mapping, withOptions: readonly string[]): ColumnTarget[] =>
  [...mapping].flatMap(([column, target]) =>
    target !== null && (isChosen(target) || withOptions.includes(target)) ? [{ column, target }] : [],
  )

/** Returns the columns of JSON lines, which name their fields themselves. */
export const jsonColumns = (withOptions: readonly string[]): ColumnTarget[] =>
  [...chosenFields, ...withOptions].map((target) => ({ column: target, target }))

/** Chosen meanings of the file's values, by target and by value. */
export type ValueMeanings = Record<string, Record<string, string | null>>

export const valueKey = (text: string): string => text.normalize('NFKC').trim().toLowerCase()

/** Returns the meaning of a value: chosen, otherwise suggested; null skips it, undefined is not known yet. */
export function meaningOf(
  meanings: ValueMeanings,
  target: string,
  { text, value }: { text: string; value: string | null },
): string | null | undefined {
  const existing = meanings[target]?.[valueKey(text)]
  return existing !== undefined ? existing : (value ?? undefined)
}

/** Returns all known meanings for the request, including suggestions. */
export function sentMeanings(
  meanings: ValueMeanings,
  columns: readonly Pick<ColumnTarget, 'target'>[],
  values: readonly (ColumnValues | undefined)[],
): { values: Partial<Record<ChosenField, ValueMeanings[string]>>; fieldValues: ValueMeanings } {
  const known = columns.map(({ target }, n): [string, ValueMeanings[string]] => {
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

/** Guesses the decimal separator from sample amounts, otherwise from the reader's language. */
export function decimalOf(samples: readonly string[], language: string): '.' | ',' {
  const count = (pattern: RegExp) => samples.filter((text) => pattern.test(text.trim())).length
  const comma = count(/,\d{1,2}\D*$/) + count(/\.\d{3}\D*$/)
  const point = count(/\.\d{1,2}\D*$/) + count(/,\d{3}\D*$/)
  if (comma !== point) return comma > point ? ',' : '.'
  const parts = new Intl.NumberFormat(language).formatToParts(1.1)
  return parts.find(({ type }) => type === 'decimal')?.value === ',' ? ',' : '.'
}

/** Returns whether a column seems to contain full names. */
export const hasFullNames = (samples: readonly string[]): boolean =>
  samples.length > 0 && 2 * samples.filter((name) => /\S\s+\S/.test(name)).length >= samples.length

/** Returns sample values of the column that fills a field. */
export function samplesFor(preview: Pick<Preview, 'columns' | 'rows'>, mapping: Mapping, target: string): string[] {
  const at = preview.columns.findIndex(({ name }) => mapping.get(name) === target)
  return at === -1 ? [] : preview.rows.map((row) => row[at] ?? '').filter((cell) => cell.trim() !== '')
}

/** Returns labels for custom fields; an empty label means that of the column. */
export const sentLabels = (mapping: Mapping, labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    [...mapping].flatMap(([column, target]) =>
      target === null || isField(target) ? [] : [[target, labels[target]?.trim() || labelOf(column, target)]],
    ),
  )
