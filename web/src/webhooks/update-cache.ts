import { useQueryClient } from '@tanstack/react-query'
import { type Endpoint, queryKeys } from '../data/webhooks.ts'

/** Shows an endpoint as an answer gave it, then lets its list be read again; null when only the latter is wanted. */
export function useUpdateEndpointCache(workspaceId: string): (endpoint: Endpoint | null) => void {
  const queries = useQueryClient()
  return (endpoint) => {
    queries.setQueryData<Endpoint[]>(queryKeys.list(workspaceId), (before) => {
      if (endpoint === null || before === undefined) return before
      const isKnown = before.some(({ id }) => id === endpoint.id)
      return isKnown ? before.map((one) => (one.id === endpoint.id ? endpoint : one)) : [endpoint, ...before]
    })
    void queries.invalidateQueries({ queryKey: queryKeys.all(workspaceId) })
  }
}

/** Takes an endpoint that was deleted out of the list. */
export function useRemoveEndpointFromCache(workspaceId: string): (endpointId: string) => void {
  const queries = useQueryClient()
  return (endpointId) => {
    queries.setQueryData<Endpoint[]>(queryKeys.list(workspaceId), (before) =>
      before?.filter(({ id }) => id !== endpointId),
    )
    void queries.invalidateQueries({ queryKey: queryKeys.list(workspaceId) })
  }
}
