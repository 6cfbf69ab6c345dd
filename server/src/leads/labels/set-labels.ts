import { announceLeadLabels } from '../../team/team-news.ts'
import { leadNotFound } from '../lead/errors.ts'
import { findLead } from '../lead/identify.ts'
import type { LeadDeps, LeadUser } from '../lead/lead.ts'
import { lockLead } from '../lead/queries.ts'
import { changesNothing, changeTo } from './label-rules.ts'
import { readLabels, writeLabels } from './lead-labels.ts'

/**
 * Gives a lead exactly these labels; what it has already is no change. Labels are the team's own: no event tells of them,
 * and the lead's time of change stays. 400 for one that the workspace does not have.
 */
export async function setLabels(
  deps: LeadDeps,
  user: LeadUser,
  identifier: string,
  labelIds: readonly string[],
): Promise<string[]> {
  const { workspaceId, actor } = user
  const wanted = [...new Set(labelIds)]
  const keyring = await deps.vault.keyring(workspaceId)
  await deps.db.tx(async (tx) => {
    const { id } = await findLead(tx, keyring, user, identifier)
    if ((await lockLead(tx, workspaceId, id)) === undefined) throw leadNotFound()
    const has = (await readLabels(tx, workspaceId, [id])).get(id) ?? []
    const change = changeTo(id, has, wanted)
    if (changesNothing(change)) return
    await writeLabels(tx, workspaceId, actor, [change], deps.clock.now(), 'labelIds')
    announceLeadLabels(tx, workspaceId, id)
  })
  return wanted
}
