import type { Tx } from '../../base/db.ts'
import { ApiError, conflict } from '../../base/errors.ts'
import { recordEvents } from '../../events/record.ts'
import type { FormerValues } from '../bulk/items.ts'
import { type CustomField, maxCustomFields } from '../lead/custom-fields.ts'
import { leadUpdated } from '../lead/events.ts'
import { recordStatusChanges } from '../lead/history.ts'
import { type Lead, type LeadTx, type LeadUser, leadFieldNames } from '../lead/lead.ts'
import { withFormerPhones } from '../lead/present.ts'
import { updateLeads } from '../lead/write.ts'
import { restoreInTransaction, unrestorableFields } from '../write/restore.ts'
import { lockWithPhones, type MergeResult, recordMergeAudit, retryWhileChanged } from './merge.ts'
import type { MergeDeps, MergeRow, MergeSnapshot } from './merge-records.ts'
import { decryptSnapshot, encryptSnapshot, readMerge, withoutSnapshot } from './merge-records.ts'
import { moveRows, removeContacts, removeLabels } from './move-rows.ts'

/**
 * Restores the merged lead with its history, submissions and conversations, and the former values of the kept lead.
 * Values changed since stay and are listed in the result. A repeated call returns the first result.
 */
export async function undoMerge(deps: MergeDeps, user: LeadUser, id: string): Promise<MergeResult> {
  const { workspaceId } = user
  const keyring = await deps.keyStore.keyring(workspaceId)
  return retryWhileChanged(deps.db, async (tx) => {
    const { kept_id: keptId, merged_id: mergedId } = await readMerge(tx, workspaceId, id)
    const leads = await lockWithPhones(tx, keyring, workspaceId, [keptId, mergedId])
    if (leads === null) return null
    const merge = await readMerge(tx, workspaceId, id, tx`for update`)
    const by = { ...user, partOf: `unmerge:${id}` }
    return undoInTransaction({ tx, keyring, user: by, now: deps.clock.now() }, merge, leads)
  })
}

async function undoInTransaction(work: LeadTx, merge: MergeRow, leads: readonly Lead[]): Promise<MergeResult> {
  const { tx, keyring, user, now } = work
  const { workspaceId } = user
  const { id } = merge
  const kept = leads.find((lead) => lead.id === merge.kept_id)
  if (kept === undefined || kept.deletedAt !== null) {
    throw conflict('The kept lead is deleted; restore it first, or undo the merge that deleted it')
  }
  if (merge.undone_at !== null) return { merge, lead: kept }
  if (merge.undo_until === null || merge.undo_until <= now || merge.former === null) {
    throw conflict('Undo expired after 30 days')
  }
  const former = decryptSnapshot(keyring, id, merge.former)
  const { lead, left } = await planKeptLead(work, merge, kept, former)
  await updateLeads(tx, keyring, workspaceId, [lead])
  await moveBack(tx, workspaceId, merge)
  await removeLabels(work, lead.id, former.labels ?? [])
  await rebaseLaterMerges(work, merge, former)
  const isRestored = await restoreOtherLead(work, merge, leads)
  await recordStatusChanges(work, [{ before: kept, lead }])
  await recordEvents(tx, keyring, workspaceId, [leadUpdated(lead, kept, user)], now)
  await tx`
    update lead_merges
    set ${withoutSnapshot(tx)},
      undone_at = ${now},
      undone_by_type = ${user.actor.type},
      undone_by_id = ${user.actor.id},
      left_fields = ${[...left, ...(isRestored ? [] : ['other'])]}::text[]
    where workspace_id = ${workspaceId}
      and id = ${id}`
  await recordMergeAudit(work, 'lead.merge_undone', id)
  return { merge: await readMerge(tx, workspaceId, id), lead }
}

/** Returns the kept lead after the undo. A name that another lead has now, or an assignee who left, is not restored. */
async function planKeptLead(work: LeadTx, merge: MergeRow, kept: Lead, former: MergeSnapshot) {
  const { fields, left } = planUndo(kept, former)
  const { contacts: _, ...own } = kept
  const updatedAt = new Date(Math.max(work.now.getTime(), kept.updatedAt.getTime()))
  const target: Lead = { ...own, ...fields, updatedAt }
  const change = { before: kept, lead: target }
  const unrestorable = (await unrestorableFields(work.tx, work.user.workspaceId, [change]))(change)
  const unchanged = Object.fromEntries(unrestorable.map((name) => [name, kept[name]]))
  const possible = { ...target, ...unchanged }
  const contacts = await removeContacts(work, merge.id, possible)
  const hasSeveral = contacts.phones.length + contacts.emails.length > 0
  return {
    lead: withFormerPhones({ ...possible, ...(hasSeveral && { contacts }) }, kept),
    left: [...left, ...unrestorable],
  }
}

/** Updates later merges into the lead, which recorded values that came from the undone merge. */
async function rebaseLaterMerges({ tx, keyring, user }: LeadTx, merge: MergeRow, undone: MergeSnapshot): Promise<void> {
  const { workspaceId } = user
  const later = await tx<{ id: string; former: Buffer }[]>`
    select id, former
    from lead_merges
    where workspace_id = ${workspaceId}
      and kept_id = ${merge.kept_id}
      and id > ${merge.id}
      and former is not null
    order by id
    for update`
  for (const { id, former } of later) {
    const rebased = withoutUndone(decryptSnapshot(keyring, id, former), undone)
    await tx`
      update lead_merges
      set former = ${encryptSnapshot(keyring, id, rebased)}
      where workspace_id = ${workspaceId}
        and id = ${id}`
  }
}

async function moveBack(tx: Tx, workspaceId: string, merge: MergeRow): Promise<void> {
  const back = (only: string[] | null) => ({ from: merge.kept_id, to: merge.merged_id, only: only ?? [] })
  await moveRows(tx, 'lead_status_changes', workspaceId, back(merge.moved_changes))
  await moveRows(tx, 'lead_notes', workspaceId, back(merge.moved_notes))
  await moveRows(tx, 'tasks', workspaceId, back(merge.moved_tasks))
  await moveRows(tx, 'form_submissions', workspaceId, back(merge.moved_submissions))
  await moveRows(tx, 'lead_contacts', workspaceId, back(merge.moved_contacts))
  await tx`
    delete from lead_bulk_items
    where workspace_id = ${workspaceId}
      and change_id = any (${merge.marked_imports ?? []}::uuid[])
      and lead_id = ${merge.kept_id}
      and before is null`
}

/** Restores the other lead. Returns false if it was restored and deleted again since the merge. */
async function restoreOtherLead(work: LeadTx, merge: MergeRow, leads: readonly Lead[]): Promise<boolean> {
  const other = leads.find(({ id }) => id === merge.merged_id)
  if (other !== undefined && other.deletedAt === null) return true
  const isDeletedByMerge = ({ deletedAt }: Lead) => deletedAt?.getTime() === merge.merged_at.getTime()
  const [outcome] = await restoreInTransaction(work, [merge.merged_id], isDeletedByMerge)
  if (outcome === undefined || 'lead' in outcome) return outcome !== undefined
  if (outcome.error instanceof ApiError && outcome.error.statusCode === 409) throw outcome.error
  return false
}

/** Returns the fields to restore, and the names of fields that stay because they were changed after the merge. */
function planUndo(lead: Lead, { before, after }: MergeSnapshot): { fields: Partial<Lead>; left: string[] } {
  const left: string[] = []
  const back = leadFieldNames.flatMap((name) => {
    if (!(name in before)) return []
    if (lead[name] === after[name]) return [[name, before[name]]]
    if (lead[name] !== before[name]) left.push(name)
    return []
  })
  const { customFields, kept } = restoreCustomFields(lead.customFields, before.customFields, after.customFields)
  return { fields: { ...Object.fromEntries(back), customFields }, left: [...left, ...kept] }
}

/**
 * Returns the record of a later merge into the same lead after an earlier merge is undone, without the values that came
 * from the earlier one: undoing the later merge must not bring them back.
 */
function withoutUndone(later: MergeSnapshot, undone: MergeSnapshot): MergeSnapshot {
  const revertedNames = leadFieldNames.filter(
    (name) => name in undone.before && later.before[name] === undone.after[name],
  )
  const former = revertedNames.flatMap((name) => (name in later.before ? [[name, undone.before[name]]] : []))
  return {
    ...later,
    before: { ...later.before, ...Object.fromEntries(former), ...revertCustomFields(later.before, undone) },
    after: { ...later.after, ...revertCustomFields(later.after, undone) },
  }
}

function revertCustomFields(
  { customFields }: FormerValues,
  { before, after }: MergeSnapshot,
): Pick<FormerValues, 'customFields'> {
  if (customFields === undefined || before.customFields === undefined || after.customFields === undefined) return {}
  const { customFields: fields } = restoreCustomFields(customFields, before.customFields, after.customFields)
  return { customFields: fields }
}

type Fields = readonly CustomField[]

function restoreCustomFields(now: Fields, before: Fields | undefined, after: Fields | undefined) {
  if (before === undefined || after === undefined) return { customFields: [...now], kept: [] }
  const fields = new Map(now.map((field) => [field.key, field]))
  const valueIn = (all: Fields, key: string) => JSON.stringify(all.find((field) => field.key === key) ?? null)
  const kept: string[] = []
  for (const key of new Set([...before, ...after].map((field) => field.key))) {
    const [old, set, present] = [before, after, now].map((all) => valueIn(all, key))
    if (old === set || present === old) continue
    const field = before.find((one) => one.key === key)
    if (present !== set) kept.push(`customFields.${key}`)
    else if (field === undefined) fields.delete(key)
    else if (fields.has(key) || fields.size < maxCustomFields) fields.set(key, field)
    else kept.push(`customFields.${key}`)
  }
  return { customFields: [...fields.values()], kept }
}
