import type { Issue } from '../../base/errors.ts'
import { maxPhoneLength, parsePhone, phoneProblem } from '../../base/phone/phone.ts'
import { lengthProblem } from '../../base/text/external-text.ts'
import { parseIsoTime } from '../../base/time.ts'

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

/** Custom field of a lead. `value` is a boolean for type `boolean`, and a string for every other type. */
export interface CustomField {
  key: string
  label: string
  type: CustomFieldType
  value: string | boolean
}

export interface TypedField extends CustomField {
  /** True for a column of an imported file: sets a label only if the field has none, and never changes its type. */
  isFromFile?: boolean
}

export type CustomValues = Record<string, string | boolean | null>

/**
 * Returns the field to store for a value, null to remove it, undefined if the key is not defined, or an issue if the
 * value does not fit.
 */
export type NormalizeField = (
  key: string,
  value: string | boolean | null,
) => CustomField | null | undefined | Omit<Issue, 'path'>

export const maxCustomFields = 10
export const maxKeyLength = 40
export const maxTextLength = 255
export const maxLabelLength = 200

const keyPattern = /^[a-z][a-z0-9_]*$/
const aliasPrefix = 'k_'

// A domain has at least two parts. Only the first dot may end the first part, or the regex would retry at every dot.
export const emailPattern = /^[^\s@<>()",;:\\]+@[^\s@<>()",;:\\][^\s@<>()",;:\\.]*\.[^\s@<>()",;:\\]{2,}$/

/** Returns what is wrong with a key, or null. Keys have at most 40 characters, lowercase snake_case, a letter first. */
export function keyProblem(key: string): string | null {
  if (key.length > maxKeyLength) return `must have at most ${maxKeyLength} characters`
  if (!keyPattern.test(key) || key === aliasPrefix) return 'must be lowercase snake_case and start with a letter'
  return null
}

export function valueProblem(type: CustomFieldType, value: string | boolean): string | null {
  if (type === 'boolean') return typeof value === 'boolean' ? null : 'must be true or false'
  if (typeof value !== 'string') return 'must be a string'
  return lengthProblem(value, maxLengthOf(type)) ?? formatProblems[type]?.(value) ?? null
}

/** Returns the maximum number of characters of a value of this type. */
export function maxLengthOf(type: CustomFieldType): number {
  if (type === 'textarea') return 10_000
  if (type === 'phone') return maxPhoneLength
  return type === 'url' || type === 'multiselect' ? 2_000 : maxTextLength
}

const formatProblems: Partial<Record<CustomFieldType, (value: string) => string | null>> = {
  email: (value) => (emailPattern.test(value) ? null : 'must be an e-mail address'),
  phone: (value) => (parsePhone(value) === null ? phoneProblem(value) : null),
  url: (value) => (/^https?:\/\//i.test(value) && URL.canParse(value) ? null : 'must be an http or https URL'),
  number: (value) => (/^-?\d{1,15}(\.\d{1,10})?$/.test(value) ? null : 'must be a number such as 12.5'),
  date: (value) =>
    /^\d{4}-\d\d-\d\d$/.test(value) && parseIsoTime(value) !== null ? null : 'must be a date such as 2026-01-31',
}

/** Returns the `k_*` query parameters as text fields labeled by their key. Skips empty values. */
export function fieldsFromParameters(query: Record<string, unknown>): CustomField[] {
  return Object.entries(query)
    .filter((entry): entry is [string, string] => entry[0].startsWith(aliasPrefix) && typeof entry[1] === 'string')
    .filter(([, value]) => value !== '')
    .map(([key, value]) => ({ key, label: key, type: 'text', value }))
}

/**
 * Sets `typed` fields (from a form or `k_*`) and `values` (from a body) on the current fields. Null or an empty string
 * removes a field. A value under an alias sets the field behind the alias, and is ignored if it repeats the current
 * value. `fit` decides how values of the keys it knows are stored.
 */
export function setCustomFields(
  current: readonly CustomField[],
  typed: readonly TypedField[],
  values: CustomValues,
  at: string,
  normalizeField?: NormalizeField,
): { fields: CustomField[]; issues: Issue[] } {
  const fields = new Map(current.map((field) => [field.key, field]))
  const issues: Issue[] = []
  const set = (key: string, field: CustomField | null, path: string) => {
    const problem = keyProblem(key) ?? (field === null ? null : valueProblem(field.type, field.value))
    if (problem !== null) issues.push({ path, message: problem })
    else if (field === null) fields.delete(key)
    else fields.set(key, field)
  }

  for (const field of typed) set(field.key, keepStoredType(fields.get(field.key), field), field.key)
  for (const [name, value] of Object.entries(values)) {
    const key = resolveAlias(current, name)
    const before = current.find((field) => field.key === key)
    if (key !== name && (before?.value === value || Object.hasOwn(values, key))) continue
    // A current value may be sent back even if it no longer fits the field definition.
    const normalized = before?.value === value ? undefined : normalizeField?.(key, value)
    const path = `${at}.${name}`
    if (normalized && 'message' in normalized) issues.push({ path, ...normalized })
    else set(key, normalized === undefined ? fieldWithValue(before, key, value) : normalized, path)
  }
  if (fields.size > maxCustomFields) {
    issues.push({ path: at, message: `a lead has at most ${maxCustomFields} custom fields` })
  }
  return { fields: [...fields.values()], issues }
}

/** Returns the key for a name in `customFieldValues`: the name itself, or the `k_` key that it is an alias of. */
function resolveAlias(current: readonly CustomField[], name: string): string {
  if (current.some((field) => field.key === name)) return name
  const prefixed = aliasPrefix + name
  return current.some((field) => field.key === prefixed) ? prefixed : name
}

// A query parameter has only text; a field created by a form keeps its label and type.
function keepStoredType(before: CustomField | undefined, { isFromFile = false, ...field }: TypedField): CustomField {
  if (before === undefined || (!isFromFile && (field.label !== field.key || field.type !== 'text'))) return field
  const value =
    before.type === 'boolean' && /^(true|false)$/.test(String(field.value)) ? field.value === 'true' : field.value
  const label = before.label === before.key ? field.label : before.label
  return { ...before, label, value }
}

function fieldWithValue(
  before: CustomField | undefined,
  key: string,
  value: string | boolean | null,
): CustomField | null {
  if (value === null || value === '') return null
  if (before !== undefined) return { ...before, value }
  return { key, label: key, type: typeof value === 'boolean' ? 'boolean' : 'text', value }
}

/** Returns key to value. A `k_` field is also listed without its prefix, unless another field has that name. */
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
