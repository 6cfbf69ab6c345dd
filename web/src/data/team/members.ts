import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { api, body } from '../../api/client.ts'
import type { Role } from '../../session/session.ts'
import { membersKey } from '../workspace-news.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/members'
const onePath = `${path}/{userId}` as const
const at = (workspaceId: string, userId: string) => ({ path: { workspaceId, userId } })
// They change seldom; who changes them says so.
const lookUpMs = 5 * 60_000

export type Member = Awaited<ReturnType<typeof listMembers>>[number]
export type Made = NonNullable<ReturnType<typeof useMade>['data']>

const listMembers = async (workspaceId: string) =>
  (await body(api.GET(path, { params: { path: { workspaceId } } }))).members

const membersQuery = (workspaceId: string) =>
  queryOptions({ queryKey: membersKey(workspaceId), queryFn: () => listMembers(workspaceId) })

export function useMembers(workspaceId: string) {
  return useQuery(membersQuery(workspaceId))
}

/** For choices among them: none until they are read. */
export function useMemberList(workspaceId: string): readonly Member[] {
  return useQuery({ ...membersQuery(workspaceId), staleTime: lookUpMs }).data ?? noMembers
}

const noMembers: readonly Member[] = []

/** For what must not take members that are still being read for nobody. */
export function readMembers(queries: QueryClient, workspaceId: string): Promise<readonly Member[]> {
  return queries.ensureQueryData({ ...membersQuery(workspaceId), staleTime: lookUpMs })
}

/** What somebody made and still works. Read again each time: whoever reads it decides by it. */
export function useMade(workspaceId: string, userId: string) {
  const queryFn = () => body(api.GET(`${onePath}/made`, { params: at(workspaceId, userId) }))
  return useQuery({ queryKey: [workspaceId, 'made', userId], queryFn, staleTime: 0, gcTime: 0 })
}

export const sayAway = (workspaceId: string, isAway: boolean) =>
  body(api.POST('/api/team/v1/workspaces/{workspaceId}/away', { params: { path: { workspaceId } }, body: { isAway } }))

export const changeRole = (workspaceId: string, userId: string, role: Role) =>
  body(api.PATCH(onePath, { params: at(workspaceId, userId), body: { role } }))

export interface Leaving {
  keys: 'keep' | 'revoke'
  webhooks: 'keep' | 'disable'
}

export const removeMember = (workspaceId: string, userId: string, leaving: Leaving) =>
  body(api.DELETE(onePath, { params: { ...at(workspaceId, userId), query: leaving } }))

export const signOutMember = (workspaceId: string, userId: string) =>
  body(api.DELETE(`${onePath}/sessions`, { params: at(workspaceId, userId) }))
