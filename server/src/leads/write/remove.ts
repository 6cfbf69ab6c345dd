import { commitBehind, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { recordEvents } from '../../events/record.ts'
import { recordAudit } from '../../team/audit.ts'
import { personOf } from '../../workspace/actor.ts'
import { leadNotFound } from '../lead/errors.ts'
import { leadDeleted } from '../lead/events.ts'
import { guessing } from '../lead/guessing.ts'
import { findLead } from '../lead/identify.ts'
import type { Lead, LeadDeps, LeadUser } from '../lead/lead.ts'
import { anyWorkspace, isLive, leadColumns, lockLead } from '../lead/queries.ts'
import { type LeadRow, openLead } from '../lead/sealed.ts'

/** Hides the lead from every read and frees its names; it can be restored for 30 days. */
export async function removeLead(deps: LeadDeps, user: LeadUser, identifier: string): Promise<void> {
  const keyring = await deps.vault.keyring(user.workspaceId)
  const remove = () =>
    deps.db.tx(async (tx) => {
      const { id } = await findLead(tx, keyring, user, identifier)
      const row = await lockLead(tx, user.workspaceId, id)
      if (row === undefined) throw leadNotFound()
      const now = deps.clock.now()
      const lead = openLead(keyring, row)
      await commitBehind(tx, () => Promise.all([hide(tx, keyring, user, [lead], now), note(tx, user, now)]))
    })
  await guessing(user, { identifier }, remove)
}

/** The audit log tells who deletes; not whom, since it outlasts an erasure. Of keys, the feed tells. */
async function note(tx: Tx, user: LeadUser, now: Date): Promise<void> {
  const actor = personOf(user.actor)
  if (actor === null) return
  await recordAudit(tx, { scopeId: user.workspaceId, actor, action: 'lead.deleted', target: null }, now)
}

/**
 * Removes those of the leads that are there, in one transaction; returns their ids. `alongside` is what else belongs into
 * it.
 */
export async function removeLeads(
  deps: LeadDeps,
  user: LeadUser,
  ids: readonly string[],
  alongside: (tx: Tx, removed: ReadonlySet<string>, deletedAt: Date) => Promise<void>,
): Promise<Set<string>> {
  const keyring = await deps.vault.keyring(user.workspaceId)
  return deps.db.tx(async (tx) => {
    const now = deps.clock.now()
    const rows = await lockLive(tx, user.workspaceId, ids)
    const leads = rows.map((row) => openLead(keyring, row))
    await hide(tx, keyring, user, leads, now)
    const removed = new Set(leads.map(({ id }) => id))
    await alongside(tx, removed, now)
    return removed
  })
}

/** Hides leads that are locked. */
export async function hide(
  tx: Tx,
  keyring: Keyring,
  user: LeadUser,
  leads: readonly Lead[],
  deletedAt: Date,
): Promise<void> {
  if (leads.length === 0) return
  const { workspaceId } = user
  const ids = leads.map(({ id }) => id)
  const events = leads.map((lead) => leadDeleted({ ...lead, deletedAt }, user))
  await Promise.all([
    tx`
      update leads
      set deleted_at = ${deletedAt}
      where workspace_id = ${anyWorkspace(tx, workspaceId)}
        and id = any (${ids}::uuid[])`.execute(),
    tx`
      delete from lead_search
      where workspace_id = ${workspaceId}
        and lead_id = any (${ids}::uuid[])`.execute(),
    recordEvents(tx, keyring, workspaceId, events, deletedAt),
  ])
}

/** The live ones of the leads, locked. */
export async function lockLive(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<LeadRow[]> {
  const rows = await tx<LeadRow[]>`
    select ${leadColumns(tx)}
    from leads l
    where l.workspace_id = ${workspaceId}
      and l.id = any ((select ${[...ids]}::uuid[])::uuid[])
    order by l.id
    for no key update`
  return rows.filter(isLive)
}
