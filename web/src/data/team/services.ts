import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../../api/client.ts'
import { showToast } from '../../ui/overlay/toasts.tsx'
import { type Workspace, workspaceKey } from '../workspace.ts'
import { teamServicesKey } from '../workspace-updates.ts'

const path = '/api/team/v1/workspaces/{workspaceId}' as const
const at = (workspaceId: string) => ({ params: { path: { workspaceId } } })

export type TeamService = Awaited<ReturnType<typeof listTeamServices>>[number]
export type TeamServiceFields = Omit<TeamService, 'teamId'>
export type ServiceGoals = NonNullable<Workspace['serviceGoals']>
export type GoalMinutes = Omit<ServiceGoals, 'priorities'>
export type AwayMessage = NonNullable<Workspace['awayMessage']>
export type Holiday = Workspace['holidays'][number]

export const noTeamService: TeamServiceFields = { hours: null, holidays: null, awayMessage: null, serviceGoals: null }

const listTeamServices = async (workspaceId: string) =>
  (await unwrap(api.GET(`${path}/team-services`, at(workspaceId)))).teams

/** Hours and goals of the teams that have any of their own. */
export function useTeamServices(workspaceId: string) {
  return useQuery({ queryKey: teamServicesKey(workspaceId), queryFn: () => listTeamServices(workspaceId) })
}

/** Replaces what a team has of its own, and confirms with `done`. */
export function useTeamServiceChange(workspaceId: string, done: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ teamId, ...body }: TeamService) =>
      unwrap(api.PUT(`${path}/teams/{teamId}/service`, { params: { path: { workspaceId, teamId } }, body })),
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
      unwrap(api.POST(`${path}/holidays/import`, { ...at(workspaceId), body })),
    onSuccess: ({ holidays }) =>
      queries.setQueryData<Workspace>(workspaceKey(workspaceId), (before) => before && { ...before, holidays }),
  })
}
