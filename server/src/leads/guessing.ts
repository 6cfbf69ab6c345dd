import { type GuessBudget, unlimited } from '../access/guesses.ts'
import { ApiError } from '../base/errors.ts'
import { customFieldValues } from './custom-fields.ts'
import type { LeadPatch } from './input.ts'
import type { Lead, LeadUser } from './lead.ts'
import { maskedFields, maskLead } from './mask-lead.ts'
import { readPhones } from './read-phones.ts'

// Who sees phones masked may name a number that it knows. What it may not do is try numbers until one is there, or
// write them until one changes nothing: each that does not fit costs one of its guesses.

/** Runs what looks a lead up by an identifier, or sets fields of one, within the guesses that its caller has left. */
export async function guessing<T>(
  user: LeadUser,
  { identifier, patch }: { identifier?: string; patch?: LeadPatch },
  work: (budget: GuessBudget) => Promise<T>,
): Promise<T> {
  if (user.guesses === undefined) return work(unlimited)
  const isNumber = identifier !== undefined && readPhones(identifier, user.defaultCountry).length > 0
  if (!isNumber && !(patch !== undefined && maySet(patch))) return work(unlimited)
  return user.guesses.spend(async (budget) => {
    if (isNumber && budget.left() === 0) throw budget.refusal()
    try {
      return await work(budget)
    } catch (error) {
      if (isNumber && error instanceof ApiError && error.statusCode === 404) budget.note()
      throw error
    }
  })
}

/** Whether the answer to these fields tells of a number: because they name one, or stand where one is hidden. */
export function tellsOfNumber(patch: LeadPatch, before: Lead | undefined): boolean {
  return patch.namesNumber === true || (before !== undefined && meetsHidden(patch, before))
}

/** Whether a change shows that what was written was not there yet. */
export function isWrongGuess(patch: LeadPatch, before: Lead, lead: Lead): boolean {
  if (before === lead) return false
  const isNamed = patch.namesNumber === true && nameFields.some((field) => lead[field] !== before[field])
  return isNamed || meetsHidden(patch, before)
}

const nameFields = ['phone', 'uniqueCode', 'externalRef'] as const

const maySet = ({ fields, values, typed, namesNumber }: LeadPatch): boolean =>
  namesNumber === true ||
  typed.length > 0 ||
  Object.keys(values).length > 0 ||
  maskedFields.some((name) => typeof fields[name] === 'string')

function meetsHidden({ fields, values, typed }: LeadPatch, before: Lead): boolean {
  const shown = maskLead(before)
  const inFields = maskedFields.some(
    (name) => typeof fields[name] === 'string' && shown[name] !== before[name] && fields[name] !== shown[name],
  )
  const stored = customFieldValues(before.customFields)
  const seen = customFieldValues(shown.customFields)
  const isTried = (key: string, value: unknown) =>
    typeof value === 'string' && stored[key] !== seen[key] && value !== seen[key]
  return (
    inFields ||
    Object.entries(values).some(([key, value]) => isTried(key, value)) ||
    typed.some(({ key, value }) => isTried(key, value))
  )
}
