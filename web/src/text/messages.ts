import compile from 'icu-minify/compile'
import format, { type CompiledMessage } from 'icu-minify/format'
import type { Calls } from './schema.ts'

/** Messages in ICU MessageFormat by name; compiled by the build, so that only formatting is left. */
export interface Catalog {
  [name: string]: CompiledMessage | Catalog
}

type Values = Record<string, string | number>
type Call = (values: never) => string

/** Type of a catalog: a string, or a function for messages with arguments. */
export type TextsOf<Parts, Called = Calls> = {
  readonly [Name in keyof Parts]: Name extends keyof Called
    ? Called[Name] extends Call
      ? Called[Name]
      : TextsOf<Parts[Name], Called[Name]>
    : Parts[Name]
}

// CLDR treats zero as singular in Portuguese, but "0 leads" is the common form.
const zeroIsPlural = 'pt-PT'

export function textsOf(catalog: Catalog, language: string): Record<string, unknown> {
  const plurals = new Intl.PluralRules(language === 'pt' ? zeroIsPlural : language)
  const numbers = new Intl.NumberFormat(language)
  const options = {
    formatters: {
      getPluralRules: () => plurals,
      getNumberFormat: () => numbers,
      getDateTimeFormat: () => new Intl.DateTimeFormat(language),
    },
  }
  const textOf = (one: CompiledMessage | Catalog): unknown => {
    if (typeof one === 'object' && !Array.isArray(one)) return textsIn(one)
    // In the build, `compile` returns its argument: see web/vite/texts.ts.
    const message = typeof one === 'string' ? compile(one) : one
    return typeof message === 'string' ? message : (values: Values) => format(message, language, values, options)
  }
  const textsIn = (some: Catalog) => Object.fromEntries(Object.entries(some).map(([name, one]) => [name, textOf(one)]))
  return textsIn(catalog)
}
