/** Something that is found by what it is called, or by another word for it in any of the app's languages. */
export interface Named {
  label: string
  words?: string
}

const byKeywords = 3

/**
 * What fits a term, best first: by the beginning of its name, by that of a word of it, by anything in it, by other words.
 * Whom the server found goes before the last: who types a name wants the person.
 */
export function findMatches<T extends Named>(choices: readonly T[], term: string, found: readonly T[] = []): T[] {
  const needle = plain(term).split(' ').filter(Boolean)
  const fits = choices
    .map((choice) => ({ choice, rank: matchRank(choice, needle) ?? Number.POSITIVE_INFINITY }))
    .filter(({ rank }) => rank <= byKeywords)
    .toSorted((a, b) => a.rank - b.rank)
  const [named, others] = [fits.filter(({ rank }) => rank < byKeywords), fits.filter(({ rank }) => rank === byKeywords)]
  return [...named.map(({ choice }) => choice), ...found, ...others.map(({ choice }) => choice)]
}

/** Who is found twice, as a lead and by a conversation, says which is which; all others say no more than they must. */
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

/** Every word that is asked for must be somewhere; the worst place counts. Null when one is nowhere. */
function matchRank({ label, words = '' }: Named, needle: readonly string[]): number | null {
  const [name, others] = [` ${plain(label)}`, ` ${plain(words)}`]
  const ranks = needle.map((word) => {
    if (name.startsWith(` ${word}`)) return 0
    if (name.includes(` ${word}`)) return 1
    if (name.includes(word)) return 2
    return others.includes(` ${word}`) ? byKeywords : null
  })
  return ranks.includes(null) ? null : Math.max(0, ...ranks.map(Number))
}

/** Without accents, case and signs: one types as quickly as one can. */
const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
