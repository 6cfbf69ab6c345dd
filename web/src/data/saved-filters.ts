import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/saved-filters'
const onePath = `${path}/{filterId}` as const
// Changes are rare and announced by an event.
const staleMs = 5 * 60_000

export type SavedFilter = Schemas['SavedFilter']

/** Filters of all pages; each page selects its own. */
export const savedFiltersKey = (workspaceId: string) => [workspaceId, 'saved-filters'] as const

const filtersQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: savedFiltersKey(workspaceId),
    queryFn: async () => (await api.GET(path, { workspaceId })).savedFilters,
  })

export const useSavedFilters = (workspaceId: string) => useQuery(filtersQuery(workspaceId))

export function useSavedFiltersOf(page: SavedFilter['page'], workspaceId: string): readonly SavedFilter[] {
  const select = (all: SavedFilter[]) => all.filter((one) => one.page === page)
  return useQuery({ ...filtersQuery(workspaceId), staleTime: staleMs, select }).data ?? noFilters
}

const noFilters: readonly SavedFilter[] = []

export const createFilter = (workspaceId: string, filter: Pick<SavedFilter, 'page' | 'name' | 'query' | 'shared'>) => {
  const { page, name, query, shared } = filter
  return api.POST(path, { workspaceId, body: { page, name, query, shared } })
}

export const renameFilter = (workspaceId: string, filterId: string, name: string) =>
  changeFilter(workspaceId, filterId, { name })

export const changeFilter = (
  workspaceId: string,
  filterId: string,
  changes: Partial<Pick<SavedFilter, 'name' | 'query' | 'shared'>>,
) => api.PATCH(onePath, { workspaceId, filterId, body: changes })

/** Shows a new order before it is saved; a request under way would bring the old one. */
export function cacheFilterOrder(queries: QueryClient, workspaceId: string, ids: readonly string[]): void {
  const queryKey = savedFiltersKey(workspaceId)
  const placeOf = ({ id }: SavedFilter) => (ids.includes(id) ? ids.indexOf(id) : ids.length)
  void queries.cancelQueries({ queryKey })
  queries.setQueryData<SavedFilter[]>(queryKey, (all) => all?.toSorted((a, b) => placeOf(a) - placeOf(b)))
}

/** Saves the order in which this person sees the filters of a page. */
export const orderFilters = (workspaceId: string, page: SavedFilter['page'], ids: readonly string[]) =>
  api.PUT(`${path}/order`, { workspaceId, body: { page, ids: [...ids] } })

export const deleteFilter = (workspaceId: string, filterId: string) => api.DELETE(onePath, { workspaceId, filterId })
