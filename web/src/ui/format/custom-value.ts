import type { leadFieldTypeValues } from '../../api/schema.ts'
import { language, t } from '../../text/index.ts'
import {
  amountInputText,
  formatAmount,
  normalizedAmount,
  normalizedNumber,
  parseAmount,
  parseNumber,
} from './amount.ts'
import { dialablePhone, formatPhone } from './phone.ts'
import { formatNumber } from './time.ts'

/** Definition of a custom field. */
export interface FieldRule {
  type: FieldType
  /** Options of `select` and `multiselect`. */
  choices: readonly string[]
}

export type FieldType = (typeof leadFieldTypeValues)[number]

type Value = string | boolean

const decimal = /^-?\d{1,15}(\.\d{1,10})?$/

export const hasChoices = (type: FieldType): boolean => type === 'select' || type === 'multiselect'
export const isNumberType = (type: FieldType): boolean => type === 'number' || type === 'amount'
export const splitChoices = (value: string): string[] =>
  value
    .split(',')
    .map((choice) => choice.trim())
    .filter((choice) => choice !== '')

/** Returns the options, with the lead's current values: those can be kept even if they are no longer options. */
export const withCurrentChoices = (choices: readonly string[], own: readonly string[]): string[] => [
  ...new Set([...choices, ...own]),
]

/** Returns whether a value fits the type of the field. Programs may write other values, which are shown unchanged. */
export function isValidValue({ type, choices }: FieldRule, value: Value): boolean {
  if (type === 'boolean' || typeof value === 'boolean') return type === 'boolean' && typeof value === 'boolean'
  switch (type) {
    case 'number':
      return decimal.test(value)
    case 'amount':
      return /^\d{1,12}(\.\d{1,2})?$/.test(value)
    case 'date':
      return isDay(value)
    case 'select':
      return choices.includes(value)
    case 'multiselect':
      return splitChoices(value).every((choice) => choices.includes(choice))
    case 'url':
      return /^https?:\/\//i.test(value) && URL.canParse(value)
    case 'phone':
      return /^\+?[\d\s().-]{8,40}$/.test(value) && /^\d{8,20}$/.test(value.replace(/\D/g, ''))
    case 'email':
      return /^[^\s@]+@[^\s@.]+\.[^\s@]+$/.test(value.slice(0, 255))
    case 'text':
      return true
  }
}

const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text

/** Formats numbers and dates by language, amounts with currency, phones in groups. Invalid values are unchanged. */
export function formatValue(rule: FieldRule, value: Value, currency: string | null): string {
  if (typeof value === 'boolean') return value ? t.common.yes : t.common.no
  if (!isValidValue(rule, value)) return value
  if (rule.type === 'amount') return formatAmount(Number(value), currency)
  if (rule.type === 'number') return formatNumber(Number(value), { maximumFractionDigits: 10 })
  if (rule.type === 'date') return dayText(value)
  if (rule.type === 'phone') return formatPhone(value)
  return value
}

const dayText = (day: string): string =>
  new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(`${day}T00:00:00Z`))

/** Formats a value for an input. */
export function inputValue(rule: FieldRule, value: Value | undefined): string {
  if (value === undefined) return ''
  if (!isNumberType(rule.type) || typeof value === 'boolean' || !isValidValue(rule, value)) {
    return rule.type === 'phone' && typeof value === 'string' ? dialablePhone(value) : String(value)
  }
  return rule.type === 'amount' ? amountInputText(Number(value), language) : withSign(value)
}

// Exactly three decimals would be parsed as thousands: adds a fourth.
const withSign = (value: string): string =>
  new Intl.NumberFormat(language, {
    useGrouping: false,
    minimumFractionDigits: /^-?[1-9]\d{0,2}\.\d{3}$/.test(value) ? 4 : 0,
    maximumFractionDigits: 10,
  }).format(Number(value))

/** Parses an input: null removes the value, undefined is an invalid number. */
export function parseTyped({ type }: FieldRule, text: string): Value | null | undefined {
  const typed = text.trim()
  if (typed === '') return null
  if (type === 'boolean') return typed === 'true'
  if (type === 'url' && !typed.includes(':') && typed.includes('.')) return `https://${typed}`
  if (!isNumberType(type)) return typed
  if (type === 'number') return parseNumber(typed)
  const amount = parseAmount(typed)
  return amount === undefined || amount === null ? amount : String(amount)
}

/** Returns how a number or amount was understood, if it was typed in another notation than the reader's. */
export function interpretTyped(
  { type }: Pick<FieldRule, 'type'>,
  text: string,
  currency: string | null,
): string | null {
  const normalized = type === 'amount' ? normalizedAmount(text, language, currency) : null
  const read = type === 'number' ? normalizedNumber(text, language) : normalized
  return read === null ? null : t.lead.interpretedAs({ amount: read })
}

/** Validates an input; the server may find further errors. */
export function validateTyped(rule: FieldRule, text: string): string | null {
  if (parseTyped(rule, text) !== undefined) return null
  return rule.type === 'amount' ? t.lead.notAnAmount : t.fields.notANumber
}

/** Guesses the type of a value without a definition. */
export function guessType(value: Value): FieldType {
  if (typeof value === 'boolean') return 'boolean'
  // A postal code or order number: as a number it would lose its leading zero.
  if (/^0\d/.test(value)) return 'text'
  const likely = (['date', 'number', 'url', 'email'] as const).find((type) =>
    isValidValue({ type, choices: [] }, value),
  )
  if (likely === 'number' && /^\d{10,15}$/.test(value)) return 'phone'
  return likely ?? (value.startsWith('+') && isValidValue({ type: 'phone', choices: [] }, value) ? 'phone' : 'text')
}

/** Derives a key from a name: `Favourite colour` becomes `favourite_colour`. */
export const keyFromName = (name: string): string =>
  name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[_0-9]+|_$/g, '')
    .slice(0, 40)
