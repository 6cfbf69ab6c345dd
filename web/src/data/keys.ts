import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../api/client.ts'
import type { scopeValues } from '../api/schema.ts'
import { auditKey } from './workspace.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/keys'
export type ApiKey = Awaited<ReturnType<typeof listKeys>>[number]
export type NewKey = Parameters<typeof createKey>[1]
export type Scope = (typeof scopeValues)[number]

async function listKeys(workspaceId: string) {
  return (await unwrap(api.GET(path, { params: { path: { workspaceId } } }))).keys
}

const apiKeysKey = (workspaceId: string) => [workspaceId, 'keys'] as const

/** Lists the keys; with `pollMs` again and again, for keys that are made elsewhere. */
export function useApiKeys(workspaceId: string, pollMs?: number) {
  return useQuery({
    queryKey: apiKeysKey(workspaceId),
    queryFn: () => listKeys(workspaceId),
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

export function createKey(
  workspaceId: string,
  key: {
    name: string
    scopes: Scope[]
    connectionIds?: string[]
    phoneVisibility?: ApiKey['phoneVisibility']
    allowlist?: string[]
    answersNewConversations?: boolean
    unansweredSends?: number | null
    dailySends?: number | null
    quietSeconds?: number | null
    maxParts?: number | null
    showTyping?: boolean
    expiresAt?: string | null
  },
) {
  return unwrap(api.POST(path, { params: { path: { workspaceId } }, body: key }))
}

interface KeyChanges {
  name?: string
  scopes?: Scope[]
  connectionIds?: string[]
  allowlist?: string[]
  answersNewConversations?: boolean
  unansweredSends?: number | null
  dailySends?: number | null
  quietSeconds?: number | null
  maxParts?: number | null
  showTyping?: boolean
  approval?: ApiKey['approval']
  toolsOff?: string[]
}

export function changeKey(workspaceId: string, keyId: string, changes: KeyChanges) {
  const params = { path: { workspaceId, keyId } }
  return unwrap(api.PATCH(`${path}/{keyId}`, { params, body: changes }))
}

export type KeyCall = Awaited<ReturnType<typeof listCalls>>[number]
const callsPollMs = 5000

async function listCalls(workspaceId: string, keyId: string) {
  return (await unwrap(api.GET(`${path}/{keyId}/calls`, { params: { path: { workspaceId, keyId } } }))).calls
}

/** Returns the latest calls of a key, newest first. Polled while open, since no event announces them. */
export function useKeyCalls(workspaceId: string, keyId: string) {
  return useQuery({
    queryKey: [...apiKeysKey(workspaceId), keyId, 'calls'],
    queryFn: () => listCalls(workspaceId, keyId),
    refetchInterval: callsPollMs,
    staleTime: 0,
  })
}

export function rotateKey(workspaceId: string, keyId: string, previousValidUntil: string | null) {
  return unwrap(
    api.POST(`${path}/{keyId}/rotate`, { params: { path: { workspaceId, keyId } }, body: { previousValidUntil } }),
  )
}

export function revokeKey(workspaceId: string, keyId: string) {
  return unwrap(api.DELETE(`${path}/{keyId}`, { params: { path: { workspaceId, keyId } } }))
}
