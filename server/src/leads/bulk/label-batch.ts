import type { Tx } from '../../base/db.ts'
import { findLabels } from '../../workspace/labels.ts'
import { changeBack, changesNothing, type LabelWish, wishedChange } from '../labels/label-rules.ts'
import { type LabelChange, readLabels, writeLabels } from '../labels/lead-labels.ts'
import type { LeadDeps, LeadUser } from '../lead/lead.ts'
import { lockLive } from '../write/remove.ts'
import type { BulkChangeRow, BulkProgress } from './bulk-changes.ts'
import { type BulkItem, type ItemRow, openBefore, putItems } from './items.ts'

type Advance = (tx: Tx, progress: Omit<BulkProgress, 'position'>) => Promise<void>

/** Gives a batch of leads labels and takes others off; one that would have more than 20 fails alone. */
export async function labelBatch(
  deps: LeadDeps,
  user: LeadUser,
  row: BulkChangeRow,
  ids: readonly string[],
  advance: Advance,
): Promise<void> {
  const { workspaceId } = user
  const keyring = await deps.vault.keyring(workspaceId)
  const { addLabelIds: wished = [], removeLabelIds: remove = [] } = row.changes ?? {}
  await deps.db.tx(async (tx) => {
    const live = new Set((await lockLive(tx, workspaceId, ids)).map(({ id }) => id))
    const known = await findLabels(tx, workspaceId, wished)
    // One that was deleted since is given to nobody.
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

/** Takes back what a batch got and lost, as far as it still stands. */
export async function undoLabels(
  deps: LeadDeps,
  user: LeadUser,
  row: BulkChangeRow,
  items: readonly ItemRow[],
  advance: Advance,
): Promise<void> {
  const { workspaceId } = user
  const keyring = await deps.vault.keyring(workspaceId)
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
