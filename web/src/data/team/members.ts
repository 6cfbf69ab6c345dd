import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { api, type ResponseOf, type Schemas } from '../../api/client.ts'
import type { Role } from '../../session/session.ts'
import { membersKey } from '../workspace-updates.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/members'
const onePath = `${path}/{userId}` as const
// Changes are rare and announced by an event.
const staleMs = 5 * 60_000

export type Member = Schemas['Member']
export type CreatedResources = ResponseOf<`${typeof onePath}/made`>

const membersQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: membersKey(workspaceId),
    queryFn: async () => (await api.GET(path, { workspaceId })).members,
  })

export const useMembers = (workspaceId: string) => useQuery(membersQuery(workspaceId))

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
  const queryFn = () => api.GET(`${onePath}/made`, { workspaceId, userId })
  return useQuery({ queryKey: [workspaceId, 'made', userId], queryFn, staleTime: 0, gcTime: 0 })
}

/** Sets who is away: me unless another member is named, until I say otherwise unless a time is given. */
export const setAway = (workspaceId: string, isAway: boolean, more: { until?: string; userId?: string } = {}) =>
  api.POST('/api/team/v1/workspaces/{workspaceId}/away', { workspaceId, body: { isAway, ...more } })

export const changeRole = (workspaceId: string, userId: string, role: Role) =>
  api.PATCH(onePath, { workspaceId, userId, body: { role } })

export interface RemovalOptions {
  keys: 'keep' | 'revoke'
  webhooks: 'keep' | 'disable'
}

export const removeMember = (workspaceId: string, userId: string, leaving: RemovalOptions) =>
  api.DELETE(onePath, { workspaceId, userId, query: leaving })

export const signOutMember = (workspaceId: string, userId: string) =>
  api.DELETE(`${onePath}/sessions`, { workspaceId, userId })
