import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { invalid } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { phoneClass } from '../../base/phone/phone-variants.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import { emailKey } from '../../base/text/email.ts'
import { publishLeadLabels } from '../../team/live-updates.ts'
import { findLabels } from '../../workspaces/labels.ts'
import type { LabelChange } from '../labels/lead-labels.ts'
import {
  isEmptyChange,
  maxLabels,
  readLabels,
  requestedChange,
  reverseChange,
  writeLabels,
} from '../labels/lead-labels.ts'
import { leadIndexes } from '../lead/encrypted-lead.ts'
import type { Lead, LeadContacts, LeadTx } from '../lead/lead.ts'
import { toList } from '../lead/search-lines.ts'
import { distinctIfSeveral } from './plan-merge.ts'

interface RowMove {
  from: string
  to: string
  /** Ids of the rows to move; null moves all. */
  only: readonly string[] | null
}

/** Moves a lead's rows of a table to another lead, all or the listed ones. Returns their ids. */
export async function moveRows(tx: Tx, table: string, workspaceId: string, move: RowMove): Promise<string[]> {
  const { from, to, only } = move
  const rows = await tx<{ id: string }[]>`
    update ${tx(table)}
    set lead_id = ${to}
    where workspace_id = ${workspaceId}
      and lead_id = ${from}
      ${only === null ? tx`` : tx`and id = any (${[...only]}::uuid[])`}
    returning id`
  return rows.map(({ id }) => id)
}

export const contactContext = (id: string) => ({ table: 'lead_contacts', row: id, column: 'value' })

type Kind = 'phone' | 'email'

/** Returns the digest for lookups by an additional contact, for the current index key version. */
export function contactDigest(keyring: Keyring, kind: Kind, value: string): Buffer {
  const { phone_index, email_index } = leadIndexes(keyring, { phone: null, email: null, [kind]: value })
  const digest = kind === 'phone' ? phone_index : email_index
  if (digest === null) throw new Error('Contact has no digest')
  return digest
}

/** Stores the contacts that a lead got from a merge and is not found by yet. */
export async function addContacts(work: LeadTx, mergeId: string, { id: leadId, contacts }: Lead): Promise<void> {
  const { tx, keyring, user, now } = work
  const requested = [
    ...(contacts?.phones ?? []).map((value) => ({ kind: 'phone' as const, value })),
    ...(contacts?.emails ?? []).map((value) => ({ kind: 'email' as const, value })),
  ]
  const known = await readContacts(work, leadId)
  const missing = requested.filter(({ kind, value }) => {
    const sameness = kind === 'phone' ? phoneClass : emailKey
    return !known[`${kind}s`].some((one) => sameness(one) === sameness(value))
  })
  if (missing.length === 0) return
  const rows = missing.map(({ kind, value }) => {
    const id = newId(now)
    return { id, kind, value: keyring.encrypt(contactContext(id), value), digest: contactDigest(keyring, kind, value) }
  })
  await tx`
    insert into lead_contacts (workspace_id, id, lead_id, merge_id, kind, value, digest, index_version)
    select ${user.workspaceId}::uuid, r.id, ${leadId}::uuid, ${mergeId}::uuid, r.kind, r.value, r.digest,
      ${keyring.indexVersion}::integer
    from unnest(
      ${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ kind }) => kind)}::text[],
      ${byteaArray(rows.map(({ value }) => value))}::bytea[], ${byteaArray(rows.map(({ digest }) => digest))}::bytea[]
    ) as r (id, kind, value, digest)`
}

async function readContacts({ tx, keyring, user }: LeadTx, leadId: string): Promise<LeadContacts> {
  const rows = await tx<{ id: string; kind: Kind; value: Buffer }[]>`
    select id, kind, value
    from lead_contacts
    where workspace_id = ${user.workspaceId}
      and lead_id = ${leadId}
    order by id`
  const of = (requested: Kind) =>
    rows.filter(({ kind }) => kind === requested).map(({ id, value }) => keyring.decryptText(contactContext(id), value))
  return { phones: of('phone'), emails: of('email') }
}

/** Deletes the contacts that a merge added. Returns the contacts left from other merges. */
export async function removeContacts(work: LeadTx, mergeId: string, lead: Lead): Promise<LeadContacts> {
  const { tx, user } = work
  const { id, phone, email } = lead
  await tx`
    delete from lead_contacts
    where workspace_id = ${user.workspaceId}
      and lead_id = ${id}
      and merge_id = ${mergeId}`
  const left = await readContacts(work, id)
  return {
    phones: distinctIfSeveral([...toList(phone), ...left.phones], phoneClass),
    emails: distinctIfSeveral([...toList(email), ...left.emails], emailKey),
  }
}

/** Adds the labels of one lead to another; the first keeps them for an undo. Returns the added label ids. */
export async function addLabelsFrom(work: LeadTx, { from, to }: { from: string; to: string }): Promise<string[]> {
  const { tx } = work
  const { workspaceId } = work.user
  const labels = await readLabels(tx, workspaceId, [from, to])
  const known = await findLabels(tx, workspaceId, labels.get(from) ?? [])
  const change = requestedChange(to, labels.get(to) ?? [], { add: [...known], remove: [] })
  if (change === null) throw invalid('otherId', `would give the lead more than ${maxLabels} labels`)
  await writeChange(work, change)
  return [...change.added]
}

/** Removes labels that a merge added, if the lead still has them. */
export async function removeLabels(work: LeadTx, leadId: string, added: readonly string[]): Promise<void> {
  if (added.length === 0) return
  const has = (await readLabels(work.tx, work.user.workspaceId, [leadId])).get(leadId) ?? []
  const { change } = reverseChange({ leadId, added: [...added], removed: [] }, has, new Set())
  await writeChange(work, change)
}

async function writeChange(work: LeadTx, change: LabelChange): Promise<void> {
  if (isEmptyChange(change)) return
  await writeLabels(work, [change], 'otherId')
  publishLeadLabels(work.tx, work.user.workspaceId, change.leadId)
}
