import { isDeepStrictEqual } from 'node:util'
import { forbidden, InvalidInput, type Issue, notFound } from '../base/errors.ts'
import { issuesOfCountry } from '../base/phone/phone.ts'
import { recordAudit } from '../team/audit.ts'
import { type Member, roleCovers } from '../team/member.ts'
import { issuesOfHours, type OpeningHours } from '../team/opening-hours.ts'
import { announceWorkspace } from '../team/team-news.ts'
import type { WorkspaceDeps } from './create.ts'
import { changedQuota, quotaIn } from './quota-ceiling.ts'
import { type Retention, withRetention } from './retention.ts'
import { announceChange, lockWorkspace, storeWorkspace, type TakingBack, type WorkspaceRow } from './workspace.ts'

export interface WorkspacePatch {
  name?: string
  defaultCountry?: string | null
  /** ISO 4217; null: amounts are bare numbers. */
  currency?: string | null
  dailyLeadQuota?: number
  dailyLeadQuotaCeiling?: number
  leadStatuses?: string[]
  leadsEnabled?: boolean
  inboxEnabled?: boolean
  inboxAvailable?: boolean
  /** Null turns it off. */
  agentWatchdogMinutes?: number | null
  agentsStopped?: boolean
  leadsFromChat?: boolean
  keepFormerTexts?: boolean
  agentsMayTakeBack?: TakingBack
  agentWord?: string | null
  hours?: OpeningHours | null
  /** Null: nobody is told of waits. */
  answerGoalMinutes?: number | null
  retention?: Partial<Retention>
}

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

/**
 * Changes the settings that the patch names. What the plan includes (`leadsEnabled`, `inboxEnabled`) is an operator's
 * to switch, and so is the ceiling of the quota; whether the inbox is open at the moment (`inboxAvailable`) an owner's.
 */
export async function updateWorkspace(deps: WorkspaceDeps, by: Member, patch: WorkspacePatch): Promise<WorkspaceRow> {
  refuseForeignSwitches(by, patch)
  const issues = issuesOfPatch(patch)
  if (issues.length > 0) throw new InvalidInput(issues)
  const keyring = await deps.vault.keyring(by.workspaceId)
  return deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    const before = await lockWorkspace(tx, by.workspaceId)
    if (before === undefined) throw notFound('Workspace not found')
    const after = { ...applyPatch(before, patch), ...quotaAfter(before, patch, by) }
    const changed = changedFields(before, after)
    if (changed.length === 0) return before
    after.updated_at = now
    await storeWorkspace(tx, after)
    if (after.agents_stopped && !before.agents_stopped) {
      await deps.agentsStopped?.(tx, keyring, by.workspaceId, by.actor)
    }
    await announceChange(tx, by.workspaceId)
    announceWorkspace(tx, by.workspaceId)
    const entry = { scopeId: by.workspaceId, actor: by.actor, action: 'workspace.changed', target: changed.join(',') }
    await recordAudit(tx, entry, now)
    return after
  })
}

function refuseForeignSwitches(by: Member, patch: WorkspacePatch): void {
  if ((patch.leadsEnabled !== undefined || patch.inboxEnabled !== undefined) && !by.isOperator) {
    throw forbidden('Only an operator of this installation changes what the plan includes')
  }
  if (patch.inboxAvailable !== undefined && !roleCovers(by.role, 'owner')) {
    throw forbidden('Only an owner opens or closes the inbox')
  }
}

function issuesOfPatch({ leadStatuses, defaultCountry, currency = null, hours = null }: WorkspacePatch): Issue[] {
  const isRepeated = leadStatuses !== undefined && new Set(leadStatuses).size < leadStatuses.length
  const repeated = isRepeated ? [{ path: 'leadStatuses', message: 'must not name a status twice' }] : []
  return [
    ...repeated,
    ...issuesOfCountry(defaultCountry),
    ...issuesOfCurrency(currency),
    ...(hours === null ? [] : issuesOfHours(hours)),
  ]
}

const issuesOfCurrency = (currency: string | null): Issue[] =>
  currency === null || currencies.has(currency)
    ? []
    : [{ path: 'currency', message: 'must be an ISO 4217 code of a currency, such as BRL' }]

function quotaAfter(before: WorkspaceRow, patch: WorkspacePatch, { isOperator }: Member) {
  const set = { quota: before.daily_lead_quota, ceiling: before.daily_lead_quota_ceiling }
  const { quota, ceiling } = changedQuota(set, quotaIn(patch), isOperator)
  return { daily_lead_quota: quota, daily_lead_quota_ceiling: ceiling }
}

function applyPatch(before: WorkspaceRow, patch: WorkspacePatch): WorkspaceRow {
  return {
    ...before,
    name: patch.name?.trim() ?? before.name,
    default_country: patch.defaultCountry === undefined ? before.default_country : patch.defaultCountry,
    currency: patch.currency === undefined ? before.currency : patch.currency,
    lead_statuses: patch.leadStatuses ?? before.lead_statuses,
    leads_enabled: patch.leadsEnabled ?? before.leads_enabled,
    inbox_enabled: patch.inboxEnabled ?? before.inbox_enabled,
    inbox_available: patch.inboxAvailable ?? before.inbox_available,
    agent_watchdog_minutes:
      patch.agentWatchdogMinutes === undefined ? before.agent_watchdog_minutes : patch.agentWatchdogMinutes,
    agents_stopped: patch.agentsStopped ?? before.agents_stopped,
    leads_from_chat: patch.leadsFromChat ?? before.leads_from_chat,
    keep_former_texts: patch.keepFormerTexts ?? before.keep_former_texts,
    agents_may_take_back: patch.agentsMayTakeBack ?? before.agents_may_take_back,
    agent_word: patch.agentWord === undefined ? before.agent_word : patch.agentWord,
    hours: patch.hours === undefined ? before.hours : patch.hours,
    answer_goal_minutes: patch.answerGoalMinutes === undefined ? before.answer_goal_minutes : patch.answerGoalMinutes,
    ...withRetention(before, patch.retention ?? {}),
  }
}

function changedFields(before: WorkspaceRow, after: WorkspaceRow): string[] {
  const fields = Object.keys(before) as (keyof WorkspaceRow)[]
  return fields.filter((field) => !isDeepStrictEqual(before[field], after[field]))
}
