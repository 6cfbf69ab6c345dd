import type { Tx } from '../base/db.ts'
import { isUuid } from '../base/id.ts'
import { recordEvents } from '../events/record.ts'
import { leadNotFound, takenField, valueTaken } from './errors.ts'
import { leadRestored } from './events.ts'
import type { Lead, LeadDeps, LeadUser } from './lead.ts'
import { leadColumns } from './queries.ts'
import { type LeadRow, openLead } from './sealed.ts'

export const restorableDays = 30
export const restorableMs = restorableDays * 86_400_000

/** Brings a deleted lead back for 30 days. 409 with the field when its externalRef or uniqueCode was taken meanwhile. */
export async function restoreLead(deps: LeadDeps, user: LeadUser, id: string): Promise<Lead> {
  const keyring = await deps.vault.keyring(user.workspaceId)
  const now = deps.clock.now()
  try {
    return await deps.db.tx(async (tx) => {
      const row = isUuid(id) ? await lockDeleted(tx, user.workspaceId, id, now) : undefined
      if (row === undefined) throw leadNotFound()
      const lead: Lead = { ...openLead(keyring, row), deletedAt: null, updatedAt: now }
      await Promise.all([
        tx`
          update leads
          set deleted_at = null,
            updated_at = ${now}
          where workspace_id = ${user.workspaceId}
            and id = ${id}`.execute(),
        recordEvents(tx, keyring, user.workspaceId, [leadRestored(lead)], now),
      ])
      return lead
    })
  } catch (error) {
    const taken = takenField(error)
    throw taken === null ? error : valueTaken(taken, error)
  }
}

async function lockDeleted(tx: Tx, workspaceId: string, id: string, now: Date): Promise<LeadRow | undefined> {
  const [row] = await tx<LeadRow[]>`
    select ${leadColumns(tx)}
    from leads l
    where l.workspace_id = ${workspaceId}
      and l.id = ${id}
      and l.deleted_at > ${new Date(now.getTime() - restorableMs)}
      and l.purged_at is null
    for no key update`
  return row
}
