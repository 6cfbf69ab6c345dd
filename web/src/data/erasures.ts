import { useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/erasures'

export type CustomerName = { leadId: string } | { conversationId: string }

/** Counts what would be erased. Refetched each time, since people decide by the counts. */
export function useErasurePreview(workspaceId: string, name: CustomerName) {
  return useQuery({
    queryKey: [workspaceId, 'erasure', name],
    queryFn: async () => {
      const response = await api.POST(path, { workspaceId, body: { ...name, dryRun: true } })
      return 'found' in response ? response.found : null
    },
    gcTime: 0,
    staleTime: 0,
    retry: false,
  })
}

export async function erase(workspaceId: string, name: CustomerName) {
  const response = await api.POST(path, { workspaceId, body: name })
  return 'erasure' in response ? response.erasure : undefined
}
