import {
  isDistributed,
  lockExclusive,
  lockShared,
  lockUnlessDistributed,
  membersLock,
  rulesLock,
} from '../base/citus/distributed-sql.ts'
import type { Sql, Tx } from '../base/db.ts'
import type { Role } from '../team/member.ts'
import type { Quota } from './quota-ceiling.ts'
import type { Retention, WorkspaceSettings } from './schema.ts'

export interface WorkspaceRow extends WorkspaceSettings {
  id: string
  retention: Retention
  createdAt: Date
  updatedAt: Date
}

const columns = (sql: Sql) => sql`
  w.id,
  w.name,
  w.default_country as "defaultCountry",
  w.currency,
  w.daily_lead_quota as "dailyLeadQuota",
  w.daily_lead_quota_ceiling as "dailyLeadQuotaCeiling",
  w.leads_enabled as "leadsEnabled",
  w.inbox_enabled as "inboxEnabled",
  w.inbox_available as "inboxAvailable",
  w.lead_statuses as "leadStatuses",
  w.agent_watchdog_minutes as "agentWatchdogMinutes",
  w.agents_stopped as "agentsStopped",
  w.leads_from_chat as "leadsFromChat",
  w.opt_out_keywords as "optOutKeywords",
  w.opt_in_keywords as "optInKeywords",
  w.keep_former_texts as "keepFormerTexts",
  w.agents_may_take_back as "agentsMayTakeBack",
  w.agent_word as "agentWord",
  w.agent_max_parts as "agentMaxParts",
  w.hours,
  w.answer_goal_minutes as "answerGoalMinutes",
  w.feed_events as "feedEvents",
  w.holidays,
  w.away_message as "awayMessage",
  w.service_goals as "serviceGoals",
  json_build_object(
    'conversationsDays', w.keep_conversations_days,
    'activitiesDays', w.keep_activities_days,
    'sendsDays', w.keep_sends_days,
    'submissionsDays', w.keep_submissions_days,
    'auditDays', w.keep_audit_days
  ) as retention,
  w.created_at as "createdAt",
  w.updated_at as "updatedAt"`

/** Days for which the audit log is kept by default: two years. */
export const defaultAuditDays = 730

export async function findWorkspace(sql: Sql, workspaceId: string): Promise<WorkspaceRow | undefined> {
  const [row] = await sql<WorkspaceRow[]>`
    select ${columns(sql)}
    from workspaces w
    where w.id = ${workspaceId}`
  return row
}

/** Returns the workspaces of a user with the role in each, sorted by name. */
export async function listWorkspacesOf(sql: Sql, userId: string): Promise<(WorkspaceRow & { role: Role })[]> {
  return sql<(WorkspaceRow & { role: Role })[]>`
    select ${columns(sql)}, m.role
    from members m
    join workspaces w on w.id = m.workspace_id
    where m.user_id = ${userId}
    order by lower(w.name), w.id`
}

/** Returns every workspace of customers, sorted by name, or only the one of a token. */
export async function listAllWorkspaces(sql: Sql, onlyId: string | null = null): Promise<WorkspaceRow[]> {
  return sql<WorkspaceRow[]>`
    select ${columns(sql)}
    from workspaces w
    where w.sandbox_until is null
      and (${onlyId}::uuid is null or w.id = ${onlyId}::uuid)
    order by lower(w.name), w.id`
}

/** Returns whether a workspace exists only to try an agent: nothing may leave it. */
export async function isSandbox(sql: Sql, workspaceId: string): Promise<boolean> {
  const rows = await sql`
    select id
    from workspaces
    where id = ${workspaceId}
      and sandbox_until is not null`
  return rows.length > 0
}

export async function lockWorkspace(tx: Tx, workspaceId: string): Promise<WorkspaceRow | undefined> {
  if (isDistributed(tx)) await lockExclusive(tx, rulesLock(workspaceId))
  const [row] = await tx<WorkspaceRow[]>`
    select ${columns(tx)}
    from workspaces w
    where w.id = ${workspaceId}
    for no key update`
  return row
}

/** Initial settings; the others get the defaults of the table. */
type InitialSettings = Pick<WorkspaceRow, 'id' | 'name' | 'defaultCountry' | 'agentWatchdogMinutes' | 'createdAt'> &
  Quota

export async function insertWorkspace(tx: Tx, first: InitialSettings): Promise<WorkspaceRow> {
  const [row] = await tx<WorkspaceRow[]>`
    insert into workspaces as w (
      id, name, default_country, daily_lead_quota, daily_lead_quota_ceiling, agent_watchdog_minutes, created_at, updated_at
    )
    values (
      ${first.id}, ${first.name}, ${first.defaultCountry}, ${first.quota}, ${first.ceiling}, ${first.agentWatchdogMinutes},
      ${first.createdAt}, ${first.createdAt}
    )
    returning ${columns(tx)}`
  if (row === undefined) throw new Error('An insert returned no row')
  return row
}

export async function storeWorkspace(tx: Tx, row: WorkspaceRow): Promise<void> {
  await tx`
    update workspaces
    set name = ${row.name},
      default_country = ${row.defaultCountry},
      currency = ${row.currency},
      daily_lead_quota = ${row.dailyLeadQuota},
      daily_lead_quota_ceiling = ${row.dailyLeadQuotaCeiling},
      leads_enabled = ${row.leadsEnabled},
      inbox_enabled = ${row.inboxEnabled},
      inbox_available = ${row.inboxAvailable},
      lead_statuses = ${row.leadStatuses}::text[],
      agent_watchdog_minutes = ${row.agentWatchdogMinutes},
      agents_stopped = ${row.agentsStopped},
      leads_from_chat = ${row.leadsFromChat},
      opt_out_keywords = ${row.optOutKeywords}::text[],
      opt_in_keywords = ${row.optInKeywords}::text[],
      keep_former_texts = ${row.keepFormerTexts},
      agents_may_take_back = ${row.agentsMayTakeBack},
      agent_word = ${row.agentWord},
      agent_max_parts = ${row.agentMaxParts},
      hours = ${jsonOrNull(tx, row.hours)},
      answer_goal_minutes = ${row.answerGoalMinutes},
      feed_events = ${row.feedEvents}::text[],
      holidays = ${tx.json(row.holidays)},
      away_message = ${jsonOrNull(tx, row.awayMessage)},
      service_goals = ${jsonOrNull(tx, row.serviceGoals)},
      keep_conversations_days = ${row.retention.conversationsDays},
      keep_activities_days = ${row.retention.activitiesDays},
      keep_sends_days = ${row.retention.sendsDays},
      keep_submissions_days = ${row.retention.submissionsDays},
      keep_audit_days = ${row.retention.auditDays},
      updated_at = ${row.updatedAt}
    where id = ${row.id}`
}

const jsonOrNull = (sql: Sql, value: object | null) => (value === null ? null : sql.json(value))

/** Returns the users who are not members. Those who are cannot be removed until the transaction ends. */
export async function findNonMembers(tx: Sql, workspaceId: string, userIds: readonly string[]): Promise<string[]> {
  if (userIds.length === 0) return []
  if (isDistributed(tx)) await lockShared(tx, membersLock(workspaceId))
  const members = await tx<{ user_id: string }[]>`
    select user_id
    from members
    where workspace_id = ${workspaceId}
      and user_id = any (${[...userIds]}::uuid[])
    ${lockUnlessDistributed(tx, tx`for key share`)}`
  const known = new Set(members.map((member) => member.user_id))
  return userIds.filter((id) => !known.has(id))
}

/** Makes every node invalidate its cache of the workspace when the transaction commits. */
export async function publishChange(tx: Tx, workspaceId: string): Promise<void> {
  await tx`select pg_notify('workspaces', ${workspaceId})`
}
