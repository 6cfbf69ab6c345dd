import { type GuessBudget, unlimited } from '../../access/rate-limit/guesses.ts'
import { ApiError } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import type { LeadPatch } from './input.ts'
import type { Lead, LeadUser } from './lead.ts'
import { holdsPhone, readPhones } from './read-phones.ts'

// Who sees phones masked may name a number that it knows, and not try numbers until one is there: each that is not, or that is
// written where another was, costs one of its guesses.

/** Runs what looks a lead up by an identifier, or sets fields of one, within the guesses that its caller has left. */
export async function guessing<T>(
  user: LeadUser,
  { identifier, patch }: { identifier?: string; patch?: LeadPatch },
  work: (budget: GuessBudget) => Promise<T>,
): Promise<T> {
  if (user.guesses === undefined) return work(unlimited)
  const isNumber = identifier !== undefined && !isUuid(identifier) && mayBeNumber(identifier, user.defaultCountry)
  if (!isNumber && patch?.namesNumber !== true) return work(unlimited)
  return user.guesses.spend(async (budget) => {
    if (budget.left() === 0) throw budget.refusal()
    try {
      return await work(budget)
    } catch (error) {
      if (isNumber && error instanceof ApiError && error.statusCode === 404) budget.note()
      throw error
    }
  })
}

const mayBeNumber = (text: string, defaultCountry: string | null): boolean =>
  readPhones(text, defaultCountry).length > 0 || holdsPhone(text, defaultCountry)

/** Whether a change shows that a number which was written was not there yet. */
export function isWrongGuess(patch: LeadPatch, before: Lead, lead: Lead): boolean {
  return patch.namesNumber === true && numberFields.some((field) => lead[field] !== before[field])
}

const numberFields = ['phone', 'uniqueCode', 'externalRef'] as const
