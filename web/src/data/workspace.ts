import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'
import { useIsLiveReady } from '../api/live.ts'
import type { paths } from '../api/schema.ts'

const all = '/api/team/v1/workspaces'
const path = `${all}/{workspaceId}` as const
const at = (workspaceId: string) => ({ params: { path: { workspaceId } } })

export type Workspace = Awaited<ReturnType<typeof readWorkspace>>
export type WorkspacePatch = paths[typeof path]['patch']['requestBody']['content']['application/json']

/** Everything cached of a workspace. */
export const everythingKey = (workspaceId: string) => [workspaceId] as const
export const workspaceKey = (workspaceId: string) => [workspaceId, 'workspace'] as const
export const auditKey = (workspaceId: string) => [workspaceId, 'audit'] as const
export const allWorkspacesKey = ['workspaces'] as const

const readWorkspace = async (workspaceId: string) => (await unwrap(api.GET(path, at(workspaceId)))).workspace

export function useWorkspace(workspaceId: string) {
  const enabled = useIsLiveReady()
  return useQuery({ queryKey: workspaceKey(workspaceId), queryFn: () => readWorkspace(workspaceId), enabled })
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
  return useQuery({ queryKey: allWorkspacesKey, queryFn: async () => (await unwrap(api.GET(all))).workspaces })
}

export const changeWorkspace = async (workspaceId: string, patch: WorkspacePatch) =>
  (await unwrap(api.PATCH(path, { ...at(workspaceId), body: patch }))).workspace

export const createWorkspace = async (workspace: { name: string; defaultCountry: string | null }) =>
  (await unwrap(api.POST(all, { body: workspace }))).workspace
