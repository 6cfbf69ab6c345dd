import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import type { ApiError } from '../../base/errors.ts'
import { isUuid } from '../../base/id.ts'
import { recordEvents } from '../../events/record.ts'
import { findNonMembers } from '../../workspaces/workspace.ts'
import { decryptLead, type LeadRow } from '../lead/encrypted-lead.ts'
import { leadRestored } from '../lead/events.ts'
import { type Lead, type LeadDeps, type LeadTx, type LeadUser, leadNotFound, valueTaken } from '../lead/lead.ts'
import { hiddenWorkspaceId, leadColumns, liveLeadsByName } from '../lead/queries.ts'
import { retryWhileTaken } from '../lead/write.ts'

const restorableDays = 30
export const restorableMs = restorableDays * 86_400_000

/** Restores a lead deleted within 30 days. Throws 404, or 409 if its externalRef or uniqueCode has been taken since. */
export async function restoreLead(deps: LeadDeps, user: LeadUser, id: string): Promise<Lead> {
  const [outcome] = isUuid(id) ? await restoreLeads(deps, user, [id.toLowerCase()]) : []
  if (outcome === undefined) throw leadNotFound()
  if ('error' in outcome) throw outcome.error
  return outcome.lead
}

export interface RestoreOptions {
  /** Selects the deleted leads to restore. */
  mayRestore?: (deleted: Lead) => boolean
  /** Further work in the same transaction. */
  inTransaction?: (tx: Tx, restored: RestoreOutcome[]) => Promise<void>
}

export type RestoreOutcome = { id: string; lead: Lead } | { id: string; error: ApiError }

/** Restores deleted leads in one transaction. A lead that does not exist or whose name is taken fails alone. */
export async function restoreLeads(
  deps: LeadDeps,
  user: LeadUser,
  ids: readonly string[],
  { mayRestore = () => true, inTransaction }: RestoreOptions = {},
): Promise<RestoreOutcome[]> {
  const keyring = await deps.keyStore.keyring(user.workspaceId)
  return retryWhileTaken(() =>
    deps.db.tx(async (tx) => {
      const restored = await restoreInTransaction({ tx, keyring, user, now: deps.clock.now() }, ids, mayRestore)
      await inTransaction?.(tx, restored)
      return restored
    }),
  )
}

/** Restores deleted leads within the caller's transaction. */
export async function restoreInTransaction(
  work: LeadTx,
  ids: readonly string[],
  mayRestore: (deleted: Lead) => boolean,
): Promise<RestoreOutcome[]> {
  const { tx, keyring, user, now } = work
  const { workspaceId } = user
  const rows = await lockDeleted(tx, workspaceId, ids, now)
  const candidates = rows.map((row) => decryptLead(keyring, row)).filter(mayRestore)
  const deleted = new Map(candidates.map((lead) => [lead.id, lead]))
  const taken = await takenNames(tx, workspaceId, [...deleted.values()])
  const outcomes = ids.map((id): RestoreOutcome => {
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
  await markRestored(work, leads)
  return outcomes
}

async function markRestored({ tx, keyring, user, now }: LeadTx, leads: readonly Lead[]): Promise<void> {
  if (leads.length === 0) return
  const { workspaceId } = user
  const events = leads.map((lead) => leadRestored(lead, user))
  await Promise.all([
    tx`
      update leads
      set deleted_at = null,
        updated_at = ${now}
      where workspace_id = ${hiddenWorkspaceId(tx, workspaceId)}
        and id = any (${leads.map(({ id }) => id)}::uuid[])`.execute(),
    recordEvents(tx, keyring, workspaceId, events, now),
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

/** Returns the fields that cannot get their former value: a name taken by another lead, or an assignee who left. */
export async function unrestorableFields(
  tx: Tx,
  workspaceId: string,
  changes: readonly LeadTransition[],
): Promise<(change: LeadTransition) => ('uniqueCode' | 'externalRef' | 'assignedTo')[]> {
  const newValues = (field: 'uniqueCode' | 'externalRef' | 'assignedTo', { before, lead }: LeadTransition): string[] =>
    lead[field] === before[field] ? [] : [lead[field] ?? []].flat()
  const assignees = new Set(changes.flatMap((change) => newValues('assignedTo', change)))
  const formerMembers = new Set(await findNonMembers(tx, workspaceId, [...assignees]))
  const renamed = changes.flatMap((one) =>
    newValues('uniqueCode', one).length + newValues('externalRef', one).length > 0 ? [one.lead] : [],
  )
  const taken = await takenNames(tx, workspaceId, renamed)
  const unrestorable = { uniqueCode: taken.uniqueCodes, externalRef: taken.externalRefs, assignedTo: formerMembers }
  const fields = ['uniqueCode', 'externalRef', 'assignedTo'] as const
  return (change) => fields.filter((field) => newValues(field, change).some((value) => unrestorable[field].has(value)))
}

/** Lead before and after a change. */
interface LeadTransition {
  before: Lead
  lead: Lead
}

/** Returns the names of these leads that live leads have now. */
async function takenNames(tx: Tx, workspaceId: string, leads: readonly Lead[]) {
  if (leads.length === 0) return { uniqueCodes: new Set<string>(), externalRefs: new Set<string>() }
  const uniqueCodes = leads.map(({ uniqueCode }) => uniqueCode)
  const externalRefs = leads.flatMap(({ externalRef }) => externalRef ?? [])
  const [codes, refs] = await Promise.all([
    tx<{ name: string }[]>`
      select n.name from ${liveLeadsByName(tx, workspaceId, 'unique_code', tx`${uniqueCodes}::text[]`)}`,
    tx<{ name: string }[]>`
      select n.name from ${liveLeadsByName(tx, workspaceId, 'external_ref', tx`${externalRefs}::text[]`)}`,
  ])
  const names = (rows: { name: string }[]) => new Set(rows.map(({ name }) => name))
  return { uniqueCodes: names(codes), externalRefs: names(refs) }
}

const batchSize = 200

/**
 * Destroys the personal data of leads deleted more than 30 days ago, including their events; bare rows stay for
 * statistics. Several workers can run it: each locks other rows. Returns the number of purged leads.
 */
export async function purgeDeletedLeads(db: Db, clock: Clock): Promise<number> {
  let purged = 0
  for (;;) {
    const now = clock.now()
    const before = new Date(now.getTime() - restorableMs)
    const expired = await db.sql<{ workspace_id: string }[]>`
      select workspace_id
      from leads
      where deleted_at <= ${before}
        and purged_at is null
      order by deleted_at
      limit ${batchSize}`
    let count = 0
    for (const workspaceId of new Set(expired.map((row) => row.workspace_id))) {
      count += await db.tx((tx) => purgeBatch(tx, workspaceId, before, now))
    }
    purged += count
    // The remaining leads are locked by other workers.
    if (expired.length < batchSize || count === 0) return purged
  }
}

async function purgeBatch(tx: Tx, workspaceId: string, before: Date, now: Date): Promise<number> {
  const rows = await tx<{ id: string }[]>`
    select id
    from leads
    where workspace_id = ${workspaceId}
      and deleted_at <= ${before}
      and purged_at is null
    order by deleted_at
    limit ${batchSize}
    for no key update skip locked`
  if (rows.length === 0) return 0
  const ids = rows.map((row) => row.id)
  await tx`
    update leads
    set person = '',
      notes = null,
      custom_fields = null,
      email_index = null,
      phone_index = null,
      external_ref = null,
      unique_code = id::text,
      purged_at = ${now}
    where workspace_id = ${workspaceId}
      and id = any (${ids}::uuid[])`
  // Search tokens too: the deletion event that would remove them is deleted as well.
  for (const table of [
    'lead_contacts',
    'lead_search',
    'lead_labels',
    'lead_notes',
    'tasks',
    'sequence_runs',
    'lead_attributions',
    'lead_source_requests',
  ]) {
    await tx`
      delete from ${tx(table)}
      where workspace_id = ${workspaceId}
        and lead_id = any (${ids}::uuid[])`
  }
  await tx`
    delete from events
    where workspace_id = ${workspaceId}
      and subject_id = any (${ids}::uuid[])`
  return rows.length
}
