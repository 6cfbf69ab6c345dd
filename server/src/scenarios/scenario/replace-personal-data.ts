import { foldText } from '../../base/text/search-text.ts'

/** Longest text that is searched, in characters. */
const maxText = 16_384

// Bounded repetitions: customers write these texts.
const patterns = {
  url: /https?:\/\/[^\s<>"]{1,500}/giu,
  email: /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}/gu,
  street:
    /(?<![\p{L}\p{M}])(?:rua|avenida|av\.|travessa|alameda|pra[cç]a|calle|carrera|camino)(?:\s{1,3}[\p{L}\d.'’-]{1,30}){1,4}(?:,?\s{0,3}n?[.ºo°]{0,2}\s?\d{1,6})?|(?<!\d)\d{1,6}(?:\s{1,3}[\p{L}.'’-]{1,30}){1,3}\s{1,3}(?:street|road|avenue|lane|square)(?![\p{L}])/giu,
  number: /(?<!\d)\+?\d(?:[\s()./-]{0,2}\d){3,25}/gu,
  word: /[\p{L}\p{M}]{2,60}/gu,
} as const

const inventedNames = ['Vera', 'Sampaio', 'Nina', 'Rocha', 'Hugo', 'Pires', 'Clara', 'Matos', 'Ivo', 'Serra'] as const

/** Replaces the same value by the same invented one, in all texts of a scenario. */
export type Replacer = (text: string) => string

/**
 * Returns a function that replaces web and e-mail addresses, streets, numbers of four or more digits, and the names.
 * A name is replaced where one of its words stands, whatever its case and accents.
 */
export function createReplacer(names: readonly (string | null | undefined)[]): Replacer {
  const replaced = new Map<string, string>()
  const counts = new Map<string, number>()
  const invented = (kind: string, value: string, make: (n: number) => string): string => {
    const key = `${kind} ${foldText(value)}`
    const known = replaced.get(key)
    if (known !== undefined) return known
    const n = (counts.get(kind) ?? 0) + 1
    counts.set(kind, n)
    const next = make(n)
    replaced.set(key, next)
    return next
  }
  const parts = names.flatMap((name) => name?.slice(0, 200).match(patterns.word) ?? [])
  const nameWords = new Set(parts.map(foldText))
  const nameAt = (n: number) => inventedNames[(n - 1) % inventedNames.length] ?? 'Vera'
  // In this order from the first on: the names of the customer become those of the invented one.
  for (const word of parts) invented('name', word, nameAt)
  return (text) =>
    text
      .slice(0, maxText)
      .replaceAll(patterns.url, (found) => invented('url', found, (n) => `https://example.com/${n}`))
      .replaceAll(patterns.email, (found) => invented('email', found, (n) => `person${n}@example.com`))
      .replaceAll(patterns.street, (found) => invented('street', found, (n) => `Rua das Flores, ${n}`))
      .replaceAll(patterns.number, (found) => {
        // What was put in before stays: it has fewer digits.
        const digits = found.replaceAll(/\D/g, '')
        return invented('number', digits, (n) => digitsLike(found, n))
      })
      .replaceAll(patterns.word, (found) => (nameWords.has(foldText(found)) ? invented('name', found, nameAt) : found))
}

/** Returns a number of the same form: a plus and its separators stay, the digits count up from 1000… */
function digitsLike(found: string, n: number): string {
  const length = found.replaceAll(/\D/g, '').length
  const digits = String(10 ** (Math.min(length, 15) - 1) + n).padStart(length, '1')
  let at = 0
  return found.replaceAll(/\d/g, () => digits[at++] ?? '0')
}
