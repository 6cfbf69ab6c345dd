import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { findLabels } from '../../workspaces/labels.ts'
import type { LabelChange, LabelWish } from '../labels/lead-labels.ts'
import { changeBack, changesNothing, readLabels, wishedChange, writeLabels } from '../labels/lead-labels.ts'
import { openLead } from '../lead/encrypted-lead.ts'
import type { Lead, LeadDeps, LeadUser } from '../lead/lead.ts'
import { lockLive } from '../lead/queries.ts'
import { impossibleFields, restoreLeads } from '../write/restore.ts'
import { hide } from '../write/update.ts'
import { writeOutcomes } from '../write/upsert.ts'
import type { Advance, BulkChangeRow } from './bulk-changes.ts'
import { type BulkItem, type FormerValues, type ItemRow, openBefore, openFormerValues, putItems } from './items.ts'

/** Reverts a batch of leads; leads changed since are left as they are and counted as kept. */
export async function undoBatch(
  deps: LeadDeps,
  user: LeadUser,
  row: BulkChangeRow,
  items: readonly ItemRow[],
  advance: Advance,
): Promise<void> {
  if (row.kind === 'delete') return undoDeletion(deps, user, items, advance)
  const keyring = await deps.keyStore.keyring(user.workspaceId)
  await deps.db.tx(async (tx) => {
    const touched = items.filter(({ outcome }) => outcome === 'created' || outcome === 'changed')
    const leads = await lockThem(tx, keyring, user, touched)
    const now = deps.clock.now()
    const toHide = touched.flatMap((item) => {
      const lead = leads.get(item.lead_id)
      return item.outcome === 'created' && lead !== undefined && isAsLeft(item, lead) ? [lead] : []
    })
    const { changes, left } = await plan(tx, keyring, user, row, touched, leads, now)
    await hide(tx, keyring, user, toHide, now)
    const before = changes.map((change) => change.before)
    const outcomes = changes.map(({ before, lead }) => ({ action: 'updated', before, lead }) as const)
    await writeOutcomes(tx, now, keyring, user, before, outcomes)
    const undone = toHide.length + changes.filter(({ lead }) => !left.has(lead.id)).length
    await advance(tx, { undone, kept: touched.length - undone })
  })
}

const isAsLeft = ({ left_at }: ItemRow, { updatedAt }: Lead): boolean => left_at?.getTime() === updatedAt.getTime()

async function lockThem(tx: Tx, keyring: Keyring, user: LeadUser, items: readonly ItemRow[]) {
  const rows = await lockLive(
    tx,
    user.workspaceId,
    items.map(({ lead_id }) => lead_id),
  )
  return new Map(rows.map((one) => [one.id, openLead(keyring, one)]))
}

/** Returns the changes to write, and the leads of which some or all fields are not reverted. */
async function plan(
  tx: Tx,
  keyring: Keyring,
  user: LeadUser,
  row: BulkChangeRow,
  touched: readonly ItemRow[],
  leads: ReadonlyMap<string, Lead>,
  now: Date,
) {
  const left = new Set<string>()
  const wanted = touched.flatMap((item) => {
    const lead = leads.get(item.lead_id)
    if (item.outcome !== 'changed' || item.before === null || lead === undefined) return []
    const former = openFormerValues(keyring, row.id, lead.id, item.before)
    const mine = row.kind === 'import' ? (isAsLeft(item, lead) ? former : {}) : stillSet(row, lead, former)
    if (Object.keys(mine).length < Object.keys(former).length) left.add(lead.id)
    if (Object.keys(mine).length === 0) return []
    const updatedAt = new Date(Math.max(now.getTime(), lead.updatedAt.getTime()))
    return [{ before: lead, lead: { ...lead, ...mine, updatedAt } }]
  })
  const impossible = await impossibleFields(tx, user.workspaceId, wanted)
  return { changes: wanted.filter((change) => impossible(change).length === 0), left }
}

/** Returns former values of the fields that still have the value the change set. */
function stillSet({ changes }: BulkChangeRow, lead: Lead, former: FormerValues): FormerValues {
  const set: Record<string, unknown> = { ...changes }
  const mine = Object.entries(former).filter(([name]) => lead[name as keyof Lead] === set[name])
  return Object.fromEntries(mine)
}

async function undoDeletion(
  deps: LeadDeps,
  user: LeadUser,
  items: readonly ItemRow[],
  advance: Advance,
): Promise<void> {
  const deletedAt = new Map(
    items.flatMap(({ lead_id, outcome, left_at }) =>
      outcome === 'deleted' && left_at !== null ? [[lead_id, left_at.getTime()]] : [],
    ),
  )
  await restoreLeads(deps, user, [...deletedAt.keys()], {
    mayRestore: (lead) => deletedAt.get(lead.id) === lead.deletedAt?.getTime(),
    alongside: async (tx, restored) => {
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
  advance: Advance,
): Promise<void> {
  const { workspaceId } = user
  const keyring = await deps.keyStore.keyring(workspaceId)
  const { addLabelIds: wished = [], removeLabelIds: remove = [] } = row.changes ?? {}
  await deps.db.tx(async (tx) => {
    const live = new Set((await lockLive(tx, workspaceId, ids)).map(({ id }) => id))
    const known = await findLabels(tx, workspaceId, wished)
    // Labels deleted since are not added.
    const wish: LabelWish = { add: wished.filter((id) => known.has(id)), remove }
    const labels = await readLabels(tx, workspaceId, [...live])
    const items = ids.map((leadId): BulkItem => {
      const change = live.has(leadId) ? wishedChange(leadId, labels.get(leadId) ?? [], wish) : null
      if (change === null) return { leadId, outcome: 'failed', before: null, leftAt: null }
      if (changesNothing(change)) return { leadId, outcome: 'unchanged', before: null, leftAt: null }
      const { added, removed } = change
      return { leadId, outcome: 'changed', before: { labels: { added, removed } }, leftAt: null }
    })
    const changes = items.flatMap(({ leadId, before }) =>
      before !== null && 'labels' in before ? [{ leadId, ...before.labels }] : [],
    )
    await writeLabels(tx, workspaceId, user.actor, changes, deps.clock.now(), 'labels')
    await putItems(tx, keyring, workspaceId, row.id, items)
    const count = (is: BulkItem['outcome']) => items.filter(({ outcome }) => outcome === is).length
    await advance(tx, { changed: count('changed'), unchanged: count('unchanged'), failed: count('failed') })
  })
}

/** Reverts the label changes of a batch, as far as they still apply. */
export async function undoLabels(
  deps: LeadDeps,
  user: LeadUser,
  row: BulkChangeRow,
  items: readonly ItemRow[],
  advance: Advance,
): Promise<void> {
  const { workspaceId } = user
  const keyring = await deps.keyStore.keyring(workspaceId)
  const given = items.flatMap(({ lead_id: leadId, outcome, before }): LabelChange[] => {
    if (outcome !== 'changed' || before === null) return []
    const { labels } = openBefore(keyring, row.id, leadId, before)
    return labels === undefined ? [] : [{ leadId, ...labels }]
  })
  await deps.db.tx(async (tx) => {
    const ids = given.map(({ leadId }) => leadId)
    const live = new Set((await lockLive(tx, workspaceId, ids)).map(({ id }) => id))
    const known = await findLabels(tx, workspaceId, [...new Set(given.flatMap(({ removed }) => removed))])
    const labels = await readLabels(tx, workspaceId, [...live])
    const backs = given.flatMap((one) =>
      live.has(one.leadId) ? [changeBack(one, labels.get(one.leadId) ?? [], known)] : [],
    )
    const changes = backs.map(({ change }) => change).filter((change) => !changesNothing(change))
    await writeLabels(tx, workspaceId, user.actor, changes, deps.clock.now(), 'labels')
    const undone = backs.filter(({ isWhole }) => isWhole).length
    await advance(tx, { undone, kept: given.length - undone })
  })
}
