import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { ApiError } from '../../base/errors.ts'
import { findLabels } from '../../workspaces/labels.ts'
import type { LabelChange, LabelRequest } from '../labels/lead-labels.ts'
import { isEmptyChange, readLabels, requestedChange, reverseChange, writeLabels } from '../labels/lead-labels.ts'
import { decryptLead } from '../lead/encrypted-lead.ts'
import type { Lead, LeadDeps, LeadUser } from '../lead/lead.ts'
import { lockLiveLeads } from '../lead/queries.ts'
import { restoreLeads, unrestorableFields } from '../write/restore.ts'
import { markDeleted } from '../write/update.ts'
import { writeOutcomes } from '../write/upsert.ts'
import type { BulkChangeRow, RecordProgress } from './bulk-changes.ts'
import {
  type BulkItem,
  decryptFormerValues,
  decryptLabelChanges,
  type FormerValues,
  type ItemRow,
  recordItems,
} from './items.ts'

/** Reverts a batch of leads; leads changed since are left as they are and counted as kept. */
export async function undoBatch(
  deps: LeadDeps,
  user: LeadUser,
  row: BulkChangeRow,
  items: readonly ItemRow[],
  advance: RecordProgress,
): Promise<void> {
  if (row.kind === 'delete') return undoDeletion(deps, user, items, advance)
  const keyring = await deps.keyStore.keyring(user.workspaceId)
  await deps.db.tx(async (tx) => {
    const touched = items.filter(({ outcome }) => outcome === 'created' || outcome === 'changed')
    const leads = await lockItemLeads(tx, keyring, user, touched)
    const now = deps.clock.now()
    const toHide = touched.flatMap((item) => {
      const lead = leads.get(item.lead_id)
      return item.outcome === 'created' && lead !== undefined && isUntouched(item, lead) ? [lead] : []
    })
    const { changes, notReverted } = await planRevert(tx, keyring, user, row, touched, leads, now)
    await markDeleted(tx, keyring, user, toHide, now)
    const before = changes.map((change) => change.before)
    const outcomes = changes.map(({ before, lead }) => ({ action: 'updated', before, lead }) as const)
    await writeOutcomes(tx, now, keyring, user, before, outcomes)
    const undone = toHide.length + changes.filter(({ lead }) => !notReverted.has(lead.id)).length
    await advance(tx, { undone, kept: touched.length - undone })
  })
}

const isUntouched = ({ left_at }: ItemRow, { updatedAt }: Lead): boolean => left_at?.getTime() === updatedAt.getTime()

async function lockItemLeads(tx: Tx, keyring: Keyring, user: LeadUser, items: readonly ItemRow[]) {
  const rows = await lockLiveLeads(
    tx,
    user.workspaceId,
    items.map(({ lead_id }) => lead_id),
  )
  return new Map(rows.map((one) => [one.id, decryptLead(keyring, one)]))
}

/** Returns the changes to write, and the leads of which some or all fields are not reverted. */
async function planRevert(
  tx: Tx,
  keyring: Keyring,
  user: LeadUser,
  row: BulkChangeRow,
  touched: readonly ItemRow[],
  leads: ReadonlyMap<string, Lead>,
  now: Date,
) {
  const notReverted = new Set<string>()
  const transitions = touched.flatMap((item) => {
    const lead = leads.get(item.lead_id)
    if (item.outcome !== 'changed' || item.before === null || lead === undefined) return []
    const former = decryptFormerValues(keyring, row.id, lead.id, item.before)
    const revertible =
      row.kind === 'import' ? (isUntouched(item, lead) ? former : {}) : unchangedFormerValues(row, lead, former)
    if (Object.keys(revertible).length < Object.keys(former).length) notReverted.add(lead.id)
    if (Object.keys(revertible).length === 0) return []
    const updatedAt = new Date(Math.max(now.getTime(), lead.updatedAt.getTime()))
    return [{ before: lead, lead: { ...lead, ...revertible, updatedAt } }]
  })
  const unrestorable = await unrestorableFields(tx, user.workspaceId, transitions)
  return { changes: transitions.filter((change) => unrestorable(change).length === 0), notReverted }
}

/** Returns former values of the fields that still have the value the change set. */
function unchangedFormerValues({ changes }: BulkChangeRow, lead: Lead, former: FormerValues): FormerValues {
  const set: Record<string, unknown> = { ...changes }
  const revertible = Object.entries(former).filter(([name]) => lead[name as keyof Lead] === set[name])
  return Object.fromEntries(revertible)
}

async function undoDeletion(
  deps: LeadDeps,
  user: LeadUser,
  items: readonly ItemRow[],
  advance: RecordProgress,
): Promise<void> {
  const deletedAt = new Map(
    items.flatMap(({ lead_id, outcome, left_at }) =>
      outcome === 'deleted' && left_at !== null ? [[lead_id, left_at.getTime()]] : [],
    ),
  )
  await restoreLeads(deps, user, [...deletedAt.keys()], {
    mayRestore: (lead) => deletedAt.get(lead.id) === lead.deletedAt?.getTime(),
    inTransaction: async (tx, restored) => {
      const undone = restored.filter((one) => 'lead' in one).length
      await advance(tx, { undone, kept: restored.length - undone })
    },
  })
}

/** Adds labels to and removes labels from a batch of leads; a lead that would have more than 20 fails alone. */
export async function labelBatch(
  deps: LeadDeps,
  user: LeadUser,
  row: BulkChangeRow,
  ids: readonly string[],
  advance: RecordProgress,
): Promise<void> {
  const { workspaceId } = user
  const keyring = await deps.keyStore.keyring(workspaceId)
  const { addLabelIds: requestedIds = [], removeLabelIds: remove = [] } = row.changes ?? {}
  await deps.db.tx(async (tx) => {
    const live = new Set((await lockLiveLeads(tx, workspaceId, ids)).map(({ id }) => id))
    const known = await findLabels(tx, workspaceId, requestedIds)
    // Labels deleted since are not added.
    const labelRequest: LabelRequest = { add: requestedIds.filter((id) => known.has(id)), remove }
    const labels = await readLabels(tx, workspaceId, [...live])
    const items = ids.map((leadId): BulkItem => {
      const change = live.has(leadId) ? requestedChange(leadId, labels.get(leadId) ?? [], labelRequest) : null
      if (change === null) return { leadId, outcome: 'failed', before: null, leftAt: null }
      if (isEmptyChange(change)) return { leadId, outcome: 'unchanged', before: null, leftAt: null }
      const { added, removed } = change
      return { leadId, outcome: 'changed', before: { labels: { added, removed } }, leftAt: null }
    })
    const changes = items.flatMap(({ leadId, before }) =>
      before !== null && 'labels' in before ? [{ leadId, ...before.labels }] : [],
    )
    const now = deps.clock.now()
    await writeLabels(tx, workspaceId, user.actor, changes, now, 'labels')
    await deps.sequences?.labelsAdded(tx, workspaceId, changes, user.actor, now)
    await recordItems(tx, keyring, workspaceId, row.id, items)
    const count = (is: BulkItem['outcome']) => items.filter(({ outcome }) => outcome === is).length
    await advance(tx, { changed: count('changed'), unchanged: count('unchanged'), failed: count('failed') })
  })
}

/** Starts a sequence for a batch of leads; those that are in it stay, and the others fail alone. */
export async function sequenceBatch(
  deps: LeadDeps,
  user: LeadUser,
  row: BulkChangeRow,
  ids: readonly string[],
  advance: RecordProgress,
): Promise<void> {
  const { workspaceId, actor } = user
  const keyring = await deps.keyStore.keyring(workspaceId)
  const start = { sequenceId: row.changes?.sequenceId ?? '', leadIds: ids, entry: 'bulk', actor } as const
  await deps.db.tx(async (tx) => {
    const done = await startOrRefuse(deps, tx, workspaceId, { ...start, bulkChangeId: row.id })
    const items = ids.map((leadId): BulkItem => {
      const outcome = done.started.includes(leadId) ? 'changed' : done.running.includes(leadId) ? 'unchanged' : 'failed'
      return { leadId, outcome, before: null, leftAt: null }
    })
    await recordItems(tx, keyring, workspaceId, row.id, items)
    const count = (is: BulkItem['outcome']) => items.filter(({ outcome }) => outcome === is).length
    await advance(tx, { changed: count('changed'), unchanged: count('unchanged'), failed: count('failed') })
  })
}

/** Off, deleted or full: all of the batch fail, and none are tried for ever. */
async function startOrRefuse(
  { sequences, clock }: LeadDeps,
  tx: Tx,
  workspaceId: string,
  start: Parameters<NonNullable<LeadDeps['sequences']>['start']>[2],
): Promise<{ started: string[]; running: string[] }> {
  if (sequences === undefined) throw new Error('Bulk changes have no sequences')
  try {
    return await sequences.start(tx, workspaceId, start, clock.now())
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { started: [], running: [] }
  }
}

/** Ends what the bulk change has started for a batch; runs that have ended by themselves are kept. */
export async function undoSequence(
  { db, clock, sequences }: LeadDeps,
  { workspaceId }: LeadUser,
  row: BulkChangeRow,
  items: readonly ItemRow[],
  advance: RecordProgress,
): Promise<void> {
  const leadIds = items.flatMap(({ lead_id: leadId, outcome }) => (outcome === 'changed' ? [leadId] : []))
  await db.tx(async (tx) => {
    const undone = (await sequences?.undo(tx, workspaceId, row.id, leadIds, clock.now())) ?? 0
    await advance(tx, { undone, kept: leadIds.length - undone })
  })
}

/** Reverts the label changes of a batch, as far as they still apply. */
export async function undoLabels(
  deps: LeadDeps,
  user: LeadUser,
  row: BulkChangeRow,
  items: readonly ItemRow[],
  advance: RecordProgress,
): Promise<void> {
  const { workspaceId } = user
  const keyring = await deps.keyStore.keyring(workspaceId)
  const recordedChanges = items.flatMap(({ lead_id: leadId, outcome, before }): LabelChange[] => {
    if (outcome !== 'changed' || before === null) return []
    const { labels } = decryptLabelChanges(keyring, row.id, leadId, before)
    return labels === undefined ? [] : [{ leadId, ...labels }]
  })
  await deps.db.tx(async (tx) => {
    const ids = recordedChanges.map(({ leadId }) => leadId)
    const live = new Set((await lockLiveLeads(tx, workspaceId, ids)).map(({ id }) => id))
    const known = await findLabels(tx, workspaceId, [...new Set(recordedChanges.flatMap(({ removed }) => removed))])
    const labels = await readLabels(tx, workspaceId, [...live])
    const reversals = recordedChanges.flatMap((one) =>
      live.has(one.leadId) ? [reverseChange(one, labels.get(one.leadId) ?? [], known)] : [],
    )
    const changes = reversals.map(({ change }) => change).filter((change) => !isEmptyChange(change))
    await writeLabels(tx, workspaceId, user.actor, changes, deps.clock.now(), 'labels')
    const undone = reversals.filter(({ isComplete }) => isComplete).length
    await advance(tx, { undone, kept: recordedChanges.length - undone })
  })
}
