import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type RequestOf, type Schemas } from '../api/client.ts'
import { auditKey } from './workspace.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/keys'
const onePath = `${path}/{keyId}` as const

export type ApiKey = Schemas['ApiKey']
export type NewKey = RequestOf<typeof path, 'post'>
export type Scope = Schemas['Scope']

const apiKeysKey = (workspaceId: string) => [workspaceId, 'keys'] as const

/** Lists the keys; with `pollMs` again and again, for keys that are made elsewhere. */
export function useApiKeys(workspaceId: string, pollMs?: number) {
  return useQuery({
    queryKey: apiKeysKey(workspaceId),
    queryFn: async () => (await api.GET(path, { workspaceId })).keys,
    ...(pollMs !== undefined && { refetchInterval: pollMs }),
  })
}

/** Refetches the list after a change, and the history of a key that is open. */
export function useInvalidateKeys(workspaceId: string): () => Promise<void> {
  const queries = useQueryClient()
  return () => {
    void queries.invalidateQueries({ queryKey: auditKey(workspaceId) })
    return queries.invalidateQueries({ queryKey: apiKeysKey(workspaceId) })
  }
}

export const createKey = (workspaceId: string, body: NewKey) => api.POST(path, { workspaceId, body })

export const changeKey = (workspaceId: string, keyId: string, body: RequestOf<typeof onePath, 'patch'>) =>
  api.PATCH(onePath, { workspaceId, keyId, body })

export type KeyCall = Schemas['ApiKeyCall']
const callsPollMs = 5000

/** Returns the latest calls of a key, newest first. Polled while open, since no event announces them. */
export function useKeyCalls(workspaceId: string, keyId: string) {
  return useQuery({
    queryKey: [...apiKeysKey(workspaceId), keyId, 'calls'],
    queryFn: async () => (await api.GET(`${onePath}/calls`, { workspaceId, keyId })).calls,
    refetchInterval: callsPollMs,
    staleTime: 0,
  })
}

export const rotateKey = (workspaceId: string, keyId: string, previousValidUntil: string | null) =>
  api.POST(`${onePath}/rotate`, { workspaceId, keyId, body: { previousValidUntil } })

export const revokeKey = (workspaceId: string, keyId: string) => api.DELETE(onePath, { workspaceId, keyId })
