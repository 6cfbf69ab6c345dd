import type { Clock } from '../../base/clock.ts'
import type { Db, Sql, Tx } from '../../base/db.ts'
import { InvalidInput, type Issue } from '../../base/errors.ts'
import { recordAudit } from '../../team/audit.ts'
import { publishWorkspace } from '../../team/live-updates.ts'
import type { Member } from '../../team/member.ts'
import { findTeams } from '../../workspaces/teams/teams.ts'
import { findNonMembers, lockWorkspace } from '../../workspaces/workspace.ts'
import { selectAgentKeys } from '../assignment/eligible-agents.ts'
import { countAssigned, countOwned, type RuleRow, selectRules } from './lock-routing.ts'

/** A rule; without a connection for all that have none of their own. */
export interface StoredRule extends Omit<RuleRow, 'connectionId'> {
  connectionId: string | null
}

export interface AgentLimit {
  keyId: string
  capacity: number
}

export interface PersonLimit {
  userId: string
  capacity: number
}

export interface RoutingSettings {
  rules: StoredRule[]
  agents: (AgentLimit & { open: number })[]
  people: (PersonLimit & { open: number })[]
}

/** Returns the rules, and the limits with what is open now. */
export async function readRoutingSettings(sql: Sql, workspaceId: string): Promise<RoutingSettings> {
  const [rows, agents, people] = await Promise.all([
    selectRules(sql, workspaceId, sql``),
    sql<AgentLimit[]>`
      select id as "keyId", capacity
      from api_keys
      where workspace_id = ${workspaceId}
        and capacity is not null
        and revoked_at is null
      order by id`,
    sql<PersonLimit[]>`
      select user_id as "userId", capacity
      from members
      where workspace_id = ${workspaceId}
        and capacity is not null
      order by user_id`,
  ])
  const keyIds = agents.map(({ keyId }) => keyId)
  const userIds = people.map(({ userId }) => userId)
  const [owned, assigned] = await Promise.all([
    countOwned(sql, workspaceId, keyIds),
    countAssigned(sql, workspaceId, sql`select unnest(${userIds}::uuid[])`),
  ])
  return {
    rules: rows.map((row) => ({ ...row, connectionId: row.connectionId === workspaceId ? null : row.connectionId })),
    agents: agents.map((one) => ({ ...one, open: owned.get(one.keyId) ?? 0 })),
    people: people.map((one) => ({ ...one, open: assigned.get(one.userId) ?? 0 })),
  }
}

export interface RoutingPatch {
  rules?: readonly StoredRule[]
  agents?: readonly AgentLimit[]
  people?: readonly PersonLimit[]
}

/** Replaces each list of the patch. Throws 400 for what is not of the workspace. */
export async function changeRoutingSettings(
  { db, clock }: { db: Db; clock: Clock },
  { workspaceId, actor }: Member,
  { rules, agents, people }: RoutingPatch,
): Promise<void> {
  await db.tx(async (tx) => {
    const now = clock.now()
    await lockWorkspace(tx, workspaceId)
    const issues = [
      ...(rules === undefined ? [] : await checkRules(tx, workspaceId, rules)),
      ...(agents === undefined ? [] : await checkKeys(tx, workspaceId, 'agents', agents)),
      ...(people === undefined ? [] : await checkPeople(tx, workspaceId, people)),
    ]
    if (issues.length > 0) throw new InvalidInput(issues)
    if (rules !== undefined) await storeRules(tx, workspaceId, rules)
    if (agents !== undefined) await storeAgentLimits(tx, workspaceId, agents)
    if (people !== undefined) await storePersonLimits(tx, workspaceId, people)
    const isRouted = await hasRouting(tx, workspaceId)
    await tx`
      update workspaces
      set is_routed = ${isRouted}
      where id = ${workspaceId}`
    publishWorkspace(tx, workspaceId)
    const entry = { scopeId: workspaceId, actor, action: 'routing.changed', target: `workspace:${workspaceId}` }
    await recordAudit(tx, entry, now)
  })
}

/** Whether rules or limits decide who gets a conversation. Read first: Citus changes no reference table by a distributed one. */
async function hasRouting(tx: Tx, workspaceId: string): Promise<boolean> {
  const found = await Promise.all([
    tx`
      select 1
      from routing_rules
      where workspace_id = ${workspaceId}
      limit 1`,
    tx`
      select 1
      from api_keys
      where workspace_id = ${workspaceId}
        and capacity is not null
        and revoked_at is null
      limit 1`,
  ])
  return found.some(({ length }) => length > 0)
}

async function checkRules(tx: Tx, workspaceId: string, rules: readonly StoredRule[]): Promise<Issue[]> {
  const connectionIds = rules.flatMap(({ connectionId }) => connectionId ?? [])
  const teamIds = rules.flatMap(({ teamId }) => teamId ?? [])
  const teams = await findTeams(tx, workspaceId, teamIds)
  const rows = await tx<{ id: string }[]>`
    select id
    from connections
    where workspace_id = ${workspaceId}
      and id = any (${connectionIds}::uuid[])`
  const connections = new Set(rows.map(({ id }) => id))
  const seen = new Set<string | null>()
  const issues: Issue[] = []
  for (const [n, { connectionId, agent, keyId, teamId }] of rules.entries()) {
    const at = `rules[${n}]`
    if (connectionId !== null && !connections.has(connectionId))
      issues.push({ path: `${at}.connectionId`, message: 'must be a connection of the workspace' })
    else if (seen.has(connectionId)) issues.push({ path: `${at}.connectionId`, message: 'must not be named twice' })
    if (teamId !== null && !teams.has(teamId))
      issues.push({ path: `${at}.teamId`, message: 'must be a team of the workspace' })
    if ((agent === 'key') !== (keyId !== null))
      issues.push({ path: `${at}.keyId`, message: 'is required if agent is key, and must be null otherwise' })
    seen.add(connectionId)
  }
  const named = rules.map(({ keyId }) => ({ keyId }))
  return [...issues, ...(await checkKeys(tx, workspaceId, 'rules', named))]
}

/** Each must be a working key that can answer conversations. */
async function checkKeys(tx: Tx, workspaceId: string, list: string, items: readonly { keyId: string | null }[]) {
  const keys = await selectAgentKeys(tx, workspaceId, tx``)
  const working = new Set(keys.map(({ id }) => id))
  return items.flatMap(({ keyId }, n) =>
    keyId === null || working.has(keyId)
      ? []
      : [{ path: `${list}[${n}].keyId`, message: 'must be a working key with the scope inbox.write' }],
  )
}

async function checkPeople(tx: Tx, workspaceId: string, people: readonly PersonLimit[]): Promise<Issue[]> {
  const userIds = people.map(({ userId }) => userId)
  const others = await findNonMembers(tx, workspaceId, userIds)
  return people.flatMap(({ userId }, n) =>
    others.includes(userId) ? [{ path: `people[${n}].userId`, message: 'must be a member of the workspace' }] : [],
  )
}

async function storeRules(tx: Tx, workspaceId: string, rules: readonly StoredRule[]): Promise<void> {
  await tx`
    delete from routing_rules
    where workspace_id = ${workspaceId}`
  await tx`
    insert into routing_rules (workspace_id, connection_id, agent, key_id, team_id)
    select ${workspaceId}::uuid, n.*
    from unnest(
      ${rules.map(({ connectionId }) => connectionId ?? workspaceId)}::uuid[],
      ${rules.map(({ agent }) => agent)}::text[],
      ${rules.map(({ keyId }) => keyId)}::uuid[],
      ${rules.map(({ teamId }) => teamId)}::uuid[]
    ) as n`
}

async function storeAgentLimits(tx: Tx, workspaceId: string, agents: readonly AgentLimit[]): Promise<void> {
  const ids = agents.map(({ keyId }) => keyId)
  await tx`
    update api_keys
    set capacity = null
    where workspace_id = ${workspaceId}
      and capacity is not null
      and id <> all (${ids}::uuid[])`
  await tx`
    update api_keys k
    set capacity = n.capacity
    from unnest(${ids}::uuid[], ${agents.map(({ capacity }) => capacity)}::integer[]) as n (id, capacity)
    where k.workspace_id = ${workspaceId}
      and k.id = n.id`
}

async function storePersonLimits(tx: Tx, workspaceId: string, people: readonly PersonLimit[]): Promise<void> {
  const ids = people.map(({ userId }) => userId)
  await tx`
    update members
    set capacity = null
    where workspace_id = ${workspaceId}
      and capacity is not null
      and user_id <> all (${ids}::uuid[])`
  await tx`
    update members m
    set capacity = n.capacity
    from unnest(${ids}::uuid[], ${people.map(({ capacity }) => capacity)}::integer[]) as n (id, capacity)
    where m.workspace_id = ${workspaceId}
      and m.user_id = n.id`
}
