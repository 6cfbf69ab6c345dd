import { language } from '../text/index.ts'
import { countryCodes } from '../ui/format/country-codes.ts'

/** Returns the countries with phone numbers, named in the reader's language. */
export function countries(): { value: string; label: string }[] {
  const names = new Intl.DisplayNames(language, { type: 'region' })
  return countryCodes
    .map((code) => ({ value: code, label: names.of(code) ?? code }))
    .sort((a, b) => a.label.localeCompare(b.label, language))
}
