import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type Schemas } from '../../api/client.ts'
import { useIsLiveReady } from '../../api/live.ts'
import { workspaceKey } from '../workspace.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/instructions'
const onePath = `${path}/versions/{versionId}` as const
const previewPath = '/api/team/v1/workspaces/{workspaceId}/keys/{keyId}/preview'

/** Whom instructions are for: every agent, one key, or the conversations of one connection. */
export interface Scope {
  keyId: string | null
  connectionId: string | null
}

export type Version = Schemas['InstructionsVersion']
export type Draft = Schemas['InstructionsDraft']
/** The draft, and the published versions, newest first. */
export interface Versions {
  draft: Draft | null
  versions: Version[]
}

// Below the workspace, so that the live updates of its settings refetch it.
const instructionsKey = (workspaceId: string) => [...workspaceKey(workspaceId), 'instructions'] as const

export function useScopes(workspaceId: string) {
  const enabled = useIsLiveReady()
  return useQuery({
    queryKey: [...instructionsKey(workspaceId), 'scopes'],
    queryFn: async () => (await api.GET(path, { workspaceId })).scopes,
    enabled,
  })
}

export function useVersions(workspaceId: string, scope: Scope, isWanted = true) {
  const enabled = useIsLiveReady() && isWanted
  const { keyId, connectionId } = scope
  return useQuery({
    queryKey: [...instructionsKey(workspaceId), 'versions', keyId, connectionId],
    queryFn: (): Promise<Versions> => api.GET(`${path}/versions`, { workspaceId, query: { keyId, connectionId } }),
    enabled,
  })
}

/** Refetches all of them after a change of one's own. */
export function useInvalidateInstructions(workspaceId: string): () => Promise<void> {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: instructionsKey(workspaceId) })
}

export interface DraftInput extends Scope {
  text: string | null
  note: string | null
  basedOn: number
  revision: number | null
}

export const saveDraft = async (workspaceId: string, body: DraftInput): Promise<Draft> =>
  (await api.PUT(`${path}/draft`, { workspaceId, body })).draft

export const discardDraft = (workspaceId: string, { id, revision }: Draft) =>
  api.DELETE(onePath, { workspaceId, versionId: id, query: { revision } })

export const publishDraft = (workspaceId: string, { id, revision }: Draft, basedOn: number) =>
  api.POST(`${onePath}/publish`, { workspaceId, versionId: id, body: { revision, basedOn } })

export const restoreVersion = (workspaceId: string, { id }: Version, basedOn: number) =>
  api.POST(`${onePath}/restore`, { workspaceId, versionId: id, body: { basedOn } })

/** What the key receives now, or once the draft is published. Never cached: it contains limits that count down. */
export function usePreview(workspaceId: string, keyId: string, draftId: string | null) {
  return useQuery({
    queryKey: [...instructionsKey(workspaceId), 'preview', keyId, draftId],
    queryFn: () => api.GET(previewPath, { workspaceId, keyId, query: { draftId } }),
    staleTime: 0,
    gcTime: 0,
  })
}

export function useAgentTools(workspaceId: string) {
  return useQuery({
    queryKey: [workspaceId, 'agent-tools'],
    queryFn: async () => (await api.GET('/api/team/v1/workspaces/{workspaceId}/agent-tools', { workspaceId })).tools,
    staleTime: Number.POSITIVE_INFINITY,
  })
}
