import { useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../../api/client.ts'
import type { Role } from '../../session/session.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/tokens'

export type Token = Schemas['TeamToken']

export const tokensKey = (workspaceId: string) => [workspaceId, 'tokens'] as const

export function useTokens(workspaceId: string) {
  const queryFn = async () => (await api.GET(path, { workspaceId })).tokens
  return useQuery({ queryKey: tokensKey(workspaceId), queryFn })
}

export const createToken = (workspaceId: string, token: { name: string; role: Role; expiresAt: string | null }) =>
  api.POST(path, { workspaceId, body: token })

export const revokeToken = (workspaceId: string, tokenId: string) =>
  api.DELETE(`${path}/{tokenId}`, { workspaceId, tokenId })
