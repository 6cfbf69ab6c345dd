import { useQueryClient } from '@tanstack/react-query'
import { type Endpoint, queryKeys } from '../data/webhooks.ts'

/** Caches an endpoint from a response, then refetches the list; null only refetches. */
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

/** Removes a deleted endpoint from the list. */
export function useRemoveEndpointFromCache(workspaceId: string): (endpointId: string) => void {
  const queries = useQueryClient()
  return (endpointId) => {
    queries.setQueryData<Endpoint[]>(queryKeys.list(workspaceId), (before) =>
      before?.filter(({ id }) => id !== endpointId),
    )
    void queries.invalidateQueries({ queryKey: queryKeys.list(workspaceId) })
  }
}
