import { readPhone } from '../../base/phone/phone.ts'
import { type CustomFieldType, maxTextLength, valueProblem } from '../lead/custom-fields.ts'

/** What a workspace says that a custom field of its leads holds. */
export const leadFieldTypes = [
  'text',
  'number',
  'amount',
  'date',
  'select',
  'multiselect',
  'boolean',
  'url',
  'phone',
  'email',
] as const
export type LeadFieldType = (typeof leadFieldTypes)[number]

/** What each takes, in a few words. */
export const formats: Record<LeadFieldType, string> = {
  text: `at most ${maxTextLength} characters`,
  number: 'a number such as "12.5"',
  amount: 'an amount such as "1500.50"',
  date: 'a date such as "2026-01-31"',
  select: 'one of options',
  multiselect: 'some of options, with commas between them',
  boolean: 'true or false',
  url: 'an http or https address',
  phone: 'a phone number with country code',
  email: 'an e-mail address',
}

export interface FieldRule {
  type: LeadFieldType
  /** Of `select` and `multiselect`: what can be chosen. */
  choices: readonly string[]
}

export type Fitting = { value: string | boolean } | { problem: string }

/** What stands between the chosen ones of a `multiselect`. */
export const choiceSeparator = ', '

/** The type that a value is kept with: the contract's, which knows no amounts. */
export const keptType = (type: LeadFieldType): CustomFieldType => (type === 'amount' ? 'number' : type)

export const hasChoices = (type: LeadFieldType | CustomFieldType): boolean =>
  type === 'select' || type === 'multiselect'

/** The value in the form in which it is kept, or what is wrong with it and what fits instead. */
export function fitValue({ type, choices }: FieldRule, value: string | boolean, country: string | null): Fitting {
  const kept = typeof value === 'string' ? value.trim() : value
  const problem = valueProblem(keptType(type), kept)
  if (problem !== null) return { problem }
  if (typeof kept === 'boolean') return { value: kept }
  if (type === 'amount') return fitAmount(kept)
  if (type === 'phone') return { value: readPhone(kept, country ?? undefined) ?? kept }
  if (type === 'select')
    return choices.includes(kept) ? { value: kept } : { problem: `must be one of ${toldChoices(choices)}` }
  return type === 'multiselect' ? fitChoices(kept, choices) : { value: kept }
}

function fitAmount(text: string): Fitting {
  return /^\d{1,12}(\.\d{1,2})?$/.test(text)
    ? { value: text }
    : { problem: 'must be an amount of at most two decimals, such as 1500.50' }
}

function fitChoices(text: string, choices: readonly string[]): Fitting {
  const chosen = new Set(text.split(',').map((choice) => choice.trim()))
  if ([...chosen].some((choice) => !choices.includes(choice)))
    return { problem: `must be some of ${toldChoices(choices)}` }
  return { value: choices.filter((choice) => chosen.has(choice)).join(choiceSeparator) }
}

const toldAtMost = 10

/** The first of them, as an error names them. */
export function toldChoices(choices: readonly string[]): string {
  const first = choices.slice(0, toldAtMost).map((choice) => choice.slice(0, 30))
  return `${first.join(', ')}${choices.length > toldAtMost ? ' and others' : ''}`
}

/** What is wrong with what can be chosen, or null. */
export function choicesProblem(
  { type, choices }: { type: LeadFieldType | CustomFieldType; choices: readonly string[] },
  sameness = (choice: string) => choice.toLowerCase(),
): string | null {
  if (!hasChoices(type)) return choices.length === 0 ? null : 'are for select and multiselect only'
  if (choices.length === 0) return 'must have at least one option'
  if (choices.some((choice) => choice.trim() !== choice || choice === '')) return 'must not be empty or padded'
  if (new Set(choices.map(sameness)).size < choices.length) return 'must differ from each other'
  if (choices.some((choice) => choice.length > maxTextLength)) return `must have at most ${maxTextLength} characters`
  if (type === 'select') return null
  if (choices.some((choice) => choice.includes(','))) return 'must hold no comma, which separates the chosen ones'
  return valueProblem('multiselect', choices.join(choiceSeparator)) === null ? null : 'are too long together'
}
