import type { Issue } from '../../base/errors.ts'
import { keyProblem } from '../lead/custom-fields.ts'
import { clickIds, fieldsOfUrl, type TouchField } from './attribution.ts'

// What a source sends becomes a lead by a list of paths and fields. Rules without database access.

/** Fields of a lead that can be mapped; `name` is cut into first and last name. */
export const leadTargets = [
  ...(['firstName', 'lastName', 'name', 'email', 'phone', 'externalRef', 'notes', 'estimatedValue'] as const),
] as const
/** How the lead came: UTM parameters, click ids, or the address of a page that has them. */
export const touchTargets = [
  ...(['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term'] as const),
  ...(['fbclid', 'gclid', 'url'] as const),
] as const
const customPrefix = 'custom.'

export interface MappedField {
  /** Where the value is, such as `contact.phones[0].number`. */
  path: string
  /** One of `leadTargets`, of `touchTargets`, or `custom.<key>`. */
  field: string
}

export const maxMapped = 40
export const maxPathLength = 200
const maxSteps = 10
const maxValueLength = 10_000

/** Returns the steps of a path, such as `a.b[0]`; null if it is not one. */
export function parsePath(path: string): (string | number)[] | null {
  if (path.length > maxPathLength) return null
  const steps: (string | number)[] = []
  for (const part of path.split('.')) {
    const [, name, indexes = ''] = /^([^[\]]+)((?:\[\d{1,4}\])*)$/.exec(part) ?? []
    if (name === undefined) return null
    steps.push(name, ...[...indexes.matchAll(/\d+/g)].map(([index]) => Number(index)))
  }
  return steps.length > maxSteps ? null : steps
}

/** Returns what is wrong with a mapping, with the path of each field. */
export function mappingIssues(mapping: readonly MappedField[]): Issue[] {
  return mapping.flatMap(({ path, field }, n) => {
    const issues: Issue[] = []
    if (parsePath(path) === null)
      issues.push({ path: `mapping[${n}].path`, message: 'must be a path such as contact.phones[0].number' })
    const problem = field.startsWith(customPrefix) ? keyProblem(field.slice(customPrefix.length)) : targetProblem(field)
    if (problem !== null) issues.push({ path: `mapping[${n}].field`, message: problem })
    if (mapping.findIndex((other) => other.field === field) < n)
      issues.push({ path: `mapping[${n}].field`, message: 'must not be named twice' })
    return issues
  })
}

const targetProblem = (field: string): string | null =>
  [...leadTargets, ...touchTargets].some((one) => one === field) ? null : 'must be a field of a lead or custom.<key>'

/** Returns the value at a path as text; null if there is none. Lists of plain values are joined. */
export function valueAt(payload: unknown, path: string): string | null {
  let value: unknown = payload
  for (const step of parsePath(path) ?? []) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return null
    if (Array.isArray(value) && typeof step !== 'number') return null
    value = (value as Record<string | number, unknown>)[step]
  }
  return textOf(Array.isArray(value) && value.length <= 100 ? value.map(textOf).filter(Boolean).join(', ') : value)
}

function textOf(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') return null
  return value.slice(0, maxValueLength).toWellFormed().replaceAll('\0', '').trim() || null
}

/** What a request was mapped to. */
export interface Mapped {
  /** Fields of a lead, as in the body of a request. */
  lead: Record<string, string | number>
  custom: Record<string, string>
  touch: Partial<Record<TouchField, unknown>>
}

/** Applies a mapping; what is missing in the payload is left out, and keeps its value in a lead that exists. */
export function applyMapping(payload: unknown, mapping: readonly MappedField[]): Mapped {
  const mapped: Mapped = { lead: {}, custom: {}, touch: {} }
  for (const { path, field } of mapping) {
    const value = valueAt(payload, path)
    if (value === null) continue
    if (field.startsWith(customPrefix)) mapped.custom[field.slice(customPrefix.length)] = value
    else if (field === 'name') Object.assign(mapped.lead, splitName(value))
    else if (field === 'estimatedValue') mapped.lead.estimatedValue = amountOf(value)
    else if (field === 'url') mapped.touch = { ...fieldsOfUrl(value), ...mapped.touch }
    else if (field.startsWith('utm_')) mapped.touch[field.slice(4) as TouchField] = value
    else if (clickIds.some((one) => one === field)) mapped.touch[field as TouchField] = value
    else mapped.lead[field] = value
  }
  return mapped
}

/** Returns the first word as first name and the others as last name. */
function splitName(name: string): { firstName: string; lastName?: string } {
  const words = name.slice(0, 510).split(' ').filter(Boolean)
  const [firstName = '', ...rest] = words
  return rest.length === 0 ? { firstName } : { firstName, lastName: rest.join(' ') }
}

/** An amount that is none is left as it is, so that the error names the field. */
function amountOf(value: string): string | number {
  return /^-?\d{1,12}([.,]\d{1,2})?$/.test(value) ? Number(value.replace(',', '.')) : value
}

/** Mapping of the questions that lead ads have by default. */
export const leadAdMapping: readonly MappedField[] = [
  { path: 'full_name', field: 'name' },
  { path: 'first_name', field: 'firstName' },
  { path: 'last_name', field: 'lastName' },
  { path: 'email', field: 'email' },
  { path: 'phone_number', field: 'phone' },
]
