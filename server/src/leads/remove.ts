import { recordEvents } from '../events/record.ts'
import { leadNotFound } from './errors.ts'
import { leadDeleted } from './events.ts'
import { findLead } from './identify.ts'
import type { LeadDeps, LeadUser } from './lead.ts'
import { lockLead } from './queries.ts'
import { openLead } from './sealed.ts'

/** Hides the lead from every read and frees its names; it can be restored for 30 days. */
export async function removeLead(deps: LeadDeps, user: LeadUser, identifier: string): Promise<void> {
  const keyring = await deps.vault.keyring(user.workspaceId)
  await deps.db.tx(async (tx) => {
    const { id } = await findLead(tx, keyring, user, identifier)
    const row = await lockLead(tx, user.workspaceId, id)
    if (row === undefined) throw leadNotFound()
    const now = deps.clock.now()
    const lead = { ...openLead(keyring, row), deletedAt: now }
    await Promise.all([
      tx`
        update leads
        set deleted_at = ${now}
        where workspace_id = ${user.workspaceId}
          and id = ${id}`.execute(),
      tx`
        delete from lead_search
        where workspace_id = ${user.workspaceId}
          and lead_id = ${id}`.execute(),
      recordEvents(tx, keyring, user.workspaceId, [leadDeleted(lead)], now),
    ])
  })
}
