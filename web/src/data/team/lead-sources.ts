import { useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../../api/client.ts'
import { leadKey } from '../leads.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/lead-sources'
const onePath = `${path}/{sourceId}` as const

export type LeadSource = Schemas['TeamLeadSource']
export type SourceRequest = Schemas['LeadSourceRequest']
export type SourceInput = Omit<LeadSource, 'id' | 'url' | 'secret' | 'createdAt'>

export const sourcesKey = (workspaceId: string) => [workspaceId, 'lead-sources'] as const

const pollMs = 5_000

export function useLeadSources(workspaceId: string) {
  return useQuery({
    queryKey: sourcesKey(workspaceId),
    queryFn: async () => (await api.GET(path, { workspaceId })).sources,
  })
}

export const createSource = async (workspaceId: string, body: SourceInput) =>
  (await api.POST(path, { workspaceId, body })).source

export const changeSource = async (
  workspaceId: string,
  id: string,
  body: Partial<Omit<SourceInput, 'kind'>> & { newSecret?: boolean },
) => (await api.PATCH(onePath, { workspaceId, sourceId: id, body })).source

export const deleteSource = (workspaceId: string, id: string) => api.DELETE(onePath, { workspaceId, sourceId: id })

/** Returns the last requests of a source. Senders are tried while the page is open, so the list is polled. */
export function useSourceRequests(workspaceId: string, id: string) {
  return useQuery({
    queryKey: [...sourcesKey(workspaceId), id],
    queryFn: async () => (await api.GET(`${onePath}/requests`, { workspaceId, sourceId: id })).requests,
    refetchInterval: pollMs,
    staleTime: 0,
  })
}

export const retryRequest = (workspaceId: string, sourceId: string, requestId: string) =>
  api.POST(`${onePath}/requests/{requestId}/retry`, { workspaceId, sourceId, requestId })

/** Fetches all earlier leads of a form, a part at a time. Returns how many were new. */
export async function backFill(workspaceId: string, id: string, formId: string): Promise<number> {
  let added = 0
  for (let after: string | null = null; ; ) {
    const body: { formId: string; after?: string } = after === null ? { formId } : { formId, after }
    const part = await api.POST(`${onePath}/back-fill`, { workspaceId, sourceId: id, body })
    added += part.added
    after = part.after
    if (after === null) return added
  }
}

const attributionPath = '/api/team/v1/workspaces/{workspaceId}/leads/{identifier}/attribution'

export type LeadTouch = Schemas['LeadTouch']

export function useLeadAttribution(workspaceId: string, id: string) {
  return useQuery({
    queryKey: [...leadKey(workspaceId, id), 'attribution'],
    queryFn: () => api.GET(attributionPath, { workspaceId, identifier: id }),
  })
}
