import type { Issue } from '../../base/errors.ts'
import { maxPhoneLength, phoneProblem, readPhone } from '../../base/phone/phone.ts'
import { lengthProblem } from '../../base/text/external-text.ts'
import { readIsoTime } from '../../base/time.ts'

export const customFieldTypes = [
  'text',
  'textarea',
  'email',
  'phone',
  'url',
  'number',
  'date',
  'select',
  'multiselect',
  'boolean',
] as const

export type CustomFieldType = (typeof customFieldTypes)[number]

/** One custom field of a lead: `boolean` holds a boolean, every other type a string. */
export interface CustomField {
  key: string
  label: string
  type: CustomFieldType
  value: string | boolean
}

/** A field as it is to be set, with its label and type. */
export interface TypedField extends CustomField {
  /** A column of a file: it tells what a field is called that has no name yet, and nothing else. */
  isFromFile?: boolean
}

export type CustomValues = Record<string, string | boolean | null>

/**
 * The field as it is kept when a value is set, null where that removes it, undefined for a key of which nothing is said.
 * What does not fit is an issue of whoever sends it, or throws.
 */
export type FitField = (
  key: string,
  value: string | boolean | null,
) => CustomField | null | undefined | Omit<Issue, 'path'>

export const maxCustomFields = 10
export const maxKeyLength = 40
export const maxTextLength = 255
export const maxLabelLength = 200

const keyShape = /^[a-z][a-z0-9_]*$/
const aliasPrefix = 'k_'

// A name of two parts at least. Only the first dot may end the first part, or a text that is none would be tried at each.
export const emailShape = /^[^\s@<>()",;:\\]+@[^\s@<>()",;:\\][^\s@<>()",;:\\.]*\.[^\s@<>()",;:\\]{2,}$/

/** What is wrong with a key, or null: at most 40 characters, lower-case snake_case, a letter first. */
export function keyProblem(key: string): string | null {
  if (key.length > maxKeyLength) return `must have at most ${maxKeyLength} characters`
  if (!keyShape.test(key) || key === aliasPrefix) return 'must be lowercase snake_case and start with a letter'
  return null
}

/** What is wrong with a value of a field of this type, or null. */
export function valueProblem(type: CustomFieldType, value: string | boolean): string | null {
  if (type === 'boolean') return typeof value === 'boolean' ? null : 'must be true or false'
  if (typeof value !== 'string') return 'must be a string'
  return lengthProblem(value, maxLengthOf(type)) ?? shapes[type]?.(value) ?? null
}

/** The characters that a value of a field of this type has at most. */
export function maxLengthOf(type: CustomFieldType): number {
  if (type === 'textarea') return 10_000
  if (type === 'phone') return maxPhoneLength
  return type === 'url' || type === 'multiselect' ? 2_000 : maxTextLength
}

const shapes: Partial<Record<CustomFieldType, (value: string) => string | null>> = {
  email: (value) => (emailShape.test(value) ? null : 'must be an e-mail address'),
  phone: (value) => (readPhone(value) === null ? phoneProblem(value) : null),
  url: (value) => (/^https?:\/\//i.test(value) && URL.canParse(value) ? null : 'must be an http or https address'),
  number: (value) => (/^-?\d{1,15}(\.\d{1,10})?$/.test(value) ? null : 'must be a number such as 12.5'),
  date: (value) =>
    /^\d{4}-\d\d-\d\d$/.test(value) && readIsoTime(value) !== null ? null : 'must be a date such as 2026-01-31',
}

/**
 * The `k_*` parameters of an address as text fields labelled by their key. An empty one says nothing and is left out.
 */
export function fieldsFromParameters(query: Record<string, unknown>): CustomField[] {
  return Object.entries(query)
    .filter((entry): entry is [string, string] => entry[0].startsWith(aliasPrefix) && typeof entry[1] === 'string')
    .filter(([, value]) => value !== '')
    .map(([key, value]) => ({ key, label: key, type: 'text', value }))
}

/**
 * The fields after `typed` ones (from a form or `k_*`) and `values` (a map of a body) are set on the current ones.
 * Null or an empty string removes a field. A value under an alias goes to the field that it stands for, and changes
 * nothing when it only repeats what was read. What `fit` knows is kept as it says.
 */
export function setCustomFields(
  current: readonly CustomField[],
  typed: readonly TypedField[],
  values: CustomValues,
  at: string,
  fit?: FitField,
): { fields: CustomField[]; issues: Issue[] } {
  const fields = new Map(current.map((field) => [field.key, field]))
  const issues: Issue[] = []
  const set = (key: string, field: CustomField | null, path: string) => {
    const problem = keyProblem(key) ?? (field === null ? null : valueProblem(field.type, field.value))
    if (problem !== null) issues.push({ path, message: problem })
    else if (field === null) fields.delete(key)
    else fields.set(key, field)
  }

  for (const field of typed) set(field.key, retype(fields.get(field.key), field), field.key)
  for (const [name, value] of Object.entries(values)) {
    const key = realKey(current, name)
    const before = current.find((field) => field.key === key)
    if (key !== name && (before?.value === value || Object.hasOwn(values, key))) continue
    // What a lead has already may be sent back, whether it fits or not.
    const fitted = before?.value === value ? undefined : fit?.(key, value)
    const path = `${at}.${name}`
    if (fitted && 'message' in fitted) issues.push({ path, ...fitted })
    else set(key, fitted === undefined ? fieldOf(before, key, value) : fitted, path)
  }
  if (fields.size > maxCustomFields) {
    issues.push({ path: at, message: `a lead has at most ${maxCustomFields} custom fields` })
  }
  return { fields: [...fields.values()], issues }
}

/** The key that a name in `customFieldValues` stands for: itself, or the `k_` field of which it is the alias. */
function realKey(current: readonly CustomField[], name: string): string {
  if (current.some((field) => field.key === name)) return name
  const prefixed = aliasPrefix + name
  return current.some((field) => field.key === prefixed) ? prefixed : name
}

// A parameter only knows text; a field that a form made keeps its label and type.
function retype(before: CustomField | undefined, { isFromFile = false, ...field }: TypedField): CustomField {
  if (before === undefined || (!isFromFile && (field.label !== field.key || field.type !== 'text'))) return field
  const value =
    before.type === 'boolean' && /^(true|false)$/.test(String(field.value)) ? field.value === 'true' : field.value
  const label = before.label === before.key ? field.label : before.label
  return { ...before, label, value }
}

function fieldOf(before: CustomField | undefined, key: string, value: string | boolean | null): CustomField | null {
  if (value === null || value === '') return null
  if (before !== undefined) return { ...before, value }
  return { key, label: key, type: typeof value === 'boolean' ? 'boolean' : 'text', value }
}

/** Key to value; a `k_` field also stands under its name without the prefix, unless another field has that name. */
export function customFieldValues(fields: readonly CustomField[]): Record<string, string | boolean> {
  const keys = new Set(fields.map((field) => field.key))
  const entries = fields.map(({ key, value }): [string, string | boolean] => [key, value])
  const aliases = fields
    .filter(({ key }) => key.startsWith(aliasPrefix) && !keys.has(key.slice(aliasPrefix.length)))
    .map(({ key, value }): [string, string | boolean] => [key.slice(aliasPrefix.length), value])
  return Object.fromEntries([...entries, ...aliases])
}

export function sameCustomFields(a: readonly CustomField[], b: readonly CustomField[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
