import type { Tx } from '../../base/db.ts'
import type { ApiError } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { recordEvents } from '../../events/record.ts'
import { leadNotFound, takenField, valueTaken } from '../lead/errors.ts'
import { leadRestored } from '../lead/events.ts'
import type { Lead, LeadDeps, LeadUser } from '../lead/lead.ts'
import { anyWorkspace, leadColumns, liveLeadsNamed } from '../lead/queries.ts'
import { type LeadRow, openLead } from '../lead/sealed.ts'

export const restorableDays = 30
export const restorableMs = restorableDays * 86_400_000

const maxAttempts = 4

/** Brings a deleted lead back for 30 days. 409 with the field when its externalRef or uniqueCode was taken meanwhile. */
export async function restoreLead(deps: LeadDeps, user: LeadUser, id: string): Promise<Lead> {
  const [outcome] = isUuid(id) ? await restoreLeads(deps, user, [id.toLowerCase()]) : []
  if (outcome === undefined) throw leadNotFound()
  if ('error' in outcome) throw outcome.error
  return outcome.lead
}

export interface RestoreOptions {
  /** Of those that are deleted, which are not to stay so. */
  mayRestore?: (deleted: Lead) => boolean
  /** What else belongs into the transaction. */
  alongside?: (tx: Tx, restored: Restored[]) => Promise<void>
}

export type Restored = { id: string; lead: Lead } | { id: string; error: ApiError }

/** Brings deleted leads back in one transaction, each unless it is gone or one of its names is taken. */
export async function restoreLeads(
  deps: LeadDeps,
  user: LeadUser,
  ids: readonly string[],
  { mayRestore = () => true, alongside }: RestoreOptions = {},
): Promise<Restored[]> {
  const keyring = await deps.vault.keyring(user.workspaceId)
  for (let attempt = 1; ; attempt++) {
    try {
      return await deps.db.tx(async (tx) => {
        const restored = await restoreIn(tx, keyring, user.workspaceId, ids, deps.clock.now(), mayRestore)
        await alongside?.(tx, restored)
        return restored
      })
    } catch (error) {
      // Another writer took a name after we looked. Looking again shows it.
      const taken = takenField(error)
      if (taken === null) throw error
      if (attempt === maxAttempts) throw valueTaken(taken, error)
    }
  }
}

/** The same within a transaction. */
export async function restoreIn(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  ids: readonly string[],
  now: Date,
  mayRestore: (deleted: Lead) => boolean,
): Promise<Restored[]> {
  const rows = await lockDeleted(tx, workspaceId, ids, now)
  const opened = rows.map((row) => openLead(keyring, row)).filter(mayRestore)
  const deleted = new Map(opened.map((lead) => [lead.id, lead]))
  const taken = await takenNames(tx, workspaceId, [...deleted.values()])
  const outcomes = ids.map((id): Restored => {
    const lead = deleted.get(id)
    if (lead === undefined) return { id, error: leadNotFound() }
    const { externalRef, uniqueCode } = lead
    if (externalRef !== null && taken.externalRefs.has(externalRef)) return { id, error: valueTaken('externalRef') }
    if (taken.uniqueCodes.has(uniqueCode)) return { id, error: valueTaken('uniqueCode') }
    if (externalRef !== null) taken.externalRefs.add(externalRef)
    taken.uniqueCodes.add(uniqueCode)
    return { id, lead: { ...lead, deletedAt: null, updatedAt: now } }
  })
  const leads = outcomes.flatMap((outcome) => ('lead' in outcome ? [outcome.lead] : []))
  await show(tx, keyring, workspaceId, leads, now)
  return outcomes
}

async function show(tx: Tx, keyring: Keyring, workspaceId: string, leads: readonly Lead[], now: Date): Promise<void> {
  if (leads.length === 0) return
  await Promise.all([
    tx`
      update leads
      set deleted_at = null,
        updated_at = ${now}
      where workspace_id = ${anyWorkspace(tx, workspaceId)}
        and id = any (${leads.map(({ id }) => id)}::uuid[])`.execute(),
    recordEvents(tx, keyring, workspaceId, leads.map(leadRestored), now),
  ])
}

async function lockDeleted(tx: Tx, workspaceId: string, ids: readonly string[], now: Date): Promise<LeadRow[]> {
  return tx<LeadRow[]>`
    select ${leadColumns(tx)}
    from leads l
    where l.workspace_id = ${workspaceId}
      and l.id = any (${[...ids]}::uuid[])
      and l.deleted_at > ${new Date(now.getTime() - restorableMs)}
      and l.purged_at is null
    order by l.id
    for no key update`
}

/** The names of these leads that live ones have by now. */
export async function takenNames(tx: Tx, workspaceId: string, leads: readonly Lead[]) {
  const uniqueCodes = leads.map(({ uniqueCode }) => uniqueCode)
  const externalRefs = leads.flatMap(({ externalRef }) => externalRef ?? [])
  const [codes, refs] = await Promise.all([
    tx<{ name: string }[]>`
      select n.name from ${liveLeadsNamed(tx, workspaceId, 'unique_code', tx`${uniqueCodes}::text[]`)}`,
    tx<{ name: string }[]>`
      select n.name from ${liveLeadsNamed(tx, workspaceId, 'external_ref', tx`${externalRefs}::text[]`)}`,
  ])
  const names = (rows: { name: string }[]) => new Set(rows.map(({ name }) => name))
  return { uniqueCodes: names(codes), externalRefs: names(refs) }
}
