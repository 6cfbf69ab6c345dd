import { pipelineCommit, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { InvalidInput, type Issue } from '../../base/errors.ts'
import { carryOptOuts } from '../../consents/store.ts'
import { recordEvents } from '../../events/record.ts'
import { recordAudit } from '../../team/audit.ts'
import { auditedActorOf } from '../../workspaces/actor.ts'
import { findNonMembers } from '../../workspaces/workspace.ts'
import { applyPatch } from '../lead/change.ts'
import { decryptLead } from '../lead/encrypted-lead.ts'
import { leadDeleted, leadUpdated } from '../lead/events.ts'
import { findLead, revealsMissingNumber, withLookupLimit } from '../lead/find-lead.ts'
import { recordStatusChanges } from '../lead/history.ts'
import type { LeadPatch } from '../lead/input.ts'
import { assigneeIssue, type Lead, type LeadDeps, type LeadTx, type LeadUser, leadNotFound } from '../lead/lead.ts'
import { hiddenWorkspaceId, lockLead, lockLiveLeads } from '../lead/queries.ts'
import { retryWhileTaken, updateLeads } from '../lead/write.ts'

export interface LeadUpdate {
  lead: Lead
  before: Lead
  changed: boolean
}

/** Judges under the lock of the lead, in its transaction, whether it may be changed; throws if not. */
export type LeadCheck = (tx: Tx, keyring: Keyring, before: Lead, now: Date) => Promise<void>

/** Applies a patch to the locked lead. Returns the same lead object if nothing changed. */
export async function updateLead(
  deps: LeadDeps,
  user: LeadUser,
  identifier: string,
  parsed: { patch: LeadPatch; issues: Issue[] },
  check?: LeadCheck,
): Promise<LeadUpdate> {
  const { patch } = parsed
  const keyring = await deps.keyStore.keyring(user.workspaceId)
  return withLookupLimit(user, { identifier, patch }, async (budget) => {
    const update = (tx: Tx) => updateInTransaction({ tx, keyring, user, clock: deps.clock }, identifier, parsed, check)
    const updated = await retryWhileTaken(() => deps.db.tx(update), 1)
    if (revealsMissingNumber(patch, updated.before, updated.lead)) budget.recordMiss()
    return updated
  })
}

async function updateInTransaction(
  { tx, keyring, user, clock }: Omit<LeadTx, 'now'> & Pick<LeadDeps, 'clock'>,
  identifier: string,
  { patch, issues }: { patch: LeadPatch; issues: Issue[] },
  check: LeadCheck | undefined,
): Promise<LeadUpdate> {
  const { workspaceId } = user
  const before = await lockFoundLead({ tx, keyring, user }, identifier)
  const now = clock.now()
  await check?.(tx, keyring, before, now)
  const { lead, changed, issues: found } = applyPatch(before, patch, '', now)
  if (issues.length + found.length > 0) throw new InvalidInput([...issues, ...found])
  if (!changed) return { lead, before, changed }
  if (lead.assignedTo !== null && lead.assignedTo !== before.assignedTo) {
    const nonMembers = await findNonMembers(tx, workspaceId, [lead.assignedTo])
    if (nonMembers.length > 0) throw new InvalidInput([assigneeIssue('')])
  }
  await carryOptOuts({ tx, keyring, workspaceId, now }, [{ from: before.phone, to: lead.phone }])
  await pipelineCommit(tx, () =>
    Promise.all([
      updateLeads(tx, keyring, workspaceId, [lead]),
      recordStatusChanges({ tx, user, now }, [{ before, lead }]),
      recordEvents(tx, keyring, workspaceId, [leadUpdated(lead, before, user)], now),
    ]),
  )
  return { lead, before, changed }
}

/** Finds and locks a live lead. Throws 404. */
async function lockFoundLead({ tx, keyring, user }: Omit<LeadTx, 'now'>, identifier: string): Promise<Lead> {
  const { id } = await findLead(tx, keyring, user, identifier)
  const row = await lockLead(tx, user.workspaceId, id)
  if (row === undefined) throw leadNotFound()
  return decryptLead(keyring, row)
}

/** Deletes a lead: hides it from every read and frees its names. It can be restored for 30 days. */
export async function deleteLead(deps: LeadDeps, user: LeadUser, identifier: string): Promise<void> {
  const keyring = await deps.keyStore.keyring(user.workspaceId)
  const deleteFound = () =>
    deps.db.tx(async (tx) => {
      const lead = await lockFoundLead({ tx, keyring, user }, identifier)
      const work = { tx, keyring, user, now: deps.clock.now() }
      await pipelineCommit(tx, () => Promise.all([markDeleted(work, [lead]), recordDeletion(work)]))
    })
  await withLookupLimit(user, { identifier }, deleteFound)
}

// The audit log records who deleted, but not which lead: it outlives an erasure. Deletions by keys are in the feed.
async function recordDeletion({ tx, user, now }: LeadTx): Promise<void> {
  const actor = auditedActorOf(user.actor)
  if (actor === null) return
  await recordAudit(tx, { scopeId: user.workspaceId, actor, action: 'lead.deleted', target: null }, now)
}

/** Deletes the live leads among `ids` and returns their ids. `alongside` runs in the same transaction. */
export async function deleteLeads(
  deps: LeadDeps,
  user: LeadUser,
  ids: readonly string[],
  inTransaction: (tx: Tx, deleted: ReadonlySet<string>, deletedAt: Date) => Promise<void>,
): Promise<Set<string>> {
  const keyring = await deps.keyStore.keyring(user.workspaceId)
  return deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    const rows = await lockLiveLeads(tx, user.workspaceId, ids)
    const leads = rows.map((row) => decryptLead(keyring, row))
    await markDeleted({ tx, keyring, user, now }, leads)
    const deleted = new Set(leads.map(({ id }) => id))
    await inTransaction(tx, deleted, now)
    return deleted
  })
}

/** Marks locked leads as deleted, removes their search tokens and records the events. */
export async function markDeleted({ tx, keyring, user, now }: LeadTx, leads: readonly Lead[]): Promise<void> {
  if (leads.length === 0) return
  const { workspaceId } = user
  const ids = leads.map(({ id }) => id)
  const events = leads.map((lead) => leadDeleted({ ...lead, deletedAt: now }, user))
  await Promise.all([
    tx`
      update leads
      set deleted_at = ${now}
      where workspace_id = ${hiddenWorkspaceId(tx, workspaceId)}
        and id = any (${ids}::uuid[])`.execute(),
    tx`
      delete from lead_search
      where workspace_id = ${workspaceId}
        and lead_id = any (${ids}::uuid[])`.execute(),
    recordEvents(tx, keyring, workspaceId, events, now),
  ])
}
