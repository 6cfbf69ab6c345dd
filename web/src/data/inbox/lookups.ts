import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { api, body } from '../../api/client.ts'

const workspace = '/api/team/v1/workspaces/{workspaceId}' as const
// They change seldom; who changes them says so.
const staleTime = 5 * 60_000

export type Label = Awaited<ReturnType<typeof listLabels>>[number]
export type Member = Awaited<ReturnType<typeof listMembers>>[number]
export type SavedFilter = Awaited<ReturnType<typeof listSavedFilters>>[number]

const at = (workspaceId: string) => ({ params: { path: { workspaceId } } })

const listLabels = async (workspaceId: string) => (await body(api.GET(`${workspace}/labels`, at(workspaceId)))).labels
const listMembers = async (workspaceId: string) =>
  (await body(api.GET(`${workspace}/members`, at(workspaceId)))).members
const listSavedFilters = async (workspaceId: string) =>
  (await body(api.GET(`${workspace}/saved-filters`, at(workspaceId)))).savedFilters

/** The labels that conversations can carry, by id. */
export function useLabels(workspaceId: string): ReadonlyMap<string, Label> {
  const { data } = useQuery({
    queryKey: [workspaceId, 'labels'],
    queryFn: () => listLabels(workspaceId),
    staleTime,
    select: byId,
  })
  return data ?? noLabels
}

const membersOf = (workspaceId: string) =>
  queryOptions({ queryKey: [workspaceId, 'members'], queryFn: () => listMembers(workspaceId), staleTime })

export function useMembers(workspaceId: string): readonly Member[] {
  return useQuery(membersOf(workspaceId)).data ?? noMembers
}

/** For what must not take members that are still being read for nobody. */
export function readMembers(queries: QueryClient, workspaceId: string): Promise<readonly Member[]> {
  return queries.ensureQueryData(membersOf(workspaceId))
}

export const savedFiltersKey = (workspaceId: string) => [workspaceId, 'saved filters'] as const

export function useSavedFilters(workspaceId: string): readonly SavedFilter[] {
  const queryKey = savedFiltersKey(workspaceId)
  const { data } = useQuery({ queryKey, queryFn: () => listSavedFilters(workspaceId), staleTime, select: ofInbox })
  return data ?? noFilters
}

export const saveFilter = (workspaceId: string, filter: { name: string; query: string; shared: boolean }) =>
  body(api.POST(`${workspace}/saved-filters`, { ...at(workspaceId), body: { page: 'inbox', ...filter } }))

export const deleteFilter = (workspaceId: string, filterId: string) =>
  body(api.DELETE(`${workspace}/saved-filters/{filterId}`, { params: { path: { workspaceId, filterId } } }))

const noLabels: ReadonlyMap<string, Label> = new Map()
const noMembers: readonly Member[] = []
const noFilters: readonly SavedFilter[] = []
const byId = (labels: Label[]): ReadonlyMap<string, Label> => new Map(labels.map((label) => [label.id, label]))
const ofInbox = (filters: SavedFilter[]) => filters.filter(({ page }) => page === 'inbox')
