import type { FieldType, FormField } from '../data/forms.ts'
import type { LeadField } from '../data/lead-fields.ts'

/** Fields of a lead, with the types allowed for each. */
export const leadFields = {
  firstName: ['text'],
  lastName: ['text'],
  email: ['email'],
  phone: ['phone'],
  notes: ['textarea', 'text'],
  marketingConsent: ['boolean'],
} as const satisfies Record<string, readonly FieldType[]>

export type LeadFieldKey = keyof typeof leadFields

export const allTypes: readonly FieldType[] = [
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
]

export const maxFields = 15
const maxKeyLength = 40

export const isLeadField = (key: string): key is LeadFieldKey => Object.hasOwn(leadFields, key)
export const hasOptions = (type: FieldType): boolean => type === 'select' || type === 'multiselect'

export function typesOf(key: string): readonly FieldType[] {
  return isLeadField(key) ? leadFields[key] : allTypes
}

/** Derives a unique key from a label: `Company size` → `company_size`. */
export function uniqueKey(label: string, taken: readonly string[]): string {
  const words = label
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+|_$/g, '')
    .replace(/^(k|utm)_/, 'f_$1_')
    .slice(0, maxKeyLength - 3)
  const reserved = ['first_name', 'last_name', 'email', 'phone', 'notes', 'marketing_consent', 'homepage']
  const base = words === '' ? 'field' : words
  const isFree = (key: string) => !taken.includes(key) && !reserved.includes(key)
  for (let n = 1; ; n++) {
    const key = n === 1 ? base : `${base}_${n}`
    if (isFree(key)) return key
  }
}

/** Moves an item of a list to another index. */
export function moveItem<T>(list: readonly T[], from: number, to: number): T[] {
  return list.toSpliced(from, 1).toSpliced(to, 0, ...list.slice(from, from + 1))
}

/** Changes the type of a field, adding or removing options. */
export function withType(field: FormField, type: FieldType, sample: readonly string[]): FormField {
  const { options, ...rest } = field
  return hasOptions(type) ? { ...rest, type, options: options ?? [...sample] } : { ...rest, type }
}

/** Parses options from lines: trimmed, without empty lines. */
export const optionsOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** Creates a form field for a custom field. */
export function formFieldOf({ key, label, type, choices, required }: LeadField): FormField {
  const fieldType = type === 'amount' ? 'number' : type
  return { key, label, type: fieldType, required, ...(hasOptions(fieldType) && { options: choices }) }
}
