import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/erasures'

export type CustomerName = { leadId: string } | { conversationId: string }

async function previewErasure(workspaceId: string, name: CustomerName) {
  const response = await unwrap(api.POST(path, { params: { path: { workspaceId } }, body: { ...name, dryRun: true } }))
  return 'found' in response ? response.found : null
}

/** Counts what would be erased. Refetched each time, since people decide by the counts. */
export function useErasurePreview(workspaceId: string, name: CustomerName) {
  return useQuery({
    queryKey: [workspaceId, 'erasure', name],
    queryFn: () => previewErasure(workspaceId, name),
    gcTime: 0,
    staleTime: 0,
    retry: false,
  })
}

export async function erase(workspaceId: string, name: CustomerName) {
  const response = await unwrap(api.POST(path, { params: { path: { workspaceId } }, body: name }))
  return 'erasure' in response ? response.erasure : undefined
}
