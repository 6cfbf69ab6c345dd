import { useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import type { Role } from '../../session/session.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/tokens'
const at = (workspaceId: string) => ({ params: { path: { workspaceId } } })

export type Token = Awaited<ReturnType<typeof listTokens>>[number]

export const tokensKey = (workspaceId: string) => [workspaceId, 'tokens'] as const

const listTokens = async (workspaceId: string) => (await unwrap(api.GET(path, at(workspaceId)))).tokens

export function useTokens(workspaceId: string) {
  return useQuery({ queryKey: tokensKey(workspaceId), queryFn: () => listTokens(workspaceId) })
}

export const createToken = (workspaceId: string, token: { name: string; role: Role; expiresAt: string | null }) =>
  unwrap(api.POST(path, { ...at(workspaceId), body: token }))

export const revokeToken = (workspaceId: string, tokenId: string) =>
  unwrap(api.DELETE(`${path}/{tokenId}`, { params: { path: { workspaceId, tokenId } } }))
