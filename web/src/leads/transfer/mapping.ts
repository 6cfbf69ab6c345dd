import type { Matcher, Preview } from '../../data/imports.ts'

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

/** What was proposed, with what somebody chose instead. */
export function mappingOf({ columns }: Pick<Preview, 'columns'>, chosen: Mapping): Mapping {
  const asked = new Set(chosen.values())
  return new Map(
    columns.map(({ name, target }) => [
      name,
      // A column that was given a field takes it from the one that was only proposed for it.
      chosen.has(name) ? (chosen.get(name) ?? null) : target !== null && asked.has(target) ? null : target,
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

/** What is left open to choose for a column: the fields, and the column's own name as a custom field. */
export function customTargetOf(column: string): string | null {
  const key = column
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
  return key === '' ? null : `k_${key}`.slice(0, 40).replace(/_$/, '')
}

/** How much is done, from 0 to 1. */
export const shareOf = ({ doneBytes, sizeBytes }: { doneBytes: number; sizeBytes: number }): number =>
  sizeBytes === 0 ? 0 : Math.min(1, doneBytes / sizeBytes)
