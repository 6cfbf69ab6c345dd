import type { LeadField } from '../../data/lead-fields.ts'
import type { Lead, LeadChanges } from '../../data/leads.ts'
import { type Column, isCustom } from '../../shared/lead-view/conditions.ts'
import { t } from '../../text/index.ts'
import { formatAmount, parseAmount } from '../../ui/format/amount.ts'
import {
  type FieldRule,
  type FieldType,
  formatValue,
  inputValue,
  interpretTyped,
  isValidValue,
  parseTyped,
  splitChoices,
  validateTyped,
  withCurrentChoices,
} from '../../ui/format/custom-value.ts'
import { formatPhone } from '../../ui/format/phone.ts'
import { choicesOf, type FieldContext, type FieldName, isBuiltIn, isNumeric, textOf } from './columns.tsx'
import { columnTitle, keyOfColumn } from './field-columns.ts'

/** How a field is edited; `lines` is multi-line text. */
type EditKind = 'text' | 'lines' | 'number' | 'date' | 'tel' | 'email' | 'url' | 'choice' | 'several'

/** A field of a lead that is edited in place: built-in or custom. */
export interface EditField {
  label: string
  kind: EditKind
  /** Value as edited, with comma-separated options, and as displayed. */
  text: string
  shown: string
  /** Options; the empty value means none. */
  choices: readonly { value: string; label: string }[]
  /** Hint for a value that does not fit the type of its field. */
  note: string | undefined
  /** Validates an input; the server may find further errors. */
  validate(text: string): string | null
  /** Returns how an input was understood, if it was typed in another notation than the reader's. */
  interpret(text: string): string | null
  /** Converts an input to a change; null if the value is the same. */
  changes(text: string): LeadChanges | null
}

/** Ends editing a cell; `null` saves nothing. */
export type FinishCellEdit = (
  lead: Lead,
  typed: { text: string; changes: LeadChanges } | null,
  then: 'stay' | 'next',
) => void

/** Ends editing a text cell; `null` saves nothing. */
export type FinishTextEdit = (text: string | null, then?: 'stay' | 'next') => void

/** Input of a cell that the server rejected, and the error. */
export interface RejectedInput {
  text: string
  message: string
}

/** Returns a built-in field. */
export function builtInField(field: FieldName, lead: Lead, context: FieldContext): EditField {
  const text = textOf(lead, field)
  const choices = choicesOf(field, context, text)
  const rule: FieldRule = { type: isNumeric(field) ? 'amount' : 'text', choices: [] }
  return {
    label: t.leads.fields[field],
    kind: choices === null ? kindOf(field) : 'choice',
    text,
    shown: shownText(lead, field, context.currency),
    choices: choices ?? [],
    note: undefined,
    validate: (typed) => validateTyped(rule, typed),
    interpret: (typed) => interpretTyped(rule, typed, context.currency),
    changes: (typed) => {
      const value = typed.trim()
      if (value === text) return null
      if (isNumeric(field)) return { [field]: parseAmount(value) }
      return { [field]: value === '' && !isRequired(field) ? null : value }
    },
  }
}

const isRequired = (field: FieldName) => field === 'firstName' || field === 'status' || field === 'uniqueCode'

function kindOf(field: FieldName): EditKind {
  if (field === 'notes') return 'lines'
  if (field === 'phone') return 'tel'
  return field === 'email' ? 'email' : isNumeric(field) ? 'number' : 'text'
}

function shownText(lead: Lead, field: FieldName, currency: string | null): string {
  const value = lead[field]
  if (value === null) return ''
  if (typeof value === 'number') return formatAmount(value, currency)
  return field === 'phone' ? formatPhone(value) : value
}

/** Definition of a custom field; for undefined fields, derived from the value. */
type Definition = Pick<LeadField, 'key' | 'label' | 'type' | 'choices' | 'required'>

const kinds: Record<FieldType, EditKind> = {
  text: 'text',
  number: 'number',
  amount: 'number',
  date: 'date',
  select: 'choice',
  multiselect: 'several',
  boolean: 'choice',
  url: 'url',
  phone: 'tel',
  email: 'email',
}

/** Returns a defined custom field, or one that only this lead has. */
export function customField(field: Definition, lead: Lead, currency: string | null): EditField {
  const value = lead.customFieldValues?.[field.key] ?? undefined
  const text = inputValue(field, value)
  const isFit = value === undefined || isValidValue(field, value)
  return {
    label: field.label,
    kind: kinds[field.type],
    text,
    shown: value === undefined ? '' : formatValue(field, value, currency),
    choices: customChoices(field, text),
    note: isFit ? undefined : t.fields.invalid({ type: t.fields.types[field.type] }),
    validate: (typed) => validateTyped(field, typed),
    interpret: (typed) => interpretTyped(field, typed, currency),
    changes: (typed) =>
      typed.trim() === text ? null : { customFieldValues: { [field.key]: parseTyped(field, typed) ?? null } },
  }
}

function customChoices({ type, choices, required }: Definition, text: string): EditField['choices'] {
  const own = type === 'multiselect' ? splitChoices(text) : text === '' ? [] : [text]
  if (type === 'multiselect') return withCurrentChoices(choices, own).map(toChoice)
  const none = required && text !== '' ? [] : [{ value: '', label: '–' }]
  if (type === 'boolean') {
    return [...none, ...yesOrNo(), ...own.filter((one) => one !== 'true' && one !== 'false').map(toChoice)]
  }
  return type === 'select' ? [...none, ...withCurrentChoices(choices, own).map(toChoice)] : []
}

export const yesOrNo = () => [
  { value: 'true', label: t.common.yes },
  { value: 'false', label: t.common.no },
]

const toChoice = (value: string) => ({ value, label: value })

/** Returns a definition for editing an undefined field. */
export const undefinedField = (key: string, label: string, value: string | boolean | null | undefined): Definition => ({
  key,
  label,
  type: typeof value === 'boolean' ? 'boolean' : 'text',
  choices: [],
  required: false,
})

/** Returns the field of a cell; null if it cannot be edited in place as a single field. */
export function cellField(id: Column, lead: Lead, context: FieldContext): EditField | null {
  if (!isCustom(id)) return isBuiltIn(id) ? builtInField(id, lead, context) : null
  const key = keyOfColumn(id)
  const defined = context.fields.find((field) => field.key === key)
  const title = columnTitle(id, context.fields)
  return customField(defined ?? undefinedField(key, title, lead.customFieldValues?.[key]), lead, context.currency)
}
