import type { leadFieldTypeValues } from '../../api/schema.ts'
import { language, t } from '../../text/index.ts'
import { amountText, readAmount, readNumber, shownAmount, understood, understoodNumber } from './amount.ts'
import { plainPhone, shownPhone } from './phone.ts'
import { number } from './time.ts'

/** What a workspace says that a custom field holds. */
export interface FieldRule {
  type: FieldType
  /** Of `select` and `multiselect`: what can be chosen. */
  choices: readonly string[]
}

export type FieldType = (typeof leadFieldTypeValues)[number]

type Value = string | boolean

const decimal = /^-?\d{1,15}(\.\d{1,10})?$/

export const hasChoices = (type: FieldType): boolean => type === 'select' || type === 'multiselect'
export const isNumberType = (type: FieldType): boolean => type === 'number' || type === 'amount'
export const chosenOf = (value: string): string[] =>
  value
    .split(',')
    .map((choice) => choice.trim())
    .filter((choice) => choice !== '')

/** What can be chosen, with what a lead has already: it can be kept, whatever may be chosen now. */
export const withOwn = (choices: readonly string[], own: readonly string[]): string[] => [
  ...new Set([...choices, ...own]),
]

/** Whether a value is one of the field's type. Programs may write others, which are shown as they are. */
export function fits({ type, choices }: FieldRule, value: Value): boolean {
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
      return chosenOf(value).every((choice) => choices.includes(choice))
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

/** A value as people read it: numbers and days by their language, amounts in a currency, phones in groups. What does not fit, as it is. */
export function shownValue(rule: FieldRule, value: Value, currency: string | null): string {
  if (typeof value === 'boolean') return value ? t.common.yes : t.common.no
  if (!fits(rule, value)) return value
  if (rule.type === 'amount') return shownAmount(Number(value), currency)
  if (rule.type === 'number') return number(Number(value), { maximumFractionDigits: 10 })
  if (rule.type === 'date') return dayText(value)
  if (rule.type === 'phone') return shownPhone(value)
  return value
}

const dayText = (day: string): string =>
  new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(`${day}T00:00:00Z`))

/** A value as it stands in an input. */
export function typedValue(rule: FieldRule, value: Value | undefined): string {
  if (value === undefined) return ''
  if (!isNumberType(rule.type) || typeof value === 'boolean' || !fits(rule, value)) {
    return rule.type === 'phone' && typeof value === 'string' ? plainPhone(value) : String(value)
  }
  return rule.type === 'amount' ? amountText(Number(value), language) : withSign(value)
}

// Three decimals alone would be read back as thousands: a fourth says what they are.
const withSign = (value: string): string =>
  new Intl.NumberFormat(language, {
    useGrouping: false,
    minimumFractionDigits: /^-?[1-9]\d{0,2}\.\d{3}$/.test(value) ? 4 : 0,
    maximumFractionDigits: 10,
  }).format(Number(value))

/** What an input says, as it is to be kept: null removes the field, undefined is no number. */
export function readTyped({ type }: FieldRule, text: string): Value | null | undefined {
  const typed = text.trim()
  if (typed === '') return null
  if (type === 'boolean') return typed === 'true'
  if (type === 'url' && !typed.includes(':') && typed.includes('.')) return `https://${typed}`
  if (!isNumberType(type)) return typed
  if (type === 'number') return readNumber(typed)
  const amount = readAmount(typed)
  return amount === undefined || amount === null ? amount : String(amount)
}

/** What was read of a number or an amount, where it was typed in another way than the language writes it. */
export function meantBy({ type }: Pick<FieldRule, 'type'>, text: string, currency: string | null): string | null {
  const meant = type === 'amount' ? understood(text, language, currency) : null
  const read = type === 'number' ? understoodNumber(text, language) : meant
  return read === null ? null : t.lead.readAs({ amount: read })
}

/** What is wrong with what was typed, as far as that shows before the service is asked. */
export function wrongTyped(rule: FieldRule, text: string): string | null {
  if (readTyped(rule, text) !== undefined) return null
  return rule.type === 'amount' ? t.lead.notAnAmount : t.fields.notANumber
}

/** The type that a value which nobody has defined is probably of. */
export function guessedType(value: Value): FieldType {
  if (typeof value === 'boolean') return 'boolean'
  // A postal code or the number of an order, which would lose what it begins with.
  if (/^0\d/.test(value)) return 'text'
  const likely = (['date', 'number', 'url', 'email'] as const).find((type) => fits({ type, choices: [] }, value))
  if (likely === 'number' && /^\d{10,15}$/.test(value)) return 'phone'
  return likely ?? (value.startsWith('+') && fits({ type: 'phone', choices: [] }, value) ? 'phone' : 'text')
}

/** A name as the service spells keys: `Favourite colour` becomes `favourite_colour`. */
export const keyOfName = (name: string): string =>
  name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[_0-9]+|_$/g, '')
    .slice(0, 40)
