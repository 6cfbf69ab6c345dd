/** Converts a label to a status token of the API: `In review` becomes `in_review`; null if nothing is left. */
export function statusToken(typed: string): string | null {
  const token = typed
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
  return /^[a-z0-9_]{1,50}$/.test(token) ? token : null
}

/** Moves an item up (-1) or down (1); unchanged at the ends. */
export function moveItem(list: readonly string[], one: string, by: -1 | 1): string[] {
  const from = list.indexOf(one)
  const to = from + by
  if (from < 0 || to < 0 || to >= list.length) return [...list]
  return list.with(from, list[to] ?? one).with(to, one)
}
