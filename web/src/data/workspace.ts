import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'
import { useIsLiveReady } from '../api/live.ts'
import type { paths } from '../api/schema.ts'

const all = '/api/team/v1/workspaces'
const path = `${all}/{workspaceId}` as const
const at = (workspaceId: string) => ({ params: { path: { workspaceId } } })

export type Workspace = Awaited<ReturnType<typeof readWorkspace>>
export type WorkspacePatch = paths[typeof path]['patch']['requestBody']['content']['application/json']

/** All that is kept of a workspace. */
export const everythingKey = (workspaceId: string) => [workspaceId] as const
export const workspaceKey = (workspaceId: string) => [workspaceId, 'workspace'] as const
export const allWorkspacesKey = ['workspaces'] as const

const readWorkspace = async (workspaceId: string) => (await unwrap(api.GET(path, at(workspaceId)))).workspace

export function useWorkspace(workspaceId: string) {
  const enabled = useIsLiveReady()
  return useQuery({ queryKey: workspaceKey(workspaceId), queryFn: () => readWorkspace(workspaceId), enabled })
}

/** The statuses of the workspace in its order. */
export function useStatuses(workspaceId: string): readonly string[] {
  return useWorkspace(workspaceId).data?.leadStatuses ?? noStatuses
}

/** What the workspace's amounts are in; null: nobody has said, or it is not read yet. */
export const useCurrency = (workspaceId: string): string | null => useWorkspace(workspaceId).data?.currency ?? null

/** After how long a customer waits too long; null while it is not known, and where the workspace has no such goal. */
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
