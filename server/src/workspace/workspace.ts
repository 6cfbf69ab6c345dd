import type { Sql, Tx } from '../base/db.ts'
import { isSpread, rulesOf, takeRows } from '../base/distribution/spread.ts'
import type { Role } from '../team/member.ts'
import type { OpeningHours } from '../team/opening-hours.ts'

/** Whether an agent may take back what people have: at any time, or only what they hand over. */
export const takingBack = ['always', 'when_handed'] as const
export type TakingBack = (typeof takingBack)[number]

export interface WorkspaceRow {
  id: string
  name: string
  default_country: string | null
  currency: string | null
  daily_lead_quota: number
  daily_lead_quota_ceiling: number
  leads_enabled: boolean
  inbox_enabled: boolean
  inbox_available: boolean
  lead_statuses: string[]
  agent_watchdog_minutes: number | null
  agents_stopped: boolean
  leads_from_chat: boolean
  keep_former_texts: boolean
  agents_may_take_back: TakingBack
  agent_word: string | null
  hours: OpeningHours | null
  answer_goal_minutes: number | null
  keep_conversations_days: number | null
  keep_activities_days: number | null
  keep_sends_days: number | null
  keep_submissions_days: number | null
  keep_audit_days: number | null
  created_at: Date
  updated_at: Date
}

const columns = (sql: Sql) => sql`
  w.id,
  w.name,
  w.default_country,
  w.currency,
  w.daily_lead_quota,
  w.daily_lead_quota_ceiling,
  w.leads_enabled,
  w.inbox_enabled,
  w.inbox_available,
  w.lead_statuses,
  w.agent_watchdog_minutes,
  w.agents_stopped,
  w.leads_from_chat,
  w.keep_former_texts,
  w.agents_may_take_back,
  w.agent_word,
  w.hours,
  w.answer_goal_minutes,
  w.keep_conversations_days,
  w.keep_activities_days,
  w.keep_sends_days,
  w.keep_submissions_days,
  w.keep_audit_days,
  w.created_at,
  w.updated_at`

export async function findWorkspace(sql: Sql, workspaceId: string): Promise<WorkspaceRow | undefined> {
  const [row] = await sql<WorkspaceRow[]>`
    select ${columns(sql)}
    from workspaces w
    where w.id = ${workspaceId}`
  return row
}

/** With the user's role in each, by name. */
export async function listWorkspacesOf(sql: Sql, userId: string): Promise<(WorkspaceRow & { role: Role })[]> {
  return sql<(WorkspaceRow & { role: Role })[]>`
    select ${columns(sql)}, m.role
    from members m
    join workspaces w on w.id = m.workspace_id
    where m.user_id = ${userId}
    order by lower(w.name), w.id`
}

/** Every workspace of the installation, by name; or only the one that a token is for. */
export async function listAllWorkspaces(sql: Sql, onlyId: string | null = null): Promise<WorkspaceRow[]> {
  return sql<WorkspaceRow[]>`
    select ${columns(sql)}
    from workspaces w
    where ${onlyId}::uuid is null
      or w.id = ${onlyId}::uuid
    order by lower(w.name), w.id`
}

export async function lockWorkspace(tx: Tx, workspaceId: string): Promise<WorkspaceRow | undefined> {
  if (isSpread(tx)) await takeRows(tx, rulesOf(workspaceId))
  const [row] = await tx<WorkspaceRow[]>`
    select ${columns(tx)}
    from workspaces w
    where w.id = ${workspaceId}
    for no key update`
  return row
}

export async function insertWorkspace(tx: Tx, row: WorkspaceRow): Promise<void> {
  await tx`
    insert into workspaces (
      id, name, default_country, currency, daily_lead_quota, leads_enabled, inbox_enabled, inbox_available, lead_statuses,
      agent_watchdog_minutes, agents_stopped, leads_from_chat, keep_former_texts, agents_may_take_back, agent_word, hours,
      answer_goal_minutes,
      keep_conversations_days, keep_activities_days, keep_sends_days, keep_submissions_days, keep_audit_days, daily_lead_quota_ceiling, created_at, updated_at
    )
    values (
      ${row.id}, ${row.name}, ${row.default_country}, ${row.currency}, ${row.daily_lead_quota}, ${row.leads_enabled},
      ${row.inbox_enabled}, ${row.inbox_available}, ${row.lead_statuses}::text[],
      ${row.agent_watchdog_minutes}, ${row.agents_stopped}, ${row.leads_from_chat}, ${row.keep_former_texts}, ${row.agents_may_take_back},
      ${row.agent_word}, ${hoursIn(tx, row)}, ${row.answer_goal_minutes},
      ${row.keep_conversations_days}, ${row.keep_activities_days}, ${row.keep_sends_days}, ${row.keep_submissions_days},
      ${row.keep_audit_days}, ${row.daily_lead_quota_ceiling}, ${row.created_at}, ${row.updated_at}
    )`
}

export async function insertFirstOwner(tx: Tx, workspaceId: string, userId: string, now: Date): Promise<void> {
  await tx`
    insert into members (workspace_id, user_id, role, created_at)
    values (${workspaceId}, ${userId}, 'owner', ${now})`
}

export async function storeWorkspace(tx: Tx, row: WorkspaceRow): Promise<void> {
  await tx`
    update workspaces
    set name = ${row.name},
      default_country = ${row.default_country},
      currency = ${row.currency},
      daily_lead_quota = ${row.daily_lead_quota},
      daily_lead_quota_ceiling = ${row.daily_lead_quota_ceiling},
      leads_enabled = ${row.leads_enabled},
      inbox_enabled = ${row.inbox_enabled},
      inbox_available = ${row.inbox_available},
      lead_statuses = ${row.lead_statuses}::text[],
      agent_watchdog_minutes = ${row.agent_watchdog_minutes},
      agents_stopped = ${row.agents_stopped},
      leads_from_chat = ${row.leads_from_chat},
      keep_former_texts = ${row.keep_former_texts},
      agents_may_take_back = ${row.agents_may_take_back},
      agent_word = ${row.agent_word},
      hours = ${hoursIn(tx, row)},
      answer_goal_minutes = ${row.answer_goal_minutes},
      keep_conversations_days = ${row.keep_conversations_days},
      keep_activities_days = ${row.keep_activities_days},
      keep_sends_days = ${row.keep_sends_days},
      keep_submissions_days = ${row.keep_submissions_days},
      keep_audit_days = ${row.keep_audit_days},
      updated_at = ${row.updated_at}
    where id = ${row.id}`
}

const hoursIn = (sql: Sql, { hours }: WorkspaceRow) => (hours === null ? null : sql.json(hours))

/** Tells every node, once the transaction commits, to forget what it has cached of the workspace. */
export async function announceChange(tx: Tx, workspaceId: string): Promise<void> {
  await tx`select pg_notify('workspaces', ${workspaceId})`
}
