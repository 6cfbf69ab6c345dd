import { lockExclusive, routingLock } from '../../base/citus/distributed-sql.ts'
import type { Sql, Tx } from '../../base/db.ts'
import { type ApiError, invalid, notFound } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { publishWorkspace } from '../../team/live-updates.ts'
import type { Member } from '../../team/member.ts'
import type { WorkspaceDeps } from '../change.ts'
import { addItem, changeItem, deleteItem, type OwnedList } from '../owned-list.ts'
import { findNonMembers } from '../workspace.ts'

/** Whom a team's next conversation is assigned to; `manual`: nobody until someone takes it. */
export const teamAssignments = ['manual', 'round_robin', 'least_busy'] as const
export type TeamAssignment = (typeof teamAssignments)[number]

export const maxTeams = 50
export const maxTeamMembers = 200

/** Settings of a team. */
export interface TeamFields {
  name: string
  assignment: TeamAssignment
  /** An assigned person who does not answer for so many minutes loses the conversation to the next; null: keeps it. */
  answerMinutes: number | null
  /** How often it goes to the next person before it stays unassigned in the team. */
  maxReassignments: number
}

export interface Team extends TeamFields {
  id: string
  memberIds: string[]
  createdAt: Date
}

export type TeamPatch = Partial<TeamFields> & { memberIds?: readonly string[] }

const teams: OwnedList = {
  item: 'team',
  table: (sql) => sql`teams`,
  maxItems: maxTeams,
  fullMessage: `A workspace has at most ${maxTeams} teams. Delete one first.`,
  notFoundMessage: 'Team not found',
  unique: { constraint: 'teams_name_key', field: 'name', takenMessage: 'A team with this name already exists' },
}

export const teamNotFound = (): ApiError => notFound(teams.notFoundMessage)

const columns = (sql: Sql) => sql`
  t.id,
  t.name,
  t.assignment,
  t.answer_minutes as "answerMinutes",
  t.max_reassignments as "maxReassignments",
  t.created_at as "createdAt"`

/** Returns the teams with their members, sorted by name. */
export async function listTeams(sql: Sql, workspaceId: string): Promise<Team[]> {
  const [rows, members] = await Promise.all([
    sql<Omit<Team, 'memberIds'>[]>`
      select ${columns(sql)}
      from teams t
      where t.workspace_id = ${workspaceId}
      order by lower(t.name)`,
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
export function createTeam(
  deps: WorkspaceDeps,
  by: Member,
  { memberIds, ...fields }: TeamFields & { memberIds: readonly string[] },
): Promise<Team> {
  const { workspaceId } = by
  const now = deps.clock.now()
  const team = { ...fields, name: fields.name.trim(), id: newId(now), createdAt: now }
  return deps.db.tx(async (tx) => {
    await addItem(
      tx,
      teams,
      { by, id: team.id, now },
      () => tx`
        insert into teams (workspace_id, id, name, assignment, answer_minutes, max_reassignments, created_at)
        values (
          ${workspaceId}, ${team.id}, ${team.name}, ${team.assignment}, ${team.answerMinutes}, ${team.maxReassignments},
          ${now}
        )`,
    )
    const kept = await setMembers(tx, workspaceId, team.id, memberIds)
    publishWorkspace(tx, workspaceId)
    return { ...team, memberIds: kept }
  })
}

/** Changes the fields in the patch; `memberIds` replaces the members. Those who stay keep their turn. */
export function changeTeamSettings(deps: WorkspaceDeps, by: Member, teamId: string, patch: TeamPatch): Promise<Team> {
  const { workspaceId } = by
  const keepsMinutes = patch.answerMinutes === undefined
  return deps.db.tx(async (tx) => {
    const row = await changeItem(
      tx,
      teams,
      { by, id: teamId, now: deps.clock.now() },
      () => tx<Omit<Team, 'memberIds'>[]>`
        update teams t
        set name = coalesce(${patch.name?.trim() ?? null}::text, name),
          assignment = coalesce(${patch.assignment ?? null}::text, assignment),
          answer_minutes = case when ${keepsMinutes} then answer_minutes else ${patch.answerMinutes ?? null}::integer end,
          max_reassignments = coalesce(${patch.maxReassignments ?? null}::smallint, max_reassignments)
        where t.workspace_id = ${workspaceId}
          and t.id = ${teamId}
        returning ${columns(tx)}`,
    )
    const memberIds =
      patch.memberIds === undefined
        ? await readMembers(tx, workspaceId, teamId)
        : await setMembers(tx, workspaceId, teamId, patch.memberIds)
    publishWorkspace(tx, workspaceId)
    return { ...row, memberIds }
  })
}

/** Deletes a team. Its conversations are cleared in steps (`clearRemovedTeams`), its routing rules at once. */
export async function deleteTeam(deps: WorkspaceDeps, by: Member, teamId: string): Promise<void> {
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
