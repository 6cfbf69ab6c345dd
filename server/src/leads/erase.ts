import type { Sql, Tx } from '../base/db.ts'
import { decryptOrNull } from '../base/encryption/encrypt.ts'
import type { Keyring } from '../base/encryption/keyring.ts'
import type { ErasedCustomer, ErasureScope, ErasureStep, Removed } from '../base/erasure.ts'
import { goOn, nothingLeft } from '../base/erasure.ts'
import { firstIdAt } from '../base/id.ts'
import { byteaArray } from '../base/postgres/values.ts'
import { eraseEvents, type OnEventsErased } from '../events/erase.ts'
import { recordEvents } from '../events/record.ts'
import { blankLead } from './lead/change.ts'
import { emailIndexes, openPerson, phoneIndexes } from './lead/encrypted-lead.ts'
import { leadDeleted } from './lead/events.ts'
import type { Lead } from './lead/lead.ts'
import { otherEmails, otherPhones } from './lead/search-lines.ts'

/** What a lead tells of its customer. */
export interface FoundLead {
  id: string
  email: string | null
  phone: string | null
  /** What it has beside these by a merge. */
  otherEmails: string[]
  otherPhones: string[]
}

/** From so many on, what was named is nobody's own. */
const maxFound = 1000

/** The leads with these ids, phones or e-mails, whether or not they were deleted, made before a moment. At most 1,001. */
export async function findErasedLeads(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  { phones, emails, leadIds }: Pick<ErasedCustomer, 'phones' | 'emails' | 'leadIds'>,
  before: Date,
): Promise<FoundLead[]> {
  const byPhone = byteaArray(phones.flatMap((phone) => phoneIndexes(keyring, phone)))
  const byEmail = byteaArray(emails.flatMap((email) => emailIndexes(keyring, email)))
  // Live ones by their indexes; deleted ones are few, and their index is gone through.
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
    -- Leads that were merged are one customer, whichever of them was named.
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
  return rows.map(({ id, person }) => ({ id, ...namesOf(keyring, id, person) }))
}

const nameless = { email: null, phone: null, otherEmails: [], otherPhones: [] }

// A lead that does not open, or was purged, is erased by its id.
function namesOf(keyring: Keyring, id: string, person: Buffer): Omit<FoundLead, 'id'> {
  if (person.length === 0) return nameless
  const opened = decryptOrNull(() => openPerson(keyring, id, person))
  if (opened === null) return nameless
  const [, , email, phone, contacts] = opened
  const all = { email, phone, contacts }
  return { email, phone, otherEmails: otherEmails(all), otherPhones: otherPhones(all) }
}

/**
 * Erases the next of the customer's leads: its events first, in batches, then in one transaction what is left of them, its
 * row and all that hangs on it. Receivers are told that it was deleted, by an event that holds its id and nothing else.
 */
export async function eraseLeads(tx: Tx, scope: ErasureScope, eventsErased: OnEventsErased): Promise<ErasureStep> {
  const { workspaceId, keyring, customer, now } = scope
  // Whoever makes search tokens holds this, so that none are made of a lead that is going.
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
  if (lead === undefined) return nothingLeft
  const alsoTheirs = await mergedWith(tx, workspaceId, lead.id, customer.leadIds)
  if (alsoTheirs.length > 0) return { ...nothingLeft, alsoTheirs }
  const asOne = await eraseTimeAsOne(tx, workspaceId, lead.id, eventsErased)
  if (asOne.hasMore) return goOn(asOne.removed, true)
  const { removed: events, hasMore } = await eraseEvents(tx, workspaceId, [lead.id], eventsErased)
  if (hasMore) return goOn(events, true)
  const changes = await tx`
    delete from lead_status_changes
    where workspace_id = ${workspaceId}
      and lead_id = ${lead.id}`
  const notes = await tx`
    delete from lead_notes
    where workspace_id = ${workspaceId}
      and lead_id = ${lead.id}`
  // By the changes there are, whose items are found by their key: an index by lead would cost every import.
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
  return goOn({ ...events, leads: 1, statusChanges: changes.count, notes: notes.count }, true)
}

/** What receivers are told of: the shape of a lead with nothing in it of the person. */
function erasedLead(id: string, createdAt: Date, now: Date): Lead {
  return { ...blankLead(id, id, createdAt), firstName: '-', updatedAt: now, deletedAt: now }
}

/** Leads that this one was merged with, either way, beside those that are known. It is locked: no merge is under way. */
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
  /** The event of the undo; events of the merge live no longer than that. */
  told_by: string
}

/**
 * Erases what other leads have kept of this one from the time that it was merged into them: their events of that time, what
 * the undo says that it took from them, and former values in bulk changes. Those leads stay: they are somebody else.
 */
async function eraseTimeAsOne(
  tx: Tx,
  workspaceId: string,
  leadId: string,
  eventsErased: OnEventsErased,
): Promise<{ removed: Removed; hasMore: boolean }> {
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
  for (const { kept_id: keptId, merged_at: from, undone_at: to, told_by: toldBy } of merges) {
    const span = { from: firstIdAt(from), below: toldBy }
    const erased = await eraseEvents(tx, workspaceId, [keptId], eventsErased, span)
    // Counted and taken up again, as any step is: the merge is there until its lead goes.
    if ((erased.removed.events ?? 0) > 0) return { ...erased, hasMore: true }
    await tx`
      update events
      set changes = null
      where workspace_id = ${workspaceId}
        and id = ${toldBy}`
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
