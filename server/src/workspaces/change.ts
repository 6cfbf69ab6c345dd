import { isDeepStrictEqual } from 'node:util'
import type { Static } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Db, Tx } from '../base/db.ts'
import type { KeyStore } from '../base/encryption/key-store.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { forbidden, InvalidInput, type Issue, notFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { hasNumberingPlan } from '../base/phone/phone.ts'
import { foldKeyword } from '../base/text/keywords.ts'
import { recordAudit, workspaceEntry } from '../team/audit.ts'
import { publishWorkspace } from '../team/live-updates.ts'
import { type Member, roleCovers, type TeamActor } from '../team/member.ts'
import { validateHolidays, validateHours } from '../team/opening-hours.ts'
import { recordWord } from './instructions/versions.ts'
import { applyQuotaChange, initialQuota, parseQuota } from './quota-ceiling.ts'
import type { newWorkspaceSchema, WorkspacePatch } from './schema.ts'
import { requestGoalUpdate } from './service/service-settings.ts'
import {
  columnsOf,
  insertWorkspace,
  lockWorkspace,
  publishChange,
  storeWorkspace,
  type WorkspaceRow,
} from './workspace.ts'

export interface WorkspaceDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  /** Returns the agents' conversations to people, in the same transaction. */
  agentsStopped?(tx: Tx, keyring: Keyring, workspaceId: string, by: TeamActor): Promise<void>
  /** Removes a deleted label from conversations, in the same transaction. */
  labelDeleted?(tx: Tx, workspaceId: string, labelId: string): Promise<void>
  /** Removes a deleted team from the rules that route to it, in the same transaction. */
  teamDeleted?(tx: Tx, workspaceId: string, teamId: string): Promise<void>
}

/** An operator's request, with the owner. */
interface NewWorkspace extends Static<typeof newWorkspaceSchema> {
  /** Minutes after which an unanswered customer is returned from agents to people. Has a default. */
  agentWatchdogMinutes?: number
  /** The user who becomes owner; null if an owner will be invited. */
  ownerId: string | null
  createdBy: TeamActor | { type: 'system'; id: null }
}

const defaultWatchdogMinutes = 5

/** Creates a workspace with its secrets and first owner. */
export function createWorkspace(deps: WorkspaceDeps, input: NewWorkspace): Promise<WorkspaceRow> {
  return deps.db.tx((tx) => addWorkspace(tx, deps.keyStore, input, deps.clock.now()))
}

/** Does the same in the caller's transaction. The workspace's keys are available after it has committed. */
export async function addWorkspace(tx: Tx, keyStore: KeyStore, input: NewWorkspace, now: Date): Promise<WorkspaceRow> {
  const issues = validateCountry(input.defaultCountry)
  if (issues.length > 0) throw new InvalidInput(issues)
  const { quota, ceiling } = initialQuota(parseQuota(input))
  const row = await insertWorkspace(tx, {
    id: newId(now),
    name: input.name.trim(),
    defaultCountry: input.defaultCountry ?? null,
    agentWatchdogMinutes: input.agentWatchdogMinutes ?? defaultWatchdogMinutes,
    ...{ dailyLeadQuota: quota, dailyLeadQuotaCeiling: ceiling, createdAt: now, updatedAt: now },
  })
  await keyStore.createSecrets(tx, row.id)
  if (input.ownerId !== null) {
    await tx`
      insert into members (workspace_id, user_id, role, created_at)
      values (${row.id}, ${input.ownerId}, 'owner', ${now})`
  }
  const by = { workspaceId: row.id, actor: input.createdBy }
  await recordAudit(tx, workspaceEntry(by, 'workspace.created', `workspace:${row.id}`), now)
  return row
}

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

/**
 * Changes the settings in the patch, or in the one for the current settings. Only operators can change what the plan
 * includes (`leadsEnabled`, `inboxEnabled`) and the quota ceiling; only owners can change `inboxAvailable`.
 */
export async function updateWorkspace(
  deps: WorkspaceDeps,
  by: Member,
  requested: WorkspacePatch | ((before: WorkspaceRow) => Pick<WorkspacePatch, 'holidays'>),
): Promise<WorkspaceRow> {
  if (typeof requested !== 'function') checkPatch(by, requested)
  const keyring = await deps.keyStore.keyring(by.workspaceId)
  return deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    const before = await lockWorkspace(tx, by.workspaceId)
    if (before === undefined) throw notFound('Workspace not found')
    const patch: WorkspacePatch = typeof requested === 'function' ? requested(before) : requested
    if (patch.optOutKeywords !== undefined || patch.optInKeywords !== undefined) {
      const repeated = validateKeywords(patch, before)
      if (repeated.length > 0) throw new InvalidInput(repeated)
    }
    const after: WorkspaceRow = { ...before, ...applyPatch(before, patch), ...quotaOfPatch(before, patch, by) }
    const changed = changedFields(before, after)
    if (changed.length === 0) return before
    after.updatedAt = now
    await storeWorkspace(tx, after)
    if (after.agentWord !== before.agentWord) {
      await recordWord(tx, by.workspaceId, before, { text: after.agentWord, actor: by.actor }, now)
    }
    if (changed.some((column) => goalColumns.has(column))) await requestGoalUpdate(tx, by.workspaceId, now)
    if (after.agentsStopped && !before.agentsStopped) {
      await deps.agentsStopped?.(tx, keyring, by.workspaceId, by.actor)
    }
    await publishChange(tx, by.workspaceId)
    publishWorkspace(tx, by.workspaceId)
    await recordAudit(tx, workspaceEntry(by, 'workspace.changed', changed.join(',')), now)
    return after
  })
}

function checkPatch(by: Member, patch: WorkspacePatch): void {
  authorizeSwitches(by, patch)
  const issues = validatePatch(patch)
  if (issues.length > 0) throw new InvalidInput(issues)
}

/** Columns on which the clocks of goals depend. */
const goalColumns: ReadonlySet<string> = new Set(['hours', 'holidays', 'service_goals'])

function authorizeSwitches(by: Member, patch: WorkspacePatch): void {
  if ((patch.leadsEnabled !== undefined || patch.inboxEnabled !== undefined) && !by.isOperator) {
    throw forbidden('Only operators can change what the plan includes')
  }
  if (patch.inboxAvailable !== undefined && !roleCovers(by.role, 'owner')) {
    throw forbidden('Only owners can open or close the inbox')
  }
}

function validatePatch(patch: WorkspacePatch): Issue[] {
  const { leadStatuses, defaultCountry, currency = null, hours = null, holidays = [] } = patch
  const isRepeated = leadStatuses !== undefined && new Set(leadStatuses).size < leadStatuses.length
  const repeated = isRepeated ? [{ path: 'leadStatuses', message: 'must not contain a status twice' }] : []
  return [
    ...repeated,
    ...validateCountry(defaultCountry),
    ...validateCurrency(currency),
    ...(hours === null ? [] : validateHours(hours)),
    ...validateHolidays(holidays),
  ]
}

/** Each keyword needs a letter or digit, and means one thing. `before` has those that the patch does not change. */
function validateKeywords(patch: WorkspacePatch, before: WorkspaceRow): Issue[] {
  const issues: Issue[] = []
  const seen = new Map<string, string>()
  for (const path of ['optOutKeywords', 'optInKeywords'] as const) {
    for (const word of patch[path] ?? before[path]) {
      const folded = foldKeyword(word)
      const other = seen.get(folded)
      seen.set(folded, path)
      if (folded === '') issues.push({ path, message: 'must have a letter or digit in each keyword' })
      else if (other === path) issues.push({ path, message: 'must not contain a keyword twice' })
      else if (other !== undefined) issues.push({ path, message: 'must not contain a keyword of optOutKeywords' })
    }
  }
  return issues
}

/** Without a numbering plan, all numbers would be parsed as foreign. */
const validateCountry = (country: string | null | undefined): Issue[] =>
  country == null || hasNumberingPlan(country)
    ? []
    : [{ path: 'defaultCountry', message: 'must be an ISO 3166-1 code of a country with phone numbers, as in BR' }]

const validateCurrency = (currency: string | null): Issue[] =>
  currency === null || currencies.has(currency)
    ? []
    : [{ path: 'currency', message: 'must be an ISO 4217 currency code, such as BRL' }]

function quotaOfPatch(before: WorkspaceRow, patch: WorkspacePatch, { isOperator }: Member) {
  const set = { quota: before.dailyLeadQuota, ceiling: before.dailyLeadQuotaCeiling }
  const { quota, ceiling } = applyQuotaChange(set, parseQuota(patch), isOperator)
  return { dailyLeadQuota: quota, dailyLeadQuotaCeiling: ceiling }
}

const applyPatch = (before: WorkspaceRow, patch: WorkspacePatch) => ({
  ...patch,
  name: patch.name?.trim() ?? before.name,
  retention: { ...before.retention, ...patch.retention },
})

/** Returns the columns that differ, for the audit log. */
function changedFields(before: WorkspaceRow, after: WorkspaceRow): string[] {
  const [old, now] = [columnsOf(before), columnsOf(after)]
  return Object.keys(old).filter((name) => !isDeepStrictEqual(old[name], now[name]))
}
