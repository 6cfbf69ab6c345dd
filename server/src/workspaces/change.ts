import { isDeepStrictEqual } from 'node:util'
import { isSupportedCountry } from 'libphonenumber-js/max'
import type { Static } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Db, Tx } from '../base/db.ts'
import type { KeyStore } from '../base/encryption/key-store.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import { forbidden, InvalidInput, type Issue, notFound } from '../base/errors.ts'
import { newId } from '../base/id.ts'
import { recordAudit } from '../team/audit.ts'
import { publishWorkspace } from '../team/live-updates.ts'
import { type Member, roleCovers, type TeamActor } from '../team/member.ts'
import { issuesOfHours } from '../team/opening-hours.ts'
import { changedQuota, firstQuota, quotaIn } from './quota-ceiling.ts'
import type { newWorkspaceSchema, WorkspacePatch } from './schema.ts'
import { insertWorkspace, lockWorkspace, publishChange, storeWorkspace, type WorkspaceRow } from './workspace.ts'

export interface WorkspaceDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  /** What must happen in the same transaction when agents are stopped: their conversations go back to people. */
  agentsStopped?(tx: Tx, keyring: Keyring, workspaceId: string, by: TeamActor): Promise<void>
  /** What must happen in the same transaction when a label goes: conversations lose it. */
  labelDeleted?(tx: Tx, workspaceId: string, labelId: string): Promise<void>
}

/** What an operator asks for, and who owns it. */
interface NewWorkspace extends Static<typeof newWorkspaceSchema> {
  /** After so many a customer whom no agent answers is people's; the usual unless given. */
  agentWatchdogMinutes?: number
  /** The user who owns it; null leaves it to an invitation. */
  ownerId: string | null
  createdBy: TeamActor | { type: 'system'; id: null }
}

const usualWatchdogMinutes = 5

/** Makes a workspace with its secrets and its first owner. */
export function createWorkspace(deps: WorkspaceDeps, input: NewWorkspace): Promise<WorkspaceRow> {
  return deps.db.tx((tx) => addWorkspace(tx, deps.keyStore, input, deps.clock.now()))
}

/** The same within a transaction of the caller's. The workspace's keys can be had once it has committed. */
export async function addWorkspace(tx: Tx, keyStore: KeyStore, input: NewWorkspace, now: Date): Promise<WorkspaceRow> {
  const issues = issuesOfCountry(input.defaultCountry)
  if (issues.length > 0) throw new InvalidInput(issues)
  const row = await insertWorkspace(tx, {
    id: newId(now),
    name: input.name.trim(),
    defaultCountry: input.defaultCountry ?? null,
    agentWatchdogMinutes: input.agentWatchdogMinutes ?? usualWatchdogMinutes,
    createdAt: now,
    ...firstQuota(quotaIn(input)),
  })
  await keyStore.createSecrets(tx, row.id)
  if (input.ownerId !== null) {
    await tx`
      insert into members (workspace_id, user_id, role, created_at)
      values (${row.id}, ${input.ownerId}, 'owner', ${now})`
  }
  const target = `workspace:${row.id}`
  await recordAudit(tx, { scopeId: row.id, actor: input.createdBy, action: 'workspace.created', target }, now)
  return row
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
  const keyring = await deps.keyStore.keyring(by.workspaceId)
  return deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    const before = await lockWorkspace(tx, by.workspaceId)
    if (before === undefined) throw notFound('Workspace not found')
    const after: WorkspaceRow = { ...before, ...given(before, patch), ...quotaAfter(before, patch, by) }
    const changed = changedFields(before, after)
    if (changed.length === 0) return before
    after.updatedAt = now
    await storeWorkspace(tx, after)
    if (after.agentsStopped && !before.agentsStopped) {
      await deps.agentsStopped?.(tx, keyring, by.workspaceId, by.actor)
    }
    await publishChange(tx, by.workspaceId)
    publishWorkspace(tx, by.workspaceId)
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

/** Numbers of a country that has no numbering plan would all be read as foreign. */
const issuesOfCountry = (country: string | null | undefined): Issue[] =>
  country == null || isSupportedCountry(country)
    ? []
    : [{ path: 'defaultCountry', message: 'must be an ISO 3166-1 code of a country with phone numbers, as in BR' }]

const issuesOfCurrency = (currency: string | null): Issue[] =>
  currency === null || currencies.has(currency)
    ? []
    : [{ path: 'currency', message: 'must be an ISO 4217 code of a currency, such as BRL' }]

function quotaAfter(before: WorkspaceRow, patch: WorkspacePatch, { isOperator }: Member) {
  const set = { quota: before.dailyLeadQuota, ceiling: before.dailyLeadQuotaCeiling }
  const { quota, ceiling } = changedQuota(set, quotaIn(patch), isOperator)
  return { dailyLeadQuota: quota, dailyLeadQuotaCeiling: ceiling }
}

const given = (before: WorkspaceRow, patch: WorkspacePatch) => ({
  ...patch,
  name: patch.name?.trim() ?? before.name,
  retention: { ...before.retention, ...patch.retention },
})

/** The columns that differ, as the audit log names them. */
function changedFields(before: WorkspaceRow, after: WorkspaceRow): string[] {
  const [old, now] = [columnsOf(before), columnsOf(after)]
  return Object.keys(old).filter((name) => !isDeepStrictEqual(old[name], now[name]))
}

function columnsOf({ retention, ...row }: WorkspaceRow): Record<string, unknown> {
  const kept = Object.entries(retention).map(([name, days]) => [`keep_${snake(name)}`, days])
  return Object.fromEntries([...Object.entries(row).map(([name, value]) => [snake(name), value]), ...kept])
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
