import { commitBehind } from '../../base/db.ts'
import { InvalidInput, type Issue } from '../../base/errors.ts'
import { recordEvents } from '../../events/record.ts'
import { findNonMembers } from '../../workspace/workspace.ts'
import { applyPatch } from '../lead/change.ts'
import { assigneeIssue, leadNotFound, takenField, valueTaken } from '../lead/errors.ts'
import { leadUpdated } from '../lead/events.ts'
import { guessing, isWrongGuess } from '../lead/guessing.ts'
import { recordStatusChanges } from '../lead/history.ts'
import { findLead } from '../lead/identify.ts'
import type { LeadPatch } from '../lead/input.ts'
import type { Lead, LeadDeps, LeadUser } from '../lead/lead.ts'
import { lockLead } from '../lead/queries.ts'
import { openLead } from '../lead/sealed.ts'
import { updateLeads } from '../lead/write.ts'

export interface Updated {
  lead: Lead
  before: Lead
  changed: boolean
}

/** Sets the fields of a patch on the lead as it stands under lock; the same object back means no change. */
export async function updateLead(
  deps: LeadDeps,
  user: LeadUser,
  identifier: string,
  read: { patch: LeadPatch; issues: Issue[] },
): Promise<Updated> {
  const { patch } = read
  return guessing(user, { identifier, patch }, async (budget) => {
    const updated = await update(deps, user, identifier, read)
    if (isWrongGuess(patch, updated.before, updated.lead)) budget.note()
    return updated
  })
}

async function update(
  deps: LeadDeps,
  user: LeadUser,
  identifier: string,
  { patch, issues }: { patch: LeadPatch; issues: Issue[] },
): Promise<Updated> {
  const keyring = await deps.vault.keyring(user.workspaceId)
  const { workspaceId } = user
  try {
    return await deps.db.tx(async (tx) => {
      const { id } = await findLead(tx, keyring, user, identifier)
      const row = await lockLead(tx, workspaceId, id)
      if (row === undefined) throw leadNotFound()
      const before = openLead(keyring, row)
      const now = deps.clock.now()
      const { lead, changed, issues: found } = applyPatch(before, patch, '', now)
      if (issues.length + found.length > 0) throw new InvalidInput([...issues, ...found])
      if (!changed) return { lead, before, changed }
      if (lead.assignedTo !== null && lead.assignedTo !== before.assignedTo) {
        const nonMembers = await findNonMembers(tx, workspaceId, [lead.assignedTo])
        if (nonMembers.length > 0) throw new InvalidInput([assigneeIssue('')])
      }
      const moved = before.status === lead.status ? [] : [{ leadId: id, from: before.status, to: lead.status }]
      await commitBehind(tx, () =>
        Promise.all([
          updateLeads(tx, keyring, workspaceId, [lead]),
          recordStatusChanges(tx, workspaceId, user.actor, moved, now),
          recordEvents(tx, keyring, workspaceId, [leadUpdated(lead, before, user)], now),
        ]),
      )
      return { lead, before, changed }
    })
  } catch (error) {
    const taken = takenField(error)
    throw taken === null ? error : valueTaken(taken, error)
  }
}
