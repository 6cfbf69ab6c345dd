import { Type } from 'typebox'
import { type App, nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { uuid, visiblePattern } from '../../base/schema-types.ts'
import type { TeamGuard } from '../../team/member.ts'
import { teamApi } from '../../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import type { WorkspaceDeps } from '../change.ts'
import {
  changeTeamSettings,
  createTeam,
  deleteTeam,
  listTeams,
  maxTeamMembers,
  maxTeams,
  type Team,
  teamAssignments,
} from './teams.ts'

const teamFields = {
  name: Type.String({
    minLength: 1,
    maxLength: 50,
    pattern: visiblePattern,
    description: 'Unique in the workspace, ignoring case.',
    example: 'Sales',
  }),
  assignment: oneOf(teamAssignments, {
    title: 'TeamAssignment',
    description:
      'Who gets its next conversation, of the members who are not away and below their capacity. `round_robin`: who has not had one for the longest. `least_busy`: who has the fewest open ones. `manual`: nobody, until someone takes it.',
    example: 'round_robin',
  }),
  answerMinutes: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 1440,
      description:
        'If the person to whom it was assigned by this rule does not answer for so many minutes, the next one gets it. Null: it stays.',
      example: 15,
    }),
  ),
  maxReassignments: Type.Integer({
    minimum: 1,
    maximum: 10,
    description: 'How often that happens to a conversation, before it stays unassigned in the team.',
    example: 3,
  }),
  memberIds: Type.Array(uuid(), { maxItems: maxTeamMembers, description: 'Users who are its members.' }),
}

const teamSchema = titled('Team', { id: idSchema('The team.'), ...teamFields, createdAt: timestamp('Creation time.') })

const newTeam = Type.Object(
  { ...Type.Partial(Type.Object(teamFields)).properties, name: teamFields.name },
  { ...closed, example: { name: 'Sales', assignment: 'round_robin', memberIds: [] } },
)

const path = '/api/team/v1/workspaces/:workspaceId/teams'
const teamParams = Type.Object({ ...workspaceParams, teamId: idSchema('The team.') })
const oneTeam = Type.Object({ team: teamSchema })

export function teamTeamRoutes(app: App, deps: WorkspaceDeps, guard: TeamGuard): void {
  const api = teamApi(app, guard, 'Teams')
  api.get(path, 'member', {
    operationId: 'listTeams',
    summary: 'List teams',
    description: 'Returns all teams with their members, sorted by name.',
    answers: { 200: Type.Object({ teams: Type.Array(teamSchema, { maxItems: maxTeams }) }) },
    allErrors: [400, 401, 404],
    run: async ({ member }) => ({ teams: (await listTeams(deps.db.sql, member.workspaceId)).map(present) }),
  })
  api.post(path, 'admin', {
    operationId: 'createTeam',
    summary: 'Create a team',
    description:
      'For admins. A workspace has at most 50, each with at most 200 members. By default it assigns in turn (`round_robin`), and nobody loses a conversation.',
    body: newTeam,
    answers: { 201: oneTeam },
    errors: [409],
    run: async ({ member, body }) => ({ team: present(await createTeam(deps, member, { ...defaults, ...body })) }),
  })
  api.patch(`${path}/:teamId`, 'admin', {
    operationId: 'updateTeam',
    summary: 'Change a team',
    description: 'For admins. `memberIds` replaces the members; conversations assigned to former ones stay theirs.',
    params: teamParams,
    body: Type.Partial(Type.Object(teamFields), { ...closed, minProperties: 1, example: { answerMinutes: 15 } }),
    answers: { 200: oneTeam },
    errors: [409],
    run: async ({ member, params, body }) => ({
      team: present(await changeTeamSettings(deps, member, params.teamId, body)),
    }),
  })
  api.delete(`${path}/:teamId`, 'admin', {
    operationId: 'deleteTeam',
    summary: 'Delete a team',
    description:
      'For admins. Its conversations stay with the people they are assigned to, and soon belong to no team. Rules that route to it route to all people.',
    params: teamParams,
    run: ({ member, params }) => deleteTeam(deps, member, params.teamId),
  })
}

const defaults = { assignment: 'round_robin' as const, answerMinutes: null, maxReassignments: 3, memberIds: [] }

const present = (team: Team) => ({ ...team, createdAt: team.createdAt.toISOString() })
