import type { Sql } from '../../base/db.ts'
import { byteaArray } from '../../base/postgres/values.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { findLead } from '../lead/identify.ts'
import type { Lead, LeadDeps, LeadUser } from '../lead/lead.ts'
import { anyWorkspace, leadColumns, leadsOfContacts } from '../lead/queries.ts'
import { readPhones } from '../lead/read-phones.ts'
import { emailIndexes, type LeadRow, openLead, phoneIndexes } from '../lead/sealed.ts'
import { otherEmails, otherPhones } from '../lead/search-lines.ts'

export interface Duplicate {
  lead: Lead
  /** What it has in common. */
  same: ('phone' | 'email')[]
}

const maxDuplicates = 20

/** The other live leads with the phone of a lead, in any of its variants, or with its e-mail. */
export async function findDuplicates(deps: LeadDeps, user: LeadUser, identifier: string): Promise<Duplicate[]> {
  const keyring = await deps.vault.keyring(user.workspaceId)
  const lead = openLead(keyring, await findLead(deps.db.sql, keyring, user, identifier))
  const phones = [...(lead.phone === null ? [] : [lead.phone]), ...otherPhones(lead)]
  const emails = [...(lead.email === null ? [] : [lead.email]), ...otherEmails(lead)]
  return findSame(deps.db.sql, keyring, user.workspaceId, { phones, emails, exceptId: lead.id })
}

/** The live leads that a new one with this phone or e-mail would be a duplicate of; nobody has what is no phone. */
export async function checkDuplicates(
  deps: LeadDeps,
  user: LeadUser,
  { phone, email }: { phone: string | null; email: string | null },
): Promise<Duplicate[]> {
  const keyring = await deps.vault.keyring(user.workspaceId)
  const phones = phone === null ? [] : readPhones(phone, user.defaultCountry)
  return findSame(deps.db.sql, keyring, user.workspaceId, { phones, emails: listed(email), exceptId: null })
}

function listed(email: string | null): string[] {
  const typed = email?.trim() ?? ''
  return typed === '' ? [] : [typed]
}

async function findSame(
  sql: Sql,
  keyring: Keyring,
  workspaceId: string,
  { phones, emails, exceptId }: { phones: readonly string[]; emails: readonly string[]; exceptId: string | null },
): Promise<Duplicate[]> {
  const byPhone = phones.flatMap((digits) => phoneIndexes(keyring, digits))
  const byEmail = emails.flatMap((email) => emailIndexes(keyring, email))
  if (byPhone.length + byEmail.length === 0) return []
  const workspace = anyWorkspace(sql, workspaceId)
  const has = (digests: readonly Buffer[]) => sql`exists (
    select
    from lead_contacts k
    where k.workspace_id = ${workspace} and k.lead_id = l.id and k.digest = any (${byteaArray(digests)}::bytea[])
  )`
  const rows = await sql<(LeadRow & { same_phone: boolean; same_email: boolean })[]>`
    select ${leadColumns(sql)},
      coalesce(l.phone_index = any (${byteaArray(byPhone)}::bytea[]), false) or ${has(byPhone)} as same_phone,
      coalesce(l.email_index = any (${byteaArray(byEmail)}::bytea[]), false) or ${has(byEmail)} as same_email
    from leads l
    where l.workspace_id = ${workspaceId}
      and l.id = any (array(
        (
          select p.id from leads p
          where p.workspace_id = ${workspace} and p.phone_index = any (${byteaArray(byPhone)}::bytea[]) and p.deleted_at is null
          order by p.created_at, p.id
          limit ${maxDuplicates + 1}
        )
        union
        (
          select e.id from leads e
          where e.workspace_id = ${workspace} and e.email_index = any (${byteaArray(byEmail)}::bytea[]) and e.deleted_at is null
          order by e.created_at, e.id
          limit ${maxDuplicates + 1}
        )
        union
        (
          select o.id from ${leadsOfContacts(sql, workspaceId, sql`${byteaArray([...byPhone, ...byEmail])}::bytea[]`)}
          order by o.created_at, o.id
          limit ${maxDuplicates + 1}
        )
      ))
      and l.id is distinct from ${exceptId}::uuid
    order by l.created_at, l.id
    limit ${maxDuplicates}`
  return rows.map((row) => ({
    lead: openLead(keyring, row),
    same: [...(row.same_phone ? (['phone'] as const) : []), ...(row.same_email ? (['email'] as const) : [])],
  }))
}
