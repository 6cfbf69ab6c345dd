import type { Tx } from '../../base/db.ts'
import { invalid } from '../../base/errors.ts'
import { announceLeadLabels } from '../../team/team-news.ts'
import { findLabels } from '../../workspace/labels.ts'
import { changeBack, changesNothing, wishedChange } from '../labels/label-rules.ts'
import { type LabelChange, maxLabels, readLabels, writeLabels } from '../labels/lead-labels.ts'
import type { LeadUser } from '../lead/lead.ts'

/** Gives a lead the labels of another, which keeps them for the day that it comes back. Returns which are new to it. */
export async function uniteLabels(
  tx: Tx,
  user: LeadUser,
  { from, to }: { from: string; to: string },
  now: Date,
): Promise<string[]> {
  const { workspaceId } = user
  const labels = await readLabels(tx, workspaceId, [from, to])
  const known = await findLabels(tx, workspaceId, labels.get(from) ?? [])
  const change = wishedChange(to, labels.get(to) ?? [], { add: [...known], remove: [] })
  if (change === null) throw invalid('otherId', `must not bring the lead more than ${maxLabels} labels`)
  await write(tx, user, change, now)
  return [...change.added]
}

/** Takes labels off a lead that a merge gave it, as far as it still has them. */
export async function takeLabels(
  tx: Tx,
  user: LeadUser,
  leadId: string,
  added: readonly string[],
  now: Date,
): Promise<void> {
  if (added.length === 0) return
  const has = (await readLabels(tx, user.workspaceId, [leadId])).get(leadId) ?? []
  const { change } = changeBack({ leadId, added: [...added], removed: [] }, has, new Set())
  await write(tx, user, change, now)
}

async function write(tx: Tx, { workspaceId, actor }: LeadUser, change: LabelChange, now: Date): Promise<void> {
  if (changesNothing(change)) return
  await writeLabels(tx, workspaceId, actor, [change], now, 'otherId')
  announceLeadLabels(tx, workspaceId, change.leadId)
}
