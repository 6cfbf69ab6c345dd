import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../api/client.ts'
import { useIsLiveReady } from '../../api/live.ts'
import { workspaceKey } from '../workspace.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/instructions'
const onePath = `${path}/versions/{versionId}` as const

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
const versionsKey = (workspaceId: string, { keyId, connectionId }: Scope) =>
  [...instructionsKey(workspaceId), 'versions', keyId, connectionId] as const

export function useScopes(workspaceId: string) {
  const enabled = useIsLiveReady()
  return useQuery({
    queryKey: [...instructionsKey(workspaceId), 'scopes'],
    queryFn: async () => (await unwrap(api.GET(path, { params: { path: { workspaceId } } }))).scopes,
    enabled,
  })
}

export function useVersions(workspaceId: string, scope: Scope, isWanted = true) {
  const enabled = useIsLiveReady() && isWanted
  return useQuery({
    queryKey: versionsKey(workspaceId, scope),
    queryFn: (): Promise<Versions> => {
      const query = {
        ...(scope.keyId !== null && { keyId: scope.keyId }),
        ...(scope.connectionId !== null && { connectionId: scope.connectionId }),
      }
      return unwrap(api.GET(`${path}/versions`, { params: { path: { workspaceId }, query } }))
    },
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
  (await unwrap(api.PUT(`${path}/draft`, { params: { path: { workspaceId } }, body }))).draft

export const discardDraft = (workspaceId: string, { id, revision }: Draft) =>
  unwrap(api.DELETE(onePath, { params: { path: { workspaceId, versionId: id }, query: { revision } } }))

export const publishDraft = (workspaceId: string, { id, revision }: Draft, basedOn: number) =>
  unwrap(
    api.POST(`${onePath}/publish`, {
      params: { path: { workspaceId, versionId: id } },
      body: { revision, basedOn },
    }),
  )

export const restoreVersion = (workspaceId: string, { id }: Version, basedOn: number) =>
  unwrap(api.POST(`${onePath}/restore`, { params: { path: { workspaceId, versionId: id } }, body: { basedOn } }))

/** What the key receives now, or once the draft is published. Never cached: it contains limits that count down. */
export function usePreview(workspaceId: string, keyId: string, draftId: string | null) {
  return useQuery({
    queryKey: [...instructionsKey(workspaceId), 'preview', keyId, draftId],
    queryFn: () =>
      unwrap(
        api.GET('/api/team/v1/workspaces/{workspaceId}/keys/{keyId}/preview', {
          params: { path: { workspaceId, keyId }, query: draftId === null ? {} : { draftId } },
        }),
      ),
    staleTime: 0,
    gcTime: 0,
  })
}

export function useAgentTools(workspaceId: string) {
  return useQuery({
    queryKey: [workspaceId, 'agent-tools'],
    queryFn: async () =>
      (
        await unwrap(
          api.GET('/api/team/v1/workspaces/{workspaceId}/agent-tools', { params: { path: { workspaceId } } }),
        )
      ).tools,
    staleTime: Number.POSITIVE_INFINITY,
  })
}
