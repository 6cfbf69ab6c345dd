import { isUuid } from '../base/id.ts'
import { isBlank } from '../base/text/external-text.ts'

/** Interactive options for a customer: buttons below the text, or a list that a button opens. */
export type Choices = { footer?: string } & ({ buttons: Choice[] } | { list: ChoiceList })

export interface ChoiceList {
  /** Label of the button that opens the list. */
  button: string
  rows: ListRow[]
}

export interface Choice {
  /** Returned in the customer's answer. */
  id: string
  title: string
}

export interface ListRow extends Choice {
  description?: string
}

const ratingShape = /^rating:([0-9a-f-]{36}):([1-5])$/

/** Returns the question and score in the id of an option that answers how satisfied a customer is; null for others. */
export function parseRatingChoice(id: string | null | undefined): { ratingId: string; score: number } | null {
  const [, ratingId = '', score] = ratingShape.exec(id ?? '') ?? []
  return isUuid(ratingId) ? { ratingId, score: Number(score) } : null
}

/** The platform's limits, in UTF-16 units: the strictest interpretation of its "characters". */
export const choiceLimits = {
  ...{ text: 1024, footer: 60, id: 200 },
  ...{ buttons: 3, buttonTitle: 20, rows: 10, rowTitle: 24, description: 72 },
} as const

/** Returns all buttons or list rows. */
export const optionsOf = (choices: Choices): ListRow[] => ('list' in choices ? choices.list.rows : choices.buttons)

/** Returns an error for options that the platform would reject, starting with the field; null if valid. */
export function findChoicesProblem(text: string, choices: Choices): string | null {
  for (const [field, words, longest] of listTextFields(text, choices)) {
    const problem = findTextProblem(field, words, longest, field !== 'choices.text')
    if (problem !== null) return problem
  }
  const options = optionsOf(choices)
  const path = 'list' in choices ? 'choices.list.rows' : 'choices.buttons'
  for (const key of ['id', 'title'] as const) {
    const at = options.findIndex((one, n) => options.findIndex((other) => other[key] === one[key]) < n)
    if (at !== -1) return `${path}[${at}].${key} must be unique`
  }
  return null
}

/** Returns an error for a text that is blank, too long, or not on one line although it must be; null if valid or absent. */
export function findTextProblem(
  field: string,
  words: string | undefined,
  longest: number,
  isOneLine: boolean,
): string | null {
  if (words === undefined) return null
  if (isBlank(words)) return `${field} must not be blank`
  if (words.length > longest) return `${field} must have at most ${longest} characters; an emoji counts as two or more`
  return isOneLine && /[\n\r\t]/.test(words) ? `${field} must not contain a newline or a tab` : null
}

type TextField = [field: string, words: string | undefined, longest: number]

function listTextFields(text: string, choices: Choices): TextField[] {
  return [
    ['choices.text', text, choiceLimits.text],
    ['choices.footer', choices.footer, choiceLimits.footer],
    ...('list' in choices ? listFieldsOfList(choices.list) : listFieldsOfButtons(choices.buttons)),
  ]
}

const listFieldsOfButtons = (buttons: readonly Choice[]): TextField[] =>
  buttons.map(({ title }, n) => [`choices.buttons[${n}].title`, title, choiceLimits.buttonTitle])

const listFieldsOfList = ({ button, rows }: ChoiceList): TextField[] => [
  ['choices.list.button', button, choiceLimits.buttonTitle],
  ...rows.flatMap(({ title, description }, n): TextField[] => [
    [`choices.list.rows[${n}].title`, title, choiceLimits.rowTitle],
    [`choices.list.rows[${n}].description`, description, choiceLimits.description],
  ]),
]
