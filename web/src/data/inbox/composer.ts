import { useQuery } from '@tanstack/react-query'
import { api, body } from '../../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}' as const

/** What the composer offers changes seldom; it is read when a conversation is opened, and kept meanwhile. */
export function useCannedReplies(workspaceId: string) {
  return useQuery({
    queryKey: [workspaceId, 'canned-replies'],
    queryFn: async () =>
      (await body(api.GET(`${path}/canned-replies`, { params: { path: { workspaceId } } }))).cannedReplies,
  })
}

export function useWorkspace(workspaceId: string) {
  return useQuery({
    queryKey: [workspaceId, 'workspace'],
    queryFn: async () => (await body(api.GET(path, { params: { path: { workspaceId } } }))).workspace,
  })
}

export function useTemplates(workspaceId: string, connectionId: string) {
  return useQuery({
    queryKey: [workspaceId, 'connection', connectionId, 'templates'],
    queryFn: async () =>
      (
        await body(
          api.GET(`${path}/connections/{connectionId}/templates`, { params: { path: { workspaceId, connectionId } } }),
        )
      ).templates,
  })
}

export const acknowledgeRisk = (workspaceId: string, connectionId: string) =>
  body(api.POST(`${path}/connections/{connectionId}/acknowledge`, { params: { path: { workspaceId, connectionId } } }))
