import { isSupportedCountry } from 'libphonenumber-js/max'
import type { Issue } from '../errors.ts'

/** What is wrong with a default country; numbers of one that has no numbering plan would all be read as foreign. */
export function issuesOfCountry(country: string | null | undefined): Issue[] {
  if (country === undefined || country === null || isSupportedCountry(country)) return []
  return [{ path: 'defaultCountry', message: 'must be an ISO 3166-1 code of a country with phone numbers, as in BR' }]
}
