import type { Db, Fragment, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { conflict, InvalidInput, invalid } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { recordEvents, recordOptInEvents } from '../../events/record.ts'
import { recordAudit } from '../../team/audit.ts'
import { auditedActorOf } from '../../workspaces/actor.ts'
import { findNonMembers } from '../../workspaces/workspace.ts'
import { formerValues } from '../bulk/items.ts'
import { decryptLead, type LeadRow } from '../lead/encrypted-lead.ts'
import { leadMerged, leadUpdated } from '../lead/events.ts'
import { findLead } from '../lead/find-lead.ts'
import { recordStatusChanges } from '../lead/history.ts'
import { assigneeIssue, type Lead, type LeadTx, type LeadUser, leadNotFound } from '../lead/lead.ts'
import { leadColumns } from '../lead/queries.ts'
import { toList } from '../lead/search-lines.ts'
import { updateLeads } from '../lead/write.ts'
import { markDeleted } from '../write/update.ts'
import { lockPhones } from '../write/upsert.ts'
import { encryptSnapshot, listMerges, type MergeDeps, type MergeRow, readMerge, undoMs } from './merge-records.ts'
import { addContacts, addLabelsFrom, moveRows } from './move-rows.ts'
import { type MergeChoices, planMerge } from './plan-merge.ts'

export interface MergeResult {
  merge: MergeRow
  lead: Lead
}

const maxAttempts = 4

/**
 * Merges another lead into this one in one transaction: the chosen field values, its history, notes, submissions,
 * labels and import records. The kept lead is then found by all phones and e-mails, also for conversations. The other
 * lead is deleted. A repeated call returns the existing merge.
 */
export async function mergeLeads(
  deps: MergeDeps,
  user: LeadUser,
  identifier: string,
  otherId: string,
  choices: MergeChoices,
): Promise<MergeResult> {
  const { workspaceId } = user
  const keyring = await deps.keyStore.keyring(workspaceId)
  return retryWhileChanged(deps.db, async (tx) => {
    const { id } = await findLead(tx, keyring, user, identifier)
    if (id === otherId) throw invalid('otherId', 'must be the id of another lead')
    const lockedLeads = await lockWithPhones(tx, keyring, workspaceId, [id, otherId])
    if (lockedLeads === null) return null
    const [kept, other] = [id, otherId].map((one) =>
      lockedLeads.find((lead) => lead.id === one && lead.deletedAt === null),
    )
    if (kept !== undefined && other !== undefined) {
      return mergeInTransaction({ tx, keyring, user, now: deps.clock.now() }, kept, other, choices)
    }
    const [activeMerge] = await listMerges(tx, workspaceId, id, otherId)
    if (kept === undefined || activeMerge === undefined) throw leadNotFound()
    return { merge: activeMerge, lead: kept }
  })
}

/** Repeats `work` in a new transaction while it returns null because a lead changed. Throws 409 after 4 tries. */
export async function retryWhileChanged<T>(db: Db, work: (tx: Tx) => Promise<T | null>): Promise<T> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const done = await db.tx(work)
    if (done !== null) return done
  }
  throw conflict('These leads are being changed; try again')
}

const contactPhones = ({ phone, contacts }: Lead): string[] => [...toList(phone), ...(contacts?.phones ?? [])]

/**
 * Locks the leads, deleted ones included, in order of their ids and returns them. Locks their phones first, as upserts
 * do, so that a waiting upsert looks for its lead after the merge. Returns null if a phone changed meanwhile.
 */
export async function lockWithPhones(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  ids: readonly string[],
): Promise<Lead[] | null> {
  const readLeads = async (lock: Fragment) => {
    const rows = await tx<LeadRow[]>`
      select ${leadColumns(tx)}
      from leads l
      where l.workspace_id = ${workspaceId}
        and l.id = any (${[...ids]}::uuid[])
        and l.purged_at is null
      order by l.id
      ${lock}`
    return rows.map((row) => decryptLead(keyring, row))
  }
  const phones = new Set((await readLeads(tx``)).flatMap(contactPhones))
  await lockPhones(tx, workspaceId, [...phones])
  const leads = await readLeads(tx`for no key update`)
  return leads.flatMap(contactPhones).every((phone) => phones.has(phone)) ? leads : null
}

async function mergeInTransaction(callerWork: LeadTx, kept: Lead, other: Lead, choices: MergeChoices) {
  const { tx, keyring, now } = callerWork
  const id = newId(now)
  const user = { ...callerWork.user, partOf: `merge:${id}` }
  const work = { tx, keyring, user, now }
  const { workspaceId } = user
  const lead = await planWithAssignee(work, kept, other, choices)
  // Deleted first, so that its names are free and receivers get this event first.
  await markDeleted(work, [other])
  await updateLeads(tx, keyring, workspaceId, [lead])
  const moved = await moveAll(tx, workspaceId, other.id, lead.id)
  await addContacts(work, id, lead)
  const labels = await addLabelsFrom(work, { from: other.id, to: lead.id })
  const name = [other.firstName, other.lastName].filter(Boolean).join(' ')
  const values = { before: formerValues(kept, lead), after: formerValues(lead, kept) }
  const former = encryptSnapshot(keyring, id, { ...values, name, labels })
  const insert = tx`
    insert into lead_merges (
      workspace_id, id, kept_id, merged_id, former, moved_changes, moved_notes, moved_submissions, moved_contacts, marked_imports,
      moved_tasks, changes_count, submissions_count, actor_type, actor_id, merged_at, undo_until
    )
    values (
      ${workspaceId}, ${id}, ${lead.id}, ${other.id}, ${former}, ${moved.changes}::uuid[], ${moved.notes}::uuid[], ${moved.submissions}::uuid[],
      ${moved.contacts}::uuid[], ${moved.imports}::uuid[], ${moved.tasks}::uuid[], ${moved.changes.length}, ${moved.submissions.length},
      ${user.actor.type}, ${user.actor.id}, ${now}, ${new Date(now.getTime() + undoMs)}
    )`
  const merged = leadMerged(lead, { mergedId: other.id, mergeId: id })
  await recordOptInEvents({ tx, keyring, workspaceId, now }, [merged], insert)
  await recordStatusChanges(work, [{ before: kept, lead }])
  await recordEvents(tx, keyring, workspaceId, [leadUpdated(lead, kept, user)], now)
  await recordMergeAudit(work, 'lead.merged', id)
  return { merge: await readMerge(tx, workspaceId, id), lead }
}

async function planWithAssignee({ tx, user, now }: LeadTx, kept: Lead, other: Lead, choices: MergeChoices) {
  const { lead, issues } = planMerge(kept, other, choices, now)
  if (issues.length > 0) throw new InvalidInput(issues)
  if (lead.assignedTo === null || lead.assignedTo === kept.assignedTo) return lead
  if ((await findNonMembers(tx, user.workspaceId, [lead.assignedTo])).length === 0) return lead
  if (choices.fields.assignedTo === 'other') throw new InvalidInput([assigneeIssue('fields')])
  return { ...lead, assignedTo: kept.assignedTo }
}

// Limits the ids that a merge must record for its undo.
const maxMoved = 10_000

async function moveAll(tx: Tx, workspaceId: string, from: string, to: string) {
  const move = { from, to, only: null }
  const changes = await moveRows(tx, 'lead_status_changes', workspaceId, move)
  const notes = await moveRows(tx, 'lead_notes', workspaceId, move)
  const tasks = await moveRows(tx, 'tasks', workspaceId, move)
  const submissions = await moveRows(tx, 'form_submissions', workspaceId, move)
  if (Math.max(changes.length, notes.length, tasks.length, submissions.length) > maxMoved) {
    throw conflict('The history of the other lead is too long to move; keep that lead, and merge this one into it')
  }
  const contacts = await moveRows(tx, 'lead_contacts', workspaceId, move)
  const imports = await tx<{ change_id: string }[]>`
    insert into lead_bulk_items (workspace_id, change_id, lead_id, outcome)
    select i.workspace_id, i.change_id, ${to}::uuid, 'unchanged'
    from lead_bulk_changes c
    join lead_bulk_items i on i.workspace_id = c.workspace_id and i.change_id = c.id and i.lead_id = ${from}
    where c.workspace_id = ${workspaceId}
      and c.kind = 'import'
      and i.outcome in ('created', 'changed', 'unchanged')
    on conflict do nothing
    returning change_id`
  return { changes, notes, tasks, submissions, contacts, imports: imports.map((row) => row.change_id) }
}

/** Records the author in the audit log, but not the leads: the log outlives an erasure. */
export async function recordMergeAudit({ tx, user, now }: LeadTx, action: string, id: string): Promise<void> {
  const actor = auditedActorOf(user.actor)
  if (actor !== null) await recordAudit(tx, { scopeId: user.workspaceId, actor, action, target: `merge:${id}` }, now)
}
