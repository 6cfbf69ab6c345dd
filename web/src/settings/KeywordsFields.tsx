import { TagsInput } from '@mantine/core'
import { t } from '../text/index.ts'

/** Keywords by which customers opt out of marketing, and in again. */
interface Keywords {
  optOutKeywords: string[]
  optInKeywords: string[]
}

interface KeywordsFieldsProps {
  value: Keywords
  set(changes: Partial<Keywords>): void
  errorOf(path: string): string | undefined
  disabled: boolean
}

// As the server allows.
const [maxKeywords, maxKeywordLength] = [50, 30]

export function KeywordsFields({ value, set, errorOf, disabled }: KeywordsFieldsProps) {
  const texts = t.settings.workspace
  const field = (name: keyof Keywords, label: string, description: string) => (
    <TagsInput
      label={label}
      description={description}
      value={value[name]}
      onChange={(keywords) => set({ [name]: keywords.map((word) => word.trim()).filter((word) => word !== '') })}
      maxTags={maxKeywords}
      maxLength={maxKeywordLength}
      acceptValueOnBlur
      error={errorOf(name)}
      disabled={disabled}
    />
  )
  return (
    <>
      {field('optOutKeywords', texts.optOutKeywords, texts.optOutKeywordsHelp)}
      {field('optInKeywords', texts.optInKeywords, texts.optInKeywordsHelp)}
    </>
  )
}
