import type { SavedFilter } from '../../data/saved-filters.ts'
import { type LeadAddress, readSavedQuery, savedQuery } from '../fields/address.ts'

/** A view as it is shown when it is opened. */
export const addressOfView = ({ id, query }: Pick<SavedFilter, 'id' | 'query'>): LeadAddress => ({
  ...readSavedQuery(query),
  saved: id,
})

/** The view that an address names, or is; undefined: all leads. */
export function openView(views: readonly SavedFilter[], address: LeadAddress): SavedFilter | undefined {
  const now = savedQuery(address)
  const named = views.find(({ id }) => id === address.saved)
  return named ?? (now === '' ? undefined : views.find((view) => savedQueryOf(view) === now))
}

/** Whether something else is shown than the view says; without a view, whether there is something to save. */
export const isChanged = (view: SavedFilter | undefined, address: LeadAddress): boolean =>
  savedQuery(address) !== (view === undefined ? '' : savedQueryOf(view))

const savedQueryOf = (view: SavedFilter): string => savedQuery(addressOfView(view))

/** The ids with one of them so many places on. */
export function moveIdBy(ids: readonly string[], id: string, by: number): string[] {
  const to = ids.indexOf(id) + by
  return to < 0 || to >= ids.length ? [...ids] : ids.filter((one) => one !== id).toSpliced(to, 0, id)
}

/** The ids with one of them where another is. */
export const moveIdTo = (ids: readonly string[], id: string, at: string): string[] =>
  ids.includes(id) && ids.includes(at) ? moveIdBy(ids, id, ids.indexOf(at) - ids.indexOf(id)) : [...ids]

/** The name of a copy that no view has yet: `Ads 2`. */
export function nameOfCopy(name: string, taken: readonly string[]): string {
  const [, stem = name, n = '1'] = /^(.{1,70}) (\d{1,3})$/.exec(name) ?? []
  for (let next = Number(n) + 1; ; next++) {
    const copy = `${stem.slice(0, 75)} ${next}`
    if (!taken.includes(copy)) return copy
  }
}
