import { useQuery } from '@tanstack/react-query'
import { api, body } from '../api/client.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/connections'
export type Connection = Awaited<ReturnType<typeof listConnections>>[number]

async function listConnections(workspaceId: string) {
  return (await body(api.GET(path, { params: { path: { workspaceId } } }))).connections
}

export function useConnections(workspaceId: string) {
  return useQuery({ queryKey: [workspaceId, 'connections'], queryFn: () => listConnections(workspaceId) })
}
