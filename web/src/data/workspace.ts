import { useQuery } from '@tanstack/react-query'
import { api, type RequestOf, type Schemas } from '../api/client.ts'
import { useIsLiveReady } from '../api/live.ts'

const all = '/api/team/v1/workspaces'
const path = `${all}/{workspaceId}` as const

export type Workspace = Schemas['Workspace']
export type WorkspacePatch = RequestOf<typeof path, 'patch'>

/** Everything cached of a workspace. */
export const everythingKey = (workspaceId: string) => [workspaceId] as const
export const workspaceKey = (workspaceId: string) => [workspaceId, 'workspace'] as const
export const auditKey = (workspaceId: string) => [workspaceId, 'audit'] as const
export const allWorkspacesKey = ['workspaces'] as const

export function useWorkspace(workspaceId: string) {
  const enabled = useIsLiveReady()
  const queryFn = async () => (await api.GET(path, { workspaceId })).workspace
  return useQuery({ queryKey: workspaceKey(workspaceId), queryFn, enabled })
}

/** Returns the lead statuses of the workspace in order. */
export function useStatuses(workspaceId: string): readonly string[] {
  return useWorkspace(workspaceId).data?.leadStatuses ?? noStatuses
}

/** Returns the currency of the workspace; null if not set or not loaded. */
export const useCurrency = (workspaceId: string): string | null => useWorkspace(workspaceId).data?.currency ?? null

/** Returns the response time goal in milliseconds; null if unknown or not set. */
export function useAnswerGoalMs(workspaceId: string): number | null {
  const minutes = useWorkspace(workspaceId).data?.answerGoalMinutes ?? null
  return minutes === null ? null : minutes * 60_000
}

const noStatuses: readonly string[] = []

export function useAllWorkspaces() {
  return useQuery({ queryKey: allWorkspacesKey, queryFn: async () => (await api.GET(all)).workspaces })
}

export const changeWorkspace = async (workspaceId: string, patch: WorkspacePatch) =>
  (await api.PATCH(path, { workspaceId, body: patch })).workspace

export const createWorkspace = async (workspace: { name: string; defaultCountry: string | null }) =>
  (await api.POST(all, { body: workspace })).workspace
