import type { SavedFilter } from '../../data/saved-filters.ts'
import { type LeadAddress, readSavedQuery, savedQuery } from '../../shared/lead-view/address.ts'

/** Address of a view when it is opened. */
export const addressOfView = ({ id, query }: Pick<SavedFilter, 'id' | 'query'>): LeadAddress => ({
  ...readSavedQuery(query),
  saved: id,
})

/** Returns the view that an address names or equals; undefined: all leads. */
export function openView(views: readonly SavedFilter[], address: LeadAddress): SavedFilter | undefined {
  const now = savedQuery(address)
  const named = views.find(({ id }) => id === address.saved)
  return named ?? (now === '' ? undefined : views.find((view) => savedQueryOf(view) === now))
}

/** Returns whether the address differs from the view; without a view, whether there is anything to save. */
export const isChanged = (view: SavedFilter | undefined, address: LeadAddress): boolean =>
  savedQuery(address) !== (view === undefined ? '' : savedQueryOf(view))

const savedQueryOf = (view: SavedFilter): string => savedQuery(addressOfView(view))

/** Moves an id by a number of positions. */
export function moveIdBy(ids: readonly string[], id: string, by: number): string[] {
  const to = ids.indexOf(id) + by
  return to < 0 || to >= ids.length ? [...ids] : ids.filter((one) => one !== id).toSpliced(to, 0, id)
}

/** Moves an id to the position of another one. */
export const moveIdTo = (ids: readonly string[], id: string, at: string): string[] =>
  ids.includes(id) && ids.includes(at) ? moveIdBy(ids, id, ids.indexOf(at) - ids.indexOf(id)) : [...ids]

/** Returns an unused name for a copy, such as `Ads 2`. */
export function nameOfCopy(name: string, taken: readonly string[]): string {
  const [, stem = name, n = '1'] = /^(.{1,70}) (\d{1,3})$/.exec(name) ?? []
  for (let next = Number(n) + 1; ; next++) {
    const copy = `${stem.slice(0, 75)} ${next}`
    if (!taken.includes(copy)) return copy
  }
}
