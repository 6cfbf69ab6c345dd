import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import type { Role } from '../../session/session.ts'
import { membersKey } from '../workspace-updates.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/members'
const onePath = `${path}/{userId}` as const
const at = (workspaceId: string, userId: string) => ({ path: { workspaceId, userId } })
// Changes are rare and announced by an event.
const staleMs = 5 * 60_000

export type Member = Awaited<ReturnType<typeof listMembers>>[number]
export type CreatedResources = NonNullable<ReturnType<typeof useCreatedResources>['data']>

const listMembers = async (workspaceId: string) =>
  (await unwrap(api.GET(path, { params: { path: { workspaceId } } }))).members

const membersQuery = (workspaceId: string) =>
  queryOptions({ queryKey: membersKey(workspaceId), queryFn: () => listMembers(workspaceId) })

export function useMembers(workspaceId: string) {
  return useQuery(membersQuery(workspaceId))
}

/** Returns the members for choices; empty until loaded. */
export function useMemberList(workspaceId: string): readonly Member[] {
  return useQuery({ ...membersQuery(workspaceId), staleTime: staleMs }).data ?? noMembers
}

const noMembers: readonly Member[] = []

/** Returns whether a member is away now: they may be back since the list was loaded. */
export const isAway = ({ awaySince, awayUntil }: Pick<Member, 'awaySince' | 'awayUntil'>): boolean =>
  awaySince !== null && (awayUntil === null || Date.parse(awayUntil) > Date.now())

/** Loads members for callers that must not treat members still loading as an empty list. */
export function readMembers(queries: QueryClient, workspaceId: string): Promise<readonly Member[]> {
  return queries.ensureQueryData({ ...membersQuery(workspaceId), staleTime: staleMs })
}

/** Returns the active resources that a person created. Refetched each time, since people decide by them. */
export function useCreatedResources(workspaceId: string, userId: string) {
  const queryFn = () => unwrap(api.GET(`${onePath}/made`, { params: at(workspaceId, userId) }))
  return useQuery({ queryKey: [workspaceId, 'made', userId], queryFn, staleTime: 0, gcTime: 0 })
}

/** Sets who is away: me unless another member is named, until I say otherwise unless a time is given. */
export const setAway = (workspaceId: string, isAway: boolean, more: { until?: string; userId?: string } = {}) =>
  unwrap(
    api.POST('/api/team/v1/workspaces/{workspaceId}/away', {
      params: { path: { workspaceId } },
      body: { isAway, ...more },
    }),
  )

export const changeRole = (workspaceId: string, userId: string, role: Role) =>
  unwrap(api.PATCH(onePath, { params: at(workspaceId, userId), body: { role } }))

export interface RemovalOptions {
  keys: 'keep' | 'revoke'
  webhooks: 'keep' | 'disable'
}

export const removeMember = (workspaceId: string, userId: string, leaving: RemovalOptions) =>
  unwrap(api.DELETE(onePath, { params: { ...at(workspaceId, userId), query: leaving } }))

export const signOutMember = (workspaceId: string, userId: string) =>
  unwrap(api.DELETE(`${onePath}/sessions`, { params: at(workspaceId, userId) }))
