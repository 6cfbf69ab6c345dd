import { randomUUID } from 'node:crypto'
import type { Fragment, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { byteaArray, timestampArray } from '../../base/postgres/values.ts'
import { type EncryptedFields, encryptLead, type StoredLead } from './encrypted-lead.ts'
import type { Lead } from './lead.ts'
import { hiddenWorkspaceId } from './queries.ts'

/** Inserts leads in one statement. `encrypted` has values encrypted beforehand, by lead id. */
export async function insertLeads(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  leads: readonly Lead[],
  encrypted?: ReadonlyMap<string, EncryptedFields>,
): Promise<void> {
  if (leads.length === 0) return
  await leadInsertStatement(tx, keyring, workspaceId, leads, tx`true`, encrypted).execute()
}

/** Returns the statement that inserts leads if `condition` holds, alone or as part of another statement. */
export function leadInsertStatement(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  leads: readonly Lead[],
  condition: Fragment,
  encrypted?: ReadonlyMap<string, EncryptedFields>,
) {
  const rows = leads.map((lead) => encryptLead(keyring, lead, encrypted?.get(lead.id)))
  return tx`
    insert into leads (
      workspace_id, id, unique_code, external_ref, status, priority, source, ad_platform, assigned_to,
      estimated_value, actual_value, person, notes, custom_fields, email_index, phone_index, index_version,
      created_at, updated_at
    )
    select ${workspaceId}::uuid, r.*
    from ${unnestRows(tx, rows)}
    where ${condition}`
}

/** Updates existing leads. */
export async function updateLeads(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  leads: readonly Lead[],
): Promise<void> {
  if (leads.length === 0) return
  const rows = leads.map((lead) => encryptLead(keyring, lead))
  await tx`
    update leads l
    set unique_code = r.unique_code,
      external_ref = r.external_ref,
      status = r.status,
      priority = r.priority,
      source = r.source,
      ad_platform = r.ad_platform,
      assigned_to = r.assigned_to,
      estimated_value = r.estimated_value,
      actual_value = r.actual_value,
      person = r.person,
      notes = r.notes,
      custom_fields = r.custom_fields,
      email_index = r.email_index,
      phone_index = r.phone_index,
      index_version = r.index_version,
      updated_at = r.updated_at
    from ${unnestRows(tx, rows)}
    where l.workspace_id = ${hiddenWorkspaceId(tx, workspaceId)}
      and l.id = any ((select ${leads.map((lead) => lead.id)}::uuid[])::uuid[])
      and l.id = r.id`.execute()
}

/**
 * Releases the names of leads before an update sets new ones: unique indexes are checked row by row, so two leads could
 * not swap names in one statement.
 */
export async function releaseNames(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx`
    update leads
    set external_ref = null,
      unique_code = ${randomUUID()} || id::text
    where workspace_id = ${hiddenWorkspaceId(tx, workspaceId)}
      and id = any (${ids}::uuid[])`.execute()
}

// `(select …)` hides the length of the ids from the planner, see queries.ts.
function unnestRows(tx: Tx, rows: StoredLead[]) {
  const column = <K extends keyof StoredLead>(name: K): StoredLead[K][] => rows.map((row) => row[name])
  return tx`
    unnest(
      (select ${column('id')}::uuid[]), ${column('unique_code')}::text[], ${column('external_ref')}::text[],
      ${column('status')}::text[], ${column('priority')}::text[], ${column('source')}::text[],
      ${column('ad_platform')}::text[], ${column('assigned_to')}::uuid[],
      ${column('estimated_value')}::numeric[], ${column('actual_value')}::numeric[],
      ${byteaArray(column('person'))}::bytea[], ${byteaArray(column('notes'))}::bytea[],
      ${byteaArray(column('custom_fields'))}::bytea[], ${byteaArray(column('email_index'))}::bytea[],
      ${byteaArray(column('phone_index'))}::bytea[], ${column('index_version')}::integer[],
      ${timestampArray(column('created_at'))}::timestamptz[],
      ${timestampArray(column('updated_at'))}::timestamptz[]
    ) as r (
      id, unique_code, external_ref, status, priority, source, ad_platform, assigned_to, estimated_value, actual_value,
      person, notes, custom_fields, email_index, phone_index, index_version, created_at, updated_at
    )`
}
