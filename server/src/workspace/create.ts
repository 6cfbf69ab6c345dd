import type { Clock } from '../base/clock.ts'
import type { Db, Tx } from '../base/db.ts'
import { InvalidInput } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { issuesOfCountry } from '../base/phone/phone.ts'
import type { Keyring } from '../base/sealing/keyring.ts'
import type { Vault } from '../base/sealing/vault.ts'
import { recordAudit } from '../team/audit.ts'
import type { TeamActor } from '../team/member.ts'
import { firstQuota, quotaIn } from './quota-ceiling.ts'
import { keepsEverything } from './retention.ts'
import { insertFirstOwner, insertWorkspace, type WorkspaceRow } from './workspace.ts'

export interface WorkspaceDeps {
  db: Db
  vault: Vault
  clock: Clock
  /** What must happen in the same transaction when agents are stopped: their conversations go back to people. */
  agentsStopped?(tx: Tx, keyring: Keyring, workspaceId: string, by: TeamActor): Promise<void>
  /** What must happen in the same transaction when a label goes: conversations lose it. */
  labelDeleted?(tx: Tx, workspaceId: string, labelId: string): Promise<void>
}

export interface NewWorkspace {
  name: string
  /** ISO 3166-1 alpha-2. */
  defaultCountry?: string | null
  /** New leads per UTC day; 0 is unlimited. */
  dailyLeadQuota?: number
  /** The most that its admins may set; the quota unless given. */
  dailyLeadQuotaCeiling?: number
  /** After so many a customer whom no agent answers is people's; the usual unless given. */
  agentWatchdogMinutes?: number
  /** The user who owns it; null leaves it to an invitation. */
  ownerId: string | null
  createdBy: TeamActor | { type: 'system'; id: null }
}

export const firstLeadStatuses = ['new', 'contacted', 'qualified', 'proposal', 'won', 'lost', 'unqualified']

/** A customer whom no agent answers is people's after so many minutes, unless the workspace says otherwise. */
const usualWatchdogMinutes = 5

/** Makes a workspace with its secrets and its first owner. */
export function createWorkspace(deps: WorkspaceDeps, input: NewWorkspace): Promise<WorkspaceRow> {
  return deps.db.tx((tx) => addWorkspace(tx, deps.vault, input, deps.clock.now()))
}

/** The same within a transaction of the caller's. The workspace's keys can be had once it has committed. */
export async function addWorkspace(tx: Tx, vault: Vault, input: NewWorkspace, now: Date): Promise<WorkspaceRow> {
  const issues = issuesOfCountry(input.defaultCountry)
  if (issues.length > 0) throw new InvalidInput(issues)
  const { quota, ceiling } = firstQuota(quotaIn(input))
  const row: WorkspaceRow = {
    id: newId(now),
    name: input.name.trim(),
    default_country: input.defaultCountry ?? null,
    currency: null,
    daily_lead_quota: quota,
    daily_lead_quota_ceiling: ceiling,
    leads_enabled: true,
    inbox_enabled: true,
    inbox_available: true,
    lead_statuses: firstLeadStatuses,
    agent_watchdog_minutes: input.agentWatchdogMinutes ?? usualWatchdogMinutes,
    agents_stopped: false,
    leads_from_chat: false,
    keep_former_texts: true,
    agents_may_take_back: 'always',
    agent_word: null,
    answer_goal_minutes: 15,
    hours: null,
    ...keepsEverything,
    created_at: now,
    updated_at: now,
  }
  await insertWorkspace(tx, row)
  await vault.createSecrets(tx, row.id)
  if (input.ownerId !== null) await insertFirstOwner(tx, row.id, input.ownerId, now)
  const target = `workspace:${row.id}`
  await recordAudit(tx, { scopeId: row.id, actor: input.createdBy, action: 'workspace.created', target }, now)
  return row
}
