import type { Tx } from '../../base/db.ts'
import { conflict, InvalidInput, invalid } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { recordEvents } from '../../events/record.ts'
import { recordAudit } from '../../team/audit.ts'
import { personOf } from '../../workspace/actor.ts'
import { findNonMembers } from '../../workspace/workspace.ts'
import { formerValues } from '../bulk/items.ts'
import { assigneeIssue, leadNotFound } from '../lead/errors.ts'
import { leadUpdated } from '../lead/events.ts'
import { recordStatusChanges } from '../lead/history.ts'
import { findLead } from '../lead/identify.ts'
import type { Lead, LeadUser } from '../lead/lead.ts'
import { findLeadsByIds } from '../lead/queries.ts'
import { openLead } from '../lead/sealed.ts'
import { updateLeads } from '../lead/write.ts'
import { hide, lockLive } from '../write/remove.ts'
import { lockPhones } from '../write/upsert.ts'
import { addContacts, moveContacts } from './contacts.ts'
import { uniteLabels } from './labels.ts'
import { findStanding, type MergeDeps, type MergeRow, readMerge, sealFormer, undoMs } from './merges.ts'
import { moveRows } from './move-rows.ts'
import { listed, type MergeChoices, planMerge } from './plan-merge.ts'

export interface Merged {
  workspaceId: string
  merge: MergeRow
  lead: Lead
}

const maxAttempts = 4

/**
 * Merges another lead into the one that is named, in one transaction: it gets what was chosen of the other's fields, its
 * history, its notes, its submissions, its labels and the marks of its imports, and is found by its phones and e-mails, conversations
 * included. The other is deleted. A repeat returns the merge that stands.
 */
export async function mergeLeads(
  deps: MergeDeps,
  user: LeadUser,
  identifier: string,
  otherId: string,
  choices: MergeChoices,
): Promise<Merged> {
  const keyring = await deps.vault.keyring(user.workspaceId)
  for (let attempt = 1; ; attempt++) {
    const merged = await deps.db.tx(async (tx) => {
      const { id } = await findLead(tx, keyring, user, identifier)
      if (id === otherId) throw invalid('otherId', 'must be the id of another lead')
      const locked = await lockBoth(tx, keyring, user.workspaceId, [id, otherId])
      if (locked === 'changed') return null
      const [kept, other] = locked
      if (kept !== undefined && other !== undefined) return mergeIn(tx, deps, keyring, user, kept, other, choices)
      const standing = await findStanding(tx, user.workspaceId, id, otherId)
      if (kept === undefined || standing === undefined) throw leadNotFound()
      return { workspaceId: user.workspaceId, merge: standing, lead: kept }
    })
    if (merged !== null) return merged
    if (attempt === maxAttempts) throw conflict('These leads are being changed: try again')
  }
}

export const contactPhones = ({ phone, contacts }: Lead): string[] => [...listed(phone), ...(contacts?.phones ?? [])]

/**
 * Both leads in the order asked for, locked in that of their ids; undefined for one that is not there. Before them their
 * phones, as upserts do: one that waits looks for its lead when all is done. 'changed' when a phone became another meanwhile.
 */
async function lockBoth(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  ids: readonly [string, string],
): Promise<[Lead | undefined, Lead | undefined] | 'changed'> {
  const seen = (await findLeadsByIds(tx, workspaceId, ids)).map((row) => openLead(keyring, row))
  const phones = new Set(seen.flatMap(contactPhones))
  await lockPhones(tx, workspaceId, [...phones])
  const leads = (await lockLive(tx, workspaceId, ids)).map((row) => openLead(keyring, row))
  if (leads.flatMap(contactPhones).some((phone) => !phones.has(phone))) return 'changed'
  return [leads.find(({ id }) => id === ids[0]), leads.find(({ id }) => id === ids[1])]
}

async function mergeIn(
  tx: Tx,
  deps: MergeDeps,
  keyring: Keyring,
  user: LeadUser,
  kept: Lead,
  other: Lead,
  choices: MergeChoices,
): Promise<Merged> {
  const { workspaceId } = user
  const now = deps.clock.now()
  const lead = await planned(tx, workspaceId, kept, other, choices, now)
  const id = newId(now)
  const by = { ...user, partOf: `merge:${id}` }
  // First, so that its names are free, and whoever hears of both hears of that before.
  await hide(tx, keyring, by, [other], now)
  await updateLeads(tx, keyring, workspaceId, [lead])
  const moved = await moveAll(tx, deps, workspaceId, other.id, lead.id)
  await addContacts(tx, keyring, workspaceId, id, lead, now)
  const labels = await uniteLabels(tx, user, { from: other.id, to: lead.id }, now)
  const name = [other.firstName, other.lastName].filter(Boolean).join(' ')
  const values = { before: formerValues(kept, lead), after: formerValues(lead, kept) }
  const former = sealFormer(keyring, id, { ...values, name, labels })
  await tx`
    insert into lead_merges (
      workspace_id, id, kept_id, merged_id, former, moved_changes, moved_notes, moved_submissions, moved_contacts, marked_imports,
      changes_count, submissions_count, actor_type, actor_id, merged_at, undo_until
    )
    values (
      ${workspaceId}, ${id}, ${lead.id}, ${other.id}, ${former}, ${moved.changes}::uuid[], ${moved.notes}::uuid[], ${moved.submissions}::uuid[],
      ${moved.contacts}::uuid[], ${moved.imports}::uuid[], ${moved.changes.length}, ${moved.submissions.length},
      ${user.actor.type}, ${user.actor.id}, ${now}, ${new Date(now.getTime() + undoMs)}
    )`
  const moves = kept.status === lead.status ? [] : [{ leadId: lead.id, from: kept.status, to: lead.status }]
  await recordStatusChanges(tx, workspaceId, user.actor, moves, now)
  await recordEvents(tx, keyring, workspaceId, [leadUpdated(lead, kept, by)], now)
  await noteMerge(tx, user, 'lead.merged', id, now)
  return { workspaceId, merge: await readMerge(tx, workspaceId, id), lead }
}

async function planned(tx: Tx, workspaceId: string, kept: Lead, other: Lead, choices: MergeChoices, now: Date) {
  const { lead, issues } = planMerge(kept, other, choices, now)
  if (issues.length > 0) throw new InvalidInput(issues)
  if (lead.assignedTo === null || lead.assignedTo === kept.assignedTo) return lead
  if ((await findNonMembers(tx, workspaceId, [lead.assignedTo])).length === 0) return lead
  if (choices.fields.assignedTo === 'other') throw new InvalidInput([assigneeIssue('fields')])
  return { ...lead, assignedTo: kept.assignedTo }
}

/** Of a lead whose merge is to be undone each is named. */
const maxMoved = 10_000

async function moveAll(tx: Tx, { moveSubmissions }: MergeDeps, workspaceId: string, from: string, to: string) {
  const move = { from, to, only: null }
  const changes = await moveRows(tx, 'lead_status_changes', workspaceId, move)
  const notes = await moveRows(tx, 'lead_notes', workspaceId, move)
  const submissions = await moveSubmissions(tx, workspaceId, move)
  if (Math.max(changes.length, notes.length, submissions.length) > maxMoved) {
    throw conflict('The other lead has too long a history to be moved: keep that one, and merge this lead into it')
  }
  const contacts = await moveContacts(tx, workspaceId, move)
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
  return { changes, notes, submissions, contacts, imports: imports.map((row) => row.change_id) }
}

/** The audit log tells who merges; not whom, since it outlasts an erasure. */
export async function noteMerge(tx: Tx, user: LeadUser, action: string, id: string, now: Date): Promise<void> {
  const actor = personOf(user.actor)
  if (actor !== null) await recordAudit(tx, { scopeId: user.workspaceId, actor, action, target: `merge:${id}` }, now)
}
