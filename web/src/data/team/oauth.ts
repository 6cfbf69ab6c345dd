import { useQuery } from '@tanstack/react-query'
import { api, fetchRaw, type RequestOf, type ResponseOf } from '../../api/client.ts'
import type { paths } from '../../api/schema.ts'

const requestPath = '/api/team/v1/oauth/request'
const grantsPath = '/api/team/v1/workspaces/{workspaceId}/oauth/grants'

type RequestParameters = NonNullable<paths[typeof requestPath]['get']['parameters']['query']>
type Grant = RequestOf<typeof grantsPath, 'post'>
export type AuthorizationRequest = NonNullable<ResponseOf<typeof requestPath>['request']>

const parameterNames = [
  ...(['response_type', 'client_id', 'redirect_uri', 'state', 'scope'] as const),
  ...(['code_challenge', 'code_challenge_method', 'resource'] as const),
] satisfies readonly (keyof RequestParameters)[]

/** Returns what a program asked for in the address of the page; other parameters are ignored. */
export function requestIn(search: string): RequestParameters {
  const given = new URLSearchParams(search)
  return Object.fromEntries(
    parameterNames.flatMap((name) => {
      const value = given.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )
}

export function useAuthorizationRequest(query: RequestParameters) {
  return useQuery({
    queryKey: ['oauth', query],
    queryFn: () => api.GET(requestPath, { query }),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export const grantRequest = (workspaceId: string, body: Grant) => api.POST(grantsPath, { workspaceId, body })

/** Returns the connections of a workspace, once: the page has no live updates. */
export function useConnectionNames(workspaceId: string) {
  return useQuery({
    queryKey: ['oauth', workspaceId, 'connections'],
    queryFn: async () => {
      const { connections } = await api.GET('/api/team/v1/workspaces/{workspaceId}/connections', { workspaceId })
      return connections.map(({ id, name }) => ({ value: id, label: name }))
    },
  })
}

/** Returns the keys that a program already has in a workspace. */
export function useConnectedKeys(workspaceId: string, clientId: string) {
  return useQuery({
    queryKey: ['oauth', workspaceId, 'keys'],
    queryFn: async () => (await api.GET('/api/team/v1/workspaces/{workspaceId}/keys', { workspaceId })).keys,
    select: (keys) =>
      keys
        .filter(({ status, oauth }) => status === 'active' && oauth?.clientId === clientId)
        .map(({ id, name, connectionIds }) => ({ value: id, label: name, connectionIds })),
  })
}

/** Returns the public address of `/mcp`, and whether apps can be connected to it by address alone. */
export function useMcpAddress() {
  return useQuery({
    queryKey: ['mcp address'],
    queryFn: async () => {
      const response = await fetchRaw('/.well-known/oauth-protected-resource/mcp')
      const { resource, authorization_servers } = await response.json()
      return { url: String(resource), hasOAuth: authorization_servers !== undefined }
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
}
