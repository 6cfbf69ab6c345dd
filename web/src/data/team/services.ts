import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, type Schemas } from '../../api/client.ts'
import { showToast } from '../../ui/overlay/toasts.tsx'
import { type Workspace, workspaceKey } from '../workspace.ts'
import { teamServicesKey } from '../workspace-updates.ts'

const path = '/api/team/v1/workspaces/{workspaceId}' as const

export type TeamService = Schemas['TeamService']
export type TeamServiceFields = Omit<TeamService, 'teamId'>
export type ServiceGoals = NonNullable<Workspace['serviceGoals']>
export type GoalMinutes = Omit<ServiceGoals, 'priorities'>
export type AwayMessage = NonNullable<Workspace['awayMessage']>
export type Holiday = Workspace['holidays'][number]

export const noTeamService: TeamServiceFields = { hours: null, holidays: null, awayMessage: null, serviceGoals: null }

/** Hours and goals of the teams that have any of their own. */
export function useTeamServices(workspaceId: string) {
  const queryFn = async () => (await api.GET(`${path}/team-services`, { workspaceId })).teams
  return useQuery({ queryKey: teamServicesKey(workspaceId), queryFn })
}

/** Replaces what a team has of its own, and confirms with `done`. */
export function useTeamServiceChange(workspaceId: string, done: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ teamId, ...body }: TeamService) =>
      api.PUT(`${path}/teams/{teamId}/service`, { workspaceId, teamId, body }),
    onSuccess: () => {
      showToast(done)
      return queries.invalidateQueries({ queryKey: teamServicesKey(workspaceId) })
    },
  })
}

/** Imports a calendar, which replaces its earlier holidays. */
export function useHolidayImport(workspaceId: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: { calendar: string; text: string }) =>
      api.POST(`${path}/holidays/import`, { workspaceId, body }),
    onSuccess: ({ holidays }) =>
      queries.setQueryData<Workspace>(workspaceKey(workspaceId), (before) => before && { ...before, holidays }),
  })
}
