import { lockExclusive, routingLock } from '../../base/citus/distributed-sql.ts'
import type { Fragment, Sql, Tx } from '../../base/db.ts'
import type { PlainTx } from '../conversation/conversation.ts'
import type { AgentKey } from '../conversation/owner.ts'
import { defaultRule, type RoutedMember, type RoutedTeam, type RoutingRule, type RoutingState } from './routing.ts'

/** Connections that get new conversations, or the team that gets one. */
export type RoutingScope = { connectionIds: readonly string[] } | { teamId: string }

/**
 * Locks the workspace's routing until the transaction ends, and reads what it decides by: so the turns and loads of
 * people are exact, whichever process decides. Call it after locking conversations. Keys are those that may own one.
 */
export async function lockRouting(
  { tx, workspaceId, now }: PlainTx,
  scope: RoutingScope,
  keys: readonly AgentKey[],
): Promise<RoutingState> {
  const isNew = 'connectionIds' in scope
  const ids = isNew ? teamsOfRules(tx, workspaceId, scope.connectionIds) : tx`select ${scope.teamId}::uuid`
  const ofTeams = tx`
    select tm.user_id from team_members tm where tm.workspace_id = ${workspaceId} and tm.team_id in (${ids})`
  const limited = keys.flatMap(({ id, capacity }) => (capacity == null ? [] : id))
  const [, ruleOf, teams, members, people, keyLoads] = await Promise.all([
    lockExclusive(tx, routingLock(workspaceId)),
    isNew ? readRules(tx, workspaceId, scope.connectionIds) : () => defaultRule,
    lockTeams(tx, workspaceId, ids),
    lockMembers(tx, workspaceId, ids, now),
    countAssigned(tx, workspaceId, ofTeams),
    limited.length === 0 ? new Map<string, number>() : countOwned(tx, workspaceId, limited),
  ])
  const membersOf = Map.groupBy(members, ({ teamId }) => teamId)
  const withMembers = teams.map((team): RoutedTeam => ({ ...team, members: membersOf.get(team.id) ?? [] }))
  return { ruleOf, teams: new Map(withMembers.map((team) => [team.id, team])), people, keys: keyLoads }
}

const idsOf = (workspaceId: string, connectionIds: readonly string[]) => [...new Set([workspaceId, ...connectionIds])]

const teamsOfRules = (sql: Sql, workspaceId: string, connectionIds: readonly string[]) => sql`
  select r.team_id
  from routing_rules r
  where r.workspace_id = ${workspaceId}
    and r.connection_id = any (${idsOf(workspaceId, connectionIds)}::uuid[])`

export interface RuleRow {
  connectionId: string
  agent: 'default' | 'key' | 'none'
  keyId: string | null
  teamId: string | null
}

/** Returns the stored rules: that of the workspace has its id as connection. */
export async function selectRules(sql: Sql, workspaceId: string, condition: Fragment): Promise<readonly RuleRow[]> {
  return sql<RuleRow[]>`
    select connection_id as "connectionId", agent, key_id as "keyId", team_id as "teamId"
    from routing_rules
    where workspace_id = ${workspaceId}
      ${condition}
    order by connection_id`
}

/** Returns a function that gives the rule of each of these connections. */
export async function readRules(
  sql: Sql,
  workspaceId: string,
  connectionIds: readonly string[],
): Promise<(connectionId: string) => RoutingRule> {
  const ids = idsOf(workspaceId, connectionIds)
  const rows = await selectRules(sql, workspaceId, sql`and connection_id = any (${ids}::uuid[])`)
  const rules = new Map(rows.map((row) => [row.connectionId, ruleOf(row)]))
  return (connectionId) => rules.get(connectionId) ?? rules.get(workspaceId) ?? defaultRule
}

const ruleOf = ({ agent, keyId, teamId }: RuleRow): RoutingRule => ({
  agent: agent === 'key' ? { keyId: keyId ?? '' } : agent,
  teamId,
})

// Waits for a deletion in progress, and blocks new ones: no conversation gets a team that is being cleared.
const lockTeams = (tx: Tx, workspaceId: string, ids: Fragment) => tx<Omit<RoutedTeam, 'members'>[]>`
  select t.id, t.assignment, t.answer_minutes as "answerMinutes", t.max_reassignments as "maxReassignments"
  from teams t
  where t.workspace_id = ${workspaceId}
    and t.id in (${ids})
  order by t.id
  for key share of t`

// Waits for a member who is being removed, and keeps those that are read until the commit.
const lockMembers = (sql: Sql, workspaceId: string, ids: Fragment, now: Date) => sql<
  (RoutedMember & { teamId: string })[]
>`
  select tm.team_id as "teamId", tm.user_id as "userId", tm.turn, m.capacity,
    (m.away_since is null or m.away_until <= ${now}) is true as "isAvailable"
  from team_members tm
  join members m
    on m.workspace_id = ${workspaceId}
    and m.user_id = tm.user_id
  where tm.workspace_id = ${workspaceId}
    and tm.team_id in (${ids})
  order by tm.team_id, tm.user_id
  for key share of tm`

/** Counts the open conversations of people that are assigned to these users, by the index that views are counted with. */
export async function countAssigned(sql: Sql, workspaceId: string, userIds: Fragment): Promise<Map<string, number>> {
  const rows = await sql<{ id: string; count: number }[]>`
    select c.assigned_to as id, count(*)::integer as count
    from conversations c
    where c.workspace_id = ${workspaceId}
      and c.status = 'open'
      and (c.unread_count > 0) = any ('{t,f}')
      and (c.owner_key_id is null) = any ('{t}')
      and c.assigned_to = any (array(${userIds}))
    group by c.assigned_to`
  return new Map(rows.map(({ id, count }) => [id, count]))
}

/** Counts the open conversations of these keys. */
export async function countOwned(
  sql: Sql,
  workspaceId: string,
  keyIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await sql<{ id: string; count: number }[]>`
    select c.owner_key_id as id, count(*)::integer as count
    from conversations c
    where c.workspace_id = ${workspaceId}
      and c.status = 'open'
      and (c.unread_count > 0) = any ('{t,f}')
      and (c.owner_key_id is null) = any ('{f}')
      and c.owner_key_id = any (${[...keyIds]}::uuid[])
    group by c.owner_key_id`
  return new Map(rows.map(({ id, count }) => [id, count]))
}
