import {
  choiceSeparator,
  type FieldRule,
  type Fitting,
  fitValue,
  hasChoices,
  type LeadFieldType,
} from '../../fields/field-types.ts'
import { type DecimalSign, readFileAmount } from './amounts.ts'
import { fold, valueKey } from './choices.ts'

// Folded by `fold`.
const yes = ['true', 'yes', 'y', 'sim', 's', 'si', 'x', '1', 'verdadeiro', 'verdadero']
const no = ['false', 'no', 'n', 'nao', '0', 'falso']

/** The value of a field that the workspace defines, as a file writes it; or what is wrong with it. */
export function readFieldValue(
  field: FieldRule,
  text: string,
  { decimal, country }: { decimal: DecimalSign | null; country: string | null },
): Fitting {
  if (!isNumber(field.type)) {
    const meant = meantBy(field, text)
    if (field.type === 'boolean' && typeof meant === 'string') return { problem: 'must be yes or no' }
    return fitValue(field, meant, country)
  }
  const amount = readFileAmount(text, decimal)
  if (amount !== null) return fitValue(field, String(amount), country)
  if (decimal === null && readFileAmount(text, '.') !== null) return { problem: unclear }
  // Nothing with a sign in it is read otherwise than as an amount.
  return fitValue(field, /[.,]/.test(text) ? 'none' : text, country)
}

const unclear = 'can be read in two ways: say what stands before decimals'

const isNumber = (type: LeadFieldType): boolean => type === 'number' || type === 'amount'

function meantBy(field: FieldRule, text: string): string | boolean {
  const { type, choices } = field
  if (type === 'boolean') return yes.includes(fold(text)) ? true : no.includes(fold(text)) ? false : text
  if (!hasChoices(type)) return text
  return choicesIn(field, text)
    .map((part) => sameChoice(choices, part) ?? part)
    .join(choiceSeparator)
}

/** What a cell of a field with choices names: one, or several that signs stand between. */
export function choicesIn({ type, choices }: FieldRule, text: string): string[] {
  if (type !== 'multiselect') return [text.trim()]
  return text
    .split(',')
    .flatMap((part) => (choices.includes(part.trim()) ? [part] : part.split(/[;|]/)))
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** The choice that a text is, whatever its case and accents. */
export function sameChoice(choices: readonly string[], text: string): string | undefined {
  const folded = fold(text)
  return choices.find((choice) => choice === text) ?? choices.find((choice) => folded !== '' && fold(choice) === folded)
}

/** The cell as somebody said what its values stand for; what is to be left out is gone. */
export function meantChoices(
  field: FieldRule,
  text: string,
  meanings: Readonly<Record<string, string | null>> | undefined,
): string {
  if (meanings === undefined || !hasChoices(field.type)) return text
  return choicesIn(field, text)
    .map((part) => {
      const meant = meanings[valueKey(part)]
      return meant === undefined ? part : meant
    })
    .filter((part) => part !== null)
    .join(choiceSeparator)
}
