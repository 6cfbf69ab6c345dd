import { loadLater } from '../load-later.ts'

const library = loadLater<typeof import('libphonenumber-js/max')>('libphonenumber-js/max')

/** Where a phone number belongs, as far as the numbering plans tell. */
export interface PhoneCountry {
  /** ISO 3166-1 alpha-2; null if several countries share the code and none of them has the number. */
  country: string | null
  /** Digits of the country calling code. */
  callingCode: string
}

/** Returns the country of a phone number in digits, country code first; null if no country has the code. */
export function phoneCountry(digits: string): PhoneCountry | null {
  const parsed = library().parsePhoneNumberFromString(`+${digits}`)
  if (parsed === undefined) return null
  return { country: parsed.country ?? null, callingCode: parsed.countryCallingCode }
}
