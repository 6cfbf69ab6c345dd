import type { Tx } from '../../base/db.ts'
import { ApiError } from '../../base/errors.ts'
import { findLabels } from '../../workspaces/labels.ts'
import type { LabelChange, LabelRequest } from '../labels/lead-labels.ts'
import { isEmptyChange, readLabels, requestedChange, reverseChange, writeLabels } from '../labels/lead-labels.ts'
import { decryptLead } from '../lead/encrypted-lead.ts'
import type { Lead, LeadDeps } from '../lead/lead.ts'
import { lockLiveLeads } from '../lead/queries.ts'
import { restoreLeads, unrestorableFields } from '../write/restore.ts'
import { markDeleted } from '../write/update.ts'
import { writeOutcomes } from '../write/upsert.ts'
import type { BulkChangeRow } from './bulk-changes.ts'
import type { FormerLabels, FormerValues, ItemRow } from './items.ts'
import { type BulkBatch, type BulkItem, decryptFormerValues, recordBatch } from './items.ts'

/** Reverts a batch of leads; leads changed since are left as they are and counted as kept. */
export async function undoBatch(batch: BulkBatch): Promise<void> {
  const { deps, keyring, user, items, advance } = batch
  await deps.db.tx(async (tx) => {
    const touched = items.filter(({ outcome }) => outcome === 'created' || outcome === 'changed')
    const touchedIds = touched.map(({ lead_id }) => lead_id)
    const rows = await lockLiveLeads(tx, user.workspaceId, touchedIds)
    const leads = new Map(rows.map((one) => [one.id, decryptLead(keyring, one)]))
    const now = deps.clock.now()
    const toHide = touched.flatMap((item) => {
      const lead = leads.get(item.lead_id)
      return item.outcome === 'created' && lead !== undefined && isUntouched(item, lead) ? [lead] : []
    })
    const { changes, notReverted } = await planRevert(tx, batch, touched, leads, now)
    const work = { tx, keyring, user, now }
    await markDeleted(work, toHide)
    const before = changes.map((change) => change.before)
    const outcomes = changes.map(({ before, lead }) => ({ action: 'updated', before, lead }) as const)
    await writeOutcomes(work, before, outcomes)
    const undone = toHide.length + changes.filter(({ lead }) => !notReverted.has(lead.id)).length
    await advance(tx, { undone, kept: touched.length - undone })
  })
}

const isUntouched = ({ left_at }: ItemRow, { updatedAt }: Lead): boolean => left_at?.getTime() === updatedAt.getTime()

/** Returns the changes to write, and the leads of which some or all fields are not reverted. */
async function planRevert(
  tx: Tx,
  { keyring, user, row }: BulkBatch,
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

/** Restores the deleted leads of a batch; leads that were restored or deleted again since are kept as they are. */
export async function undoDeletion({ deps, user, items, advance }: BulkBatch): Promise<void> {
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
export async function labelBatch(batch: BulkBatch): Promise<void> {
  const { deps, keyring, user, row, ids } = batch
  const { workspaceId } = user
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
    await writeLabels({ tx, keyring, user, now }, changes, 'labels')
    await deps.sequences?.labelsAdded(tx, workspaceId, changes, user.actor, now)
    await recordBatch(tx, batch, items)
  })
}

/** Starts a sequence for a batch of leads; those that are in it stay, and the others fail alone. */
export async function sequenceBatch(batch: BulkBatch): Promise<void> {
  const { deps, user, row, ids } = batch
  const { workspaceId, actor } = user
  const start = { sequenceId: row.changes?.sequenceId ?? '', leadIds: ids, entry: 'bulk', actor } as const
  await deps.db.tx(async (tx) => {
    const done = await startOrRefuse(deps, tx, workspaceId, { ...start, bulkChangeId: row.id })
    const items = ids.map((leadId): BulkItem => {
      const outcome = done.started.includes(leadId) ? 'changed' : done.running.includes(leadId) ? 'unchanged' : 'failed'
      return { leadId, outcome, before: null, leftAt: null }
    })
    await recordBatch(tx, batch, items)
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
export async function undoSequence({ deps, user, row, items, advance }: BulkBatch): Promise<void> {
  const leadIds = items.flatMap(({ lead_id: leadId, outcome }) => (outcome === 'changed' ? [leadId] : []))
  await deps.db.tx(async (tx) => {
    const undone = (await deps.sequences?.undo(tx, user.workspaceId, row.id, leadIds, deps.clock.now())) ?? 0
    await advance(tx, { undone, kept: leadIds.length - undone })
  })
}

/** Reverts the label changes of a batch, as far as they still apply. */
export async function undoLabels({ deps, keyring, user, row, items, advance }: BulkBatch): Promise<void> {
  const { workspaceId } = user
  const recordedChanges = items.flatMap(({ lead_id: leadId, outcome, before }): LabelChange[] => {
    if (outcome !== 'changed' || before === null) return []
    const { labels } = decryptFormerValues(keyring, row.id, leadId, before) as Partial<FormerLabels>
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
    await writeLabels({ tx, keyring, user, now: deps.clock.now() }, changes, 'labels')
    const undone = reversals.filter(({ isComplete }) => isComplete).length
    await advance(tx, { undone, kept: recordedChanges.length - undone })
  })
}
