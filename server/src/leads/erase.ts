import type { Sql, Tx } from '../base/db.ts'
import { decryptOrNull } from '../base/encryption/encrypt.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import type { ErasedCustomer, ErasureScope, ErasureStep } from '../base/erasure.ts'
import { createStep, finishedStep } from '../base/erasure.ts'
import { firstIdAt } from '../base/id.ts'
import { byteaArray } from '../base/postgres/values.ts'
import { eraseEvents, type OnEventsErased } from '../events/erase.ts'
import { recordEvents } from '../events/record.ts'
import { blankLead } from './lead/change.ts'
import { decryptPerson, emailIndexes, phoneIndexes } from './lead/encrypted-lead.ts'
import { leadDeleted } from './lead/events.ts'
import type { Lead } from './lead/lead.ts'
import { otherEmails, otherPhones } from './lead/search-lines.ts'

/** Contact data of a lead of the erased customer. */
interface FoundLead extends Pick<Lead, 'id' | 'email' | 'phone'> {
  /** E-mails from merged leads, without `email`. */
  otherEmails: string[]
  otherPhones: string[]
}

// An identifier that matches more leads than this belongs to no single person.
const maxFound = 1000

/** Returns leads created by `before` with one of these ids, phones or e-mails, also deleted ones. At most 1,001. */
export async function findErasedLeads(
  { sql, keyring, workspaceId }: { sql: Sql; keyring: Keyring; workspaceId: string },
  { phones, emails, leadIds }: Pick<ErasedCustomer, 'phones' | 'emails' | 'leadIds'>,
  before: Date,
): Promise<FoundLead[]> {
  const byPhone = byteaArray(phones.flatMap((phone) => phoneIndexes(keyring, phone)))
  const byEmail = byteaArray(emails.flatMap((email) => emailIndexes(keyring, email)))
  // Live leads are found by their indexes; deleted leads are few and are scanned.
  const rows = await sql<{ id: string; person: Buffer }[]>`
    with recursive named (id) as (
      select id from leads
      where workspace_id = ${workspaceId} and id = any (${leadIds}::uuid[])
      union
      select id from leads
      where workspace_id = ${workspaceId} and phone_index is not null and phone_index = any (${byPhone}::bytea[])
        and deleted_at is null
      union
      select id from leads
      where workspace_id = ${workspaceId} and email_index is not null and email_index = any (${byEmail}::bytea[])
        and deleted_at is null
      union
      select id from leads
      where workspace_id = ${workspaceId} and deleted_at is not null and purged_at is null
        and (phone_index = any (${byPhone}::bytea[]) or email_index = any (${byEmail}::bytea[]))
      union
      select lead_id from lead_contacts
      where workspace_id = ${workspaceId} and (digest = any (${byPhone}::bytea[]) or digest = any (${byEmail}::bytea[]))
    ),
    -- Merged leads are one customer, whichever of them was named.
    found (id) as (
      select id from named
      union
      select m.id
      from found f
      cross join lateral (
        select merged_id as id from lead_merges
        where workspace_id = ${workspaceId} and kept_id = f.id and undone_at is null
        union all
        select kept_id from lead_merges
        where workspace_id = ${workspaceId} and merged_id = f.id and undone_at is null
      ) as m
    )
    select l.id, l.person
    from found f
    join leads l on l.workspace_id = ${workspaceId} and l.id = f.id
    where l.created_at <= ${before}
    order by l.id
    limit ${maxFound + 1}`
  return rows.map(({ id, person }) => ({ id, ...decryptContacts(keyring, id, person) }))
}

const noContacts = { email: null, phone: null, otherEmails: [], otherPhones: [] }

// A lead that cannot be decrypted or was purged is erased by its id alone.
function decryptContacts(keyring: Keyring, id: string, person: Buffer): Omit<FoundLead, 'id'> {
  if (person.length === 0) return noContacts
  const decrypted = decryptOrNull(() => decryptPerson(keyring, id, person))
  if (decrypted === null) return noContacts
  const [, , email, phone, contacts] = decrypted
  const all = { email, phone, contacts }
  return { email, phone, otherEmails: otherEmails(all), otherPhones: otherPhones(all) }
}

/**
 * Erases the customer's next lead: its events in batches, then, in one transaction, its remaining data and its row.
 * Publishes `lead.deleted` with only the id, so that receivers erase their copies.
 */
export async function eraseLeads(tx: Tx, scope: ErasureScope, eventsErased: OnEventsErased): Promise<ErasureStep> {
  const { workspaceId, keyring, customer, now } = scope
  // Search token writers lock this row, so no tokens are created for a lead during its erasure.
  await tx`
    select from lead_search_feeds
    where workspace_id = ${workspaceId}
    for update`
  const [lead] = await tx<{ id: string; created_at: Date; is_purged: boolean }[]>`
    select id, created_at, purged_at is not null as is_purged
    from leads
    where workspace_id = ${workspaceId}
      and id = any (${customer.leadIds}::uuid[])
    order by id
    limit 1
    for update`
  if (lead === undefined) return finishedStep
  const foundLeadIds = await mergedWith(tx, workspaceId, lead.id, customer.leadIds)
  if (foundLeadIds.length > 0) return { ...finishedStep, foundLeadIds }
  const mergedPeriod = await eraseMergedPeriod(tx, workspaceId, lead.id, eventsErased)
  if (mergedPeriod.hasMore) return createStep(mergedPeriod.removed, true)
  const { removed: events, hasMore } = await eraseEvents(tx, workspaceId, [lead.id], eventsErased)
  if (hasMore) return createStep(events, true)
  const deleteFrom = (table: string) => tx`
    delete from ${tx(table)}
    where workspace_id = ${workspaceId}
      and lead_id = ${lead.id}`
  const changes = await deleteFrom('lead_status_changes')
  const notes = await deleteFrom('lead_notes')
  for (const table of ['automation_runs', 'broadcast_recipients', 'lead_attributions', 'lead_source_requests']) {
    await deleteFrom(table)
  }
  // Joins the existing changes and finds items by primary key; an index on lead_id would slow down every import.
  await tx`
    delete from lead_bulk_items i
    using lead_bulk_changes c
    where c.workspace_id = ${workspaceId}
      and i.workspace_id = c.workspace_id
      and i.change_id = c.id
      and i.lead_id = ${lead.id}`
  await tx`
    delete from leads
    where workspace_id = ${workspaceId}
      and id = ${lead.id}`
  if (!lead.is_purged) {
    await recordEvents(tx, keyring, workspaceId, [leadDeleted(erasedLead(lead.id, lead.created_at, now))], now)
  }
  return createStep({ ...events, leads: 1, statusChanges: changes.count, notes: notes.count }, true)
}

/** Returns the body of the `lead.deleted` event: a lead without personal data. */
function erasedLead(id: string, createdAt: Date, now: Date): Lead {
  return { ...blankLead(id, id, createdAt), firstName: '-', updatedAt: now, deletedAt: now }
}

/** Returns leads merged with this one, either way, that are not in `known`. The lead is locked, so no merge runs. */
async function mergedWith(tx: Tx, workspaceId: string, leadId: string, known: readonly string[]): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select case when kept_id = ${leadId} then merged_id else kept_id end as id
    from lead_merges
    where workspace_id = ${workspaceId}
      and (kept_id = ${leadId} or merged_id = ${leadId})
      and undone_at is null`
  return rows.map(({ id }) => id).filter((id) => !known.includes(id))
}

interface UndoneMerge {
  id: string
  kept_id: string
  merged_at: Date
  undone_at: Date
  /** Id of the undo event; events of the merged period have lower ids. */
  told_by: string
}

/**
 * Erases copies of this lead's data in other leads, from the time when it was merged into them: their events of that
 * time, the changes in the undo event, and former values in bulk changes. The other leads stay: they are other people.
 */
async function eraseMergedPeriod(tx: Tx, workspaceId: string, leadId: string, eventsErased: OnEventsErased) {
  const merges = await tx<UndoneMerge[]>`
    select m.id, m.kept_id, m.merged_at, m.undone_at, e.id as told_by
    from lead_merges m
    cross join lateral (
      select id
      from events
      where workspace_id = ${workspaceId}
        and subject_id = m.kept_id
        and part_of = 'unmerge:' || m.id
    ) as e
    where m.workspace_id = ${workspaceId}
      and m.merged_id = ${leadId}
      and m.undone_at is not null
    order by m.id`
  for (const { kept_id: keptId, merged_at: from, undone_at: to, told_by: undoEventId } of merges) {
    const span = { from: firstIdAt(from), below: undoEventId }
    const erased = await eraseEvents(tx, workspaceId, [keptId], eventsErased, span)
    // The next step continues here: the merge row exists until its lead is erased.
    if ((erased.removed.events ?? 0) > 0) return { ...erased, hasMore: true }
    await tx`
      update events
      set changes = null
      where workspace_id = ${workspaceId}
        and id = ${undoEventId}`
    await tx`
      update lead_bulk_items i
      set before = null
      from lead_bulk_changes c
      where c.workspace_id = ${workspaceId}
        and i.workspace_id = c.workspace_id
        and i.change_id = c.id
        and i.lead_id = ${keptId}
        and i.before is not null
        and i.left_at between ${from} and ${to}`
  }
  return { removed: {}, hasMore: false }
}
