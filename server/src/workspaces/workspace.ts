import {
  isDistributed,
  lockExclusive,
  lockShared,
  lockUnlessDistributed,
  membersLock,
  rulesLock,
} from '../base/citus/distributed-sql.ts'
import type { Sql, Tx } from '../base/db.ts'
import { selectedAs, withColumnNames } from '../base/postgres/rows.ts'
import type { Value } from '../base/postgres/values.ts'
import type { Role } from '../team/member.ts'
import { type Retention, settingNames, type WorkspaceSettings } from './schema.ts'

export interface WorkspaceRow extends WorkspaceSettings {
  id: string
  retention: Retention
  createdAt: Date
  updatedAt: Date
}

const ownColumns = selectedAs('w', ['id', ...settingNames, 'createdAt', 'updatedAt'])
const columns = (sql: Sql) => sql`
  ${ownColumns},
  json_build_object(
    'conversationsDays', w.keep_conversations_days,
    'activitiesDays', w.keep_activities_days,
    'sendsDays', w.keep_sends_days,
    'submissionsDays', w.keep_submissions_days,
    'auditDays', w.keep_audit_days
  ) as retention`

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
type InitialSettings = Pick<
  WorkspaceRow,
  | ('id' | 'name' | 'defaultCountry' | 'dailyLeadQuota' | 'dailyLeadQuotaCeiling' | 'agentWatchdogMinutes')
  | ('createdAt' | 'updatedAt')
>

export async function insertWorkspace(tx: Tx, first: InitialSettings): Promise<WorkspaceRow> {
  await tx`insert into workspaces ${tx.row(withColumnNames(first))}`
  // Read by itself: Citus returns no objects from an insert.
  const [row] = await tx<[WorkspaceRow]>`
    select ${columns(tx)}
    from workspaces w
    where w.id = ${first.id}`
  return row
}

/** Returns the values of the columns. */
export function columnsOf({ retention, ...row }: WorkspaceRow): Record<string, unknown> {
  const days = Object.entries(retention).map(([name, value]) => [
    `keep${name[0]?.toUpperCase()}${name.slice(1)}`,
    value,
  ])
  return withColumnNames({ ...row, ...Object.fromEntries(days) })
}

const jsonColumns = ['hours', 'holidays', 'away_message', 'service_goals']

export async function storeWorkspace(tx: Tx, row: WorkspaceRow): Promise<void> {
  const { id, created_at: _, ...columns } = columnsOf(row)
  for (const name of jsonColumns) if (columns[name] !== null) columns[name] = tx.json(columns[name])
  await tx`
    update workspaces
    set ${tx.set(columns as Record<string, Value>)}
    where id = ${row.id}`
}

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
