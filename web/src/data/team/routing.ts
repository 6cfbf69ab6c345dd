import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, type RequestOf, type Schemas } from '../../api/client.ts'
import type { Conversation } from '../inbox/types.ts'
import { routingKey, teamsKey } from '../workspace-updates.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/teams'
const onePath = `${path}/{teamId}` as const
const routingPath = '/api/team/v1/workspaces/{workspaceId}/routing'
const takeNextPath = '/api/team/v1/workspaces/{workspaceId}/inbox/conversations/take-next'
// Changes are rare and announced by an event.
const staleMs = 5 * 60_000

export type Team = Schemas['Team']
export type TeamInput = Omit<Team, 'id' | 'createdAt'>
export type Routing = Schemas['Routing']
export type RoutingRule = Schemas['RoutingRule']

const teamsQuery = (workspaceId: string) =>
  queryOptions({
    queryKey: teamsKey(workspaceId),
    queryFn: async () => (await api.GET(path, { workspaceId })).teams,
  })

export const useTeams = (workspaceId: string) => useQuery(teamsQuery(workspaceId))

/** Returns the teams for choices; empty until loaded. */
export function useTeamList(workspaceId: string): readonly Team[] {
  return useQuery({ ...teamsQuery(workspaceId), staleTime: staleMs }).data ?? noTeams
}

const noTeams: readonly Team[] = []

export const createTeam = (workspaceId: string, team: TeamInput) => api.POST(path, { workspaceId, body: team })

export const changeTeam = (workspaceId: string, teamId: string, team: TeamInput) =>
  api.PATCH(onePath, { workspaceId, teamId, body: team })

export const deleteTeam = (workspaceId: string, teamId: string) => api.DELETE(onePath, { workspaceId, teamId })

export function useRouting(workspaceId: string) {
  const queryFn = async () => (await api.GET(routingPath, { workspaceId })).routing
  return useQuery({ queryKey: routingKey(workspaceId), queryFn })
}

export type RoutingChanges = RequestOf<typeof routingPath, 'put'>

export const changeRouting = async (workspaceId: string, body: RoutingChanges) =>
  (await api.PUT(routingPath, { workspaceId, body })).routing

/** Assigns me the customer who has waited the longest; null if nobody waits. */
export const takeNext = async (workspaceId: string): Promise<Conversation | null> =>
  (await api.POST(takeNextPath, { workspaceId })).conversation
