import { type Static, Type } from 'typebox'
import { lockExclusive, routingLock } from '../../base/citus/distributed-sql.ts'
import type { Sql, Tx } from '../../base/db.ts'
import { type ApiError, invalid, notFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { selectedAs } from '../../base/postgres/rows.ts'
import { type App, nullable, oneOf, timestamp, titled } from '../../base/route.ts'
import { uuid, visiblePattern } from '../../base/schema-types.ts'
import { withIsoTimes } from '../../base/time.ts'
import { publishWorkspace } from '../../team/live-updates.ts'
import type { Member, TeamGuard } from '../../team/member.ts'
import { teamApi } from '../../team/team-api.ts'
import { closed, idSchema, workspaceParams } from '../../team/team-schema.ts'
import type { WorkspaceDeps } from '../change.ts'
import { addItem, changeItem, deleteItem, type OwnedList } from '../owned-list.ts'
import { findNonMembers } from '../workspace.ts'

/** Whom a team's next conversation is assigned to; `manual`: nobody until someone takes it. */
const teamAssignments = ['manual', 'round_robin', 'least_busy'] as const
export type TeamAssignment = (typeof teamAssignments)[number]

export const maxTeams = 50
const maxTeamMembers = 200

const teamFields = Type.Object({
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
})

type TeamFields = Static<typeof teamFields>

interface Team extends TeamFields {
  id: string
  createdAt: Date
}

export type TeamPatch = Partial<TeamFields>

const teams: OwnedList = {
  item: 'team',
  table: (sql) => sql`teams`,
  maxItems: maxTeams,
  fullMessage: `A workspace has at most ${maxTeams} teams. Delete one first.`,
  notFoundMessage: 'Team not found',
  unique: { constraint: 'teams_name_key', field: 'name', takenMessage: 'A team with this name already exists' },
}

export const teamNotFound = (): ApiError => notFound(teams.notFoundMessage)

const columns = selectedAs('teams', ['id', 'name', 'assignment', 'answerMinutes', 'maxReassignments', 'createdAt'])

/** Returns the teams with their members, sorted by name. */
async function listTeams(sql: Sql, workspaceId: string): Promise<Team[]> {
  const [rows, members] = await Promise.all([
    sql<Omit<Team, 'memberIds'>[]>`
      select ${columns}
      from teams
      where workspace_id = ${workspaceId}
      order by lower(name)`,
    sql<{ teamId: string; userId: string }[]>`
      select team_id as "teamId", user_id as "userId"
      from team_members
      where workspace_id = ${workspaceId}
      order by team_id, user_id`,
  ])
  const byTeam = Map.groupBy(members, ({ teamId }) => teamId)
  return rows.map((row) => ({ ...row, memberIds: (byTeam.get(row.id) ?? []).map(({ userId }) => userId) }))
}

/** Returns the ids that are teams of the workspace. They cannot be deleted before the transaction ends. */
export async function findTeams(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await tx<{ id: string }[]>`
    select id
    from teams
    where workspace_id = ${workspaceId}
      and id = any (${[...new Set(ids)]}::uuid[])
    order by id
    for key share`
  return new Set(rows.map(({ id }) => id))
}

/** Throws 400 for a field that names no team of the workspace. */
export async function checkTeam(tx: Tx, workspaceId: string, teamId: string, field: string): Promise<void> {
  const found = await findTeams(tx, workspaceId, [teamId])
  if (found.size === 0) throw invalid(field, 'must be a team of the workspace')
}

/** Returns the teams of a member. */
export async function listTeamIdsOf(sql: Sql, workspaceId: string, userId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select team_id as id
    from team_members
    where workspace_id = ${workspaceId}
      and user_id = ${userId}`
  return rows.map(({ id }) => id)
}

/** Creates a team. A workspace has at most 50, with case-insensitively unique names (409). */
function createTeam(deps: WorkspaceDeps, by: Member, { memberIds, ...fields }: TeamFields): Promise<Team> {
  const { workspaceId } = by
  const now = deps.clock.now()
  const team = { ...fields, name: fields.name.trim(), id: newId(now), createdAt: now }
  return deps.db.tx(async (tx) => {
    await addItem(tx, teams, { by, now }, team)
    const kept = await setMembers(tx, workspaceId, team.id, memberIds)
    publishWorkspace(tx, workspaceId)
    return { ...team, memberIds: kept }
  })
}

/** Changes the fields in the patch; `memberIds` replaces the members. Those who stay keep their turn. */
function changeTeamSettings(
  deps: WorkspaceDeps,
  by: Member,
  teamId: string,
  { memberIds: wanted, ...patch }: TeamPatch,
): Promise<Team> {
  const { workspaceId } = by
  const values = { ...patch, ...(patch.name !== undefined && { name: patch.name.trim() }) }
  const change = { by, id: teamId, now: deps.clock.now() }
  return deps.db.tx(async (tx) => {
    const row = await changeItem<Omit<Team, 'memberIds'>>(tx, teams, change, values, columns)
    const memberIds =
      wanted === undefined
        ? await readMembers(tx, workspaceId, teamId)
        : await setMembers(tx, workspaceId, teamId, wanted)
    publishWorkspace(tx, workspaceId)
    return { ...row, memberIds }
  })
}

/** Deletes a team. Its conversations are cleared in steps (`clearRemovedTeams`), its routing rules at once. */
async function deleteTeam(deps: WorkspaceDeps, by: Member, teamId: string): Promise<void> {
  const { workspaceId } = by
  await deps.db.tx(async (tx) => {
    await deleteItem(tx, teams, { by, id: teamId, now: deps.clock.now() })
    await tx`
      insert into team_removals (workspace_id, team_id, cleared_to)
      values (${workspaceId}, ${teamId}, '00000000-0000-0000-0000-000000000000')`
    await deps.teamDeleted?.(tx, workspaceId, teamId.toLowerCase())
    publishWorkspace(tx, workspaceId)
  })
}

async function readMembers(sql: Sql, workspaceId: string, teamId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select user_id as id
    from team_members
    where workspace_id = ${workspaceId}
      and team_id = ${teamId}
    order by user_id`
  return rows.map(({ id }) => id)
}

/**
 * Replaces the members, while no conversation is being assigned: that changes their turns. New ones get the next conversation, after others who have
 * waited for as long.
 */
async function setMembers(tx: Tx, workspaceId: string, teamId: string, ids: readonly string[]): Promise<string[]> {
  const unique = [...new Set(ids.map((id) => id.toLowerCase()))].sort()
  const nonMembers = await findNonMembers(tx, workspaceId, unique)
  if (nonMembers.length > 0) throw invalid('memberIds', 'must be members of the workspace')
  await lockExclusive(tx, routingLock(workspaceId))
  await tx`
    delete from team_members
    where workspace_id = ${workspaceId}
      and team_id = ${teamId}
      and user_id <> all (${unique}::uuid[])`
  await tx`
    insert into team_members (workspace_id, team_id, user_id)
    select ${workspaceId}::uuid, ${teamId}::uuid, n.id
    from unnest(${unique}::uuid[]) as n (id)
    on conflict do nothing`
  return unique
}

const teamSchema = titled('Team', {
  id: idSchema('The team.'),
  ...teamFields.properties,
  createdAt: timestamp('Creation time.'),
})

const newTeam = Type.Object(
  { ...Type.Partial(teamFields).properties, name: teamFields.properties.name },
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
    run: async ({ member }) => ({ teams: (await listTeams(deps.db.sql, member.workspaceId)).map(withIsoTimes) }),
  })
  api.post(path, 'admin', {
    operationId: 'createTeam',
    summary: 'Create a team',
    description:
      'For admins. A workspace has at most 50, each with at most 200 members. By default it assigns in turn (`round_robin`), and nobody loses a conversation.',
    body: newTeam,
    answers: { 201: oneTeam },
    errors: [409],
    run: async ({ member, body }) => ({ team: withIsoTimes(await createTeam(deps, member, { ...defaults, ...body })) }),
  })
  api.patch(`${path}/:teamId`, 'admin', {
    operationId: 'updateTeam',
    summary: 'Change a team',
    description: 'For admins. `memberIds` replaces the members; conversations assigned to former ones stay theirs.',
    params: teamParams,
    body: Type.Partial(teamFields, { ...closed, minProperties: 1, example: { answerMinutes: 15 } }),
    answers: { 200: oneTeam },
    errors: [409],
    run: async ({ member, params, body }) => ({
      team: withIsoTimes(await changeTeamSettings(deps, member, params.teamId, body)),
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
