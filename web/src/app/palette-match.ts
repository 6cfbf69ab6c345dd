/** Something that is found by its label or by a synonym in any language of the app. */
export interface Named {
  label: string
  keywords?: string
}

const byKeywords = 3

/**
 * Returns the matches, best first: start of the label, start of a word in it, anywhere in it, synonyms. Results of the
 * server come before synonyms, since a typed name usually means a person.
 */
export function findMatches<T extends Named>(choices: readonly T[], term: string, found: readonly T[] = []): T[] {
  const needle = normalize(term).split(' ').filter(Boolean)
  const fits = choices
    .map((choice) => ({ choice, rank: matchRank(choice, needle) ?? Number.POSITIVE_INFINITY }))
    .filter(({ rank }) => rank <= byKeywords)
    .toSorted((a, b) => a.rank - b.rank)
  const [named, others] = [fits.filter(({ rank }) => rank < byKeywords), fits.filter(({ rank }) => rank === byKeywords)]
  return [...named.map(({ choice }) => choice), ...found, ...others.map(({ choice }) => choice)]
}

/** Adds a hint to results that appear twice, as a lead and as a conversation. */
export function disambiguate<T extends { kind: string; group: string; label: string; hint?: string }>(
  found: readonly T[],
): T[] {
  const isTwin = (a: T, b: T) =>
    a.group !== b.group && (a.label === b.label || (a.hint !== undefined && a.hint !== '' && a.hint === b.hint))
  return found.map((one) =>
    found.some((other) => isTwin(one, other))
      ? { ...one, hint: [one.kind, one.hint].filter(Boolean).join(' · ') }
      : one,
  )
}

/** Returns the rank of the worst matching word, or null if a word does not match. */
function matchRank({ label, keywords = '' }: Named, needle: readonly string[]): number | null {
  const [name, others] = [` ${normalize(label)}`, ` ${normalize(keywords)}`]
  const ranks = needle.map((word) => {
    if (name.startsWith(` ${word}`)) return 0
    if (name.includes(` ${word}`)) return 1
    if (name.includes(word)) return 2
    return others.includes(` ${word}`) ? byKeywords : null
  })
  return ranks.includes(null) ? null : Math.max(0, ...ranks.map(Number))
}

/** Removes accents, case and punctuation. */
const normalize = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
