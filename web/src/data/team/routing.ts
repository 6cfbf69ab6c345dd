import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import type { Conversation } from '../inbox/types.ts'
import { routingKey, teamsKey } from '../workspace-updates.ts'

const path = '/api/team/v1/workspaces/{workspaceId}/teams'
const onePath = `${path}/{teamId}` as const
const routingPath = '/api/team/v1/workspaces/{workspaceId}/routing'
const at = (workspaceId: string) => ({ params: { path: { workspaceId } } })
// Changes are rare and announced by an event.
const staleMs = 5 * 60_000

export type Team = Awaited<ReturnType<typeof listTeams>>[number]
export type TeamInput = Omit<Team, 'id' | 'createdAt'>
export type Routing = Awaited<ReturnType<typeof readRouting>>
export type RoutingRule = Routing['rules'][number]

const listTeams = async (workspaceId: string) => (await unwrap(api.GET(path, at(workspaceId)))).teams

const teamsQuery = (workspaceId: string) =>
  queryOptions({ queryKey: teamsKey(workspaceId), queryFn: () => listTeams(workspaceId) })

export function useTeams(workspaceId: string) {
  return useQuery(teamsQuery(workspaceId))
}

/** Returns the teams for choices; empty until loaded. */
export function useTeamList(workspaceId: string): readonly Team[] {
  return useQuery({ ...teamsQuery(workspaceId), staleTime: staleMs }).data ?? noTeams
}

const noTeams: readonly Team[] = []

export const createTeam = (workspaceId: string, team: TeamInput) =>
  unwrap(api.POST(path, { ...at(workspaceId), body: team }))

export const changeTeam = (workspaceId: string, teamId: string, team: TeamInput) =>
  unwrap(api.PATCH(onePath, { params: { path: { workspaceId, teamId } }, body: team }))

export const deleteTeam = (workspaceId: string, teamId: string) =>
  unwrap(api.DELETE(onePath, { params: { path: { workspaceId, teamId } } }))

const readRouting = async (workspaceId: string) => (await unwrap(api.GET(routingPath, at(workspaceId)))).routing

export function useRouting(workspaceId: string) {
  return useQuery({ queryKey: routingKey(workspaceId), queryFn: () => readRouting(workspaceId) })
}

export interface RoutingChanges {
  rules?: RoutingRule[]
  agents?: { keyId: string; capacity: number }[]
  people?: { userId: string; capacity: number }[]
}

export const changeRouting = async (workspaceId: string, changes: RoutingChanges) =>
  (await unwrap(api.PUT(routingPath, { ...at(workspaceId), body: changes }))).routing

/** Assigns me the customer who has waited the longest; null if nobody waits. */
export async function takeNext(workspaceId: string): Promise<Conversation | null> {
  const takeNextPath = '/api/team/v1/workspaces/{workspaceId}/inbox/conversations/take-next'
  return (await unwrap(api.POST(takeNextPath, at(workspaceId)))).conversation
}
