import { choiceSeparator, type Fitting, fitValue, type LeadFieldType } from '../../fields/field-types.ts'
import type { LeadField } from '../../fields/lead-fields.ts'
import { type DecimalSign, readFileAmount } from './amounts.ts'
import { fold } from './choices.ts'

// Folded by `fold`.
const yes = ['true', 'yes', 'y', 'sim', 's', 'si', 'x', '1', 'verdadeiro', 'verdadero']
const no = ['false', 'no', 'n', 'nao', '0', 'falso']

type FieldRule = Pick<LeadField, 'type' | 'choices'>

/** The value of a field that the workspace defines, as a file writes it; or what is wrong with it. */
export function readFieldValue(
  field: FieldRule,
  text: string,
  { decimal, country }: { decimal: DecimalSign | null; country: string | null },
): Fitting {
  return fitValue(field, isNumber(field.type) ? plainNumber(text, decimal) : meantBy(field, text), country)
}

const isNumber = (type: LeadFieldType): boolean => type === 'number' || type === 'amount'

// What can be read in two ways stays as it is, and is refused.
function plainNumber(text: string, decimal: DecimalSign | null): string {
  const amount = readFileAmount(text, decimal)
  if (amount === null) return /[.,]/.test(text) ? `unclear ${text.slice(0, 60)}` : text
  return String(amount)
}

function meantBy({ type, choices }: FieldRule, text: string): string | boolean {
  if (type === 'boolean') return yes.includes(fold(text)) ? true : no.includes(fold(text)) ? false : text
  if (type === 'select') return sameChoice(choices, text)
  if (type !== 'multiselect') return text
  return text
    .split(/[,;|]/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => sameChoice(choices, part))
    .join(choiceSeparator)
}

/** The choice that a text is, whatever its case and accents; else the text. */
function sameChoice(choices: readonly string[], text: string): string {
  const folded = fold(text)
  return choices.find((choice) => choice === text || (folded !== '' && fold(choice) === folded)) ?? text
}
