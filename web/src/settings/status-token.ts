/** What somebody typed as the API's token of a status: `In review` is `in_review`; null when nothing is left of it. */
export function statusToken(typed: string): string | null {
  const token = typed
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
  return /^[a-z0-9_]{1,50}$/.test(token) ? token : null
}

/** The list with one of its members a place further up (-1) or down (1); the same at the ends. */
export function moveItem(list: readonly string[], one: string, by: -1 | 1): string[] {
  const from = list.indexOf(one)
  const to = from + by
  if (from < 0 || to < 0 || to >= list.length) return [...list]
  return list.with(from, list[to] ?? one).with(to, one)
}
