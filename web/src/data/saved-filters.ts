import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, body } from '../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/saved-filters'

const listSaved = async (workspaceId: string) =>
  (await body(api.GET(path, { params: { path: { workspaceId } } }))).savedFilters

export function useSavedViews(workspaceId: string) {
  return useQuery({
    queryKey: [workspaceId, 'saved filters'],
    queryFn: () => listSaved(workspaceId),
    select: (all) => all.filter(({ page }) => page === 'leads'),
  })
}

/** Saves and deletes views; lists are read again after it. */
export function useViewVerbs(workspaceId: string) {
  const queries = useQueryClient()
  const onSuccess = () => queries.invalidateQueries({ queryKey: [workspaceId, 'saved filters'] })
  const save = useMutation({
    mutationFn: (view: { name: string; query: string; shared: boolean }) =>
      body(api.POST(path, { params: { path: { workspaceId } }, body: { page: 'leads', ...view } })),
    onSuccess,
  })
  const remove = useMutation({
    mutationFn: (filterId: string) =>
      body(api.DELETE(`${path}/{filterId}`, { params: { path: { workspaceId, filterId } } })),
    onSuccess,
  })
  return { save, remove }
}
