import { Select } from '@mantine/core'
import { useState } from 'react'
import { language, t } from '../../text/index.ts'
import { countryCodes } from '../../ui/format/country-codes.ts'

interface CountrySelectProps {
  label: string
  /** Null for none. */
  value: string | null
  change(country: string | null): void
  error?: string | undefined
  disabled?: boolean
}

/** Choice of the country of phone numbers that are typed without one. */
export function CountrySelect({ value, change, ...props }: CountrySelectProps) {
  const texts = t.settings.workspace
  const [choices] = useState(() => [{ value: '', label: texts.noCountry }, ...countries()])
  return (
    <Select
      description={texts.countryHelp}
      data={choices}
      searchable
      allowDeselect={false}
      value={value ?? ''}
      onChange={(chosen) => change(chosen || null)}
      {...props}
    />
  )
}

/** Returns the countries with phone numbers, named in the reader's language. */
function countries(): { value: string; label: string }[] {
  const names = new Intl.DisplayNames(language, { type: 'region' })
  return countryCodes
    .map((code) => ({ value: code, label: names.of(code) ?? code }))
    .sort((a, b) => a.label.localeCompare(b.label, language))
}
