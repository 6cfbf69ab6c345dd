import { randomUUID } from 'node:crypto'
import { areFewRows, insertedRows } from '../../base/citus/few-rows.ts'
import type { Fragment, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { assignments, type Columns, columnNames, unnested } from '../../base/postgres/rows.ts'
import { type EncryptedFields, encryptLead, type StoredLead } from './encrypted-lead.ts'
import { type Lead, takenField, valueTaken } from './lead.ts'
import { hiddenWorkspaceId } from './queries.ts'

const changingColumns = {
  text: ['unique_code', 'external_ref', 'status', 'priority', 'source', 'ad_platform'],
  numeric: ['estimated_value', 'actual_value'],
  bytea: ['person', 'notes', 'custom_fields', 'email_index', 'phone_index'],
  integer: ['index_version'],
} as const satisfies Columns<StoredLead>
const updatedColumns = { ...changingColumns, uuid: ['assigned_to'], timestamptz: ['updated_at'] } as const
const insertedColumns = {
  ...changingColumns,
  uuid: ['id', 'assigned_to'],
  timestamptz: ['created_at', 'updated_at'],
} as const

const maxAttempts = 4

/**
 * Repeats `work` while another writer takes an externalRef or uniqueCode after it was checked: the next attempt sees
 * that lead. Throws 409 after the last attempt.
 */
export async function retryWhileTaken<T>(work: () => Promise<T>, attempts = maxAttempts): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const taken = takenField(error)
      if (taken === null) throw error
      if (attempt === attempts) throw valueTaken(taken, error)
    }
  }
}

/** Inserts leads in one statement. `encrypted` has values encrypted beforehand, by lead id. */
export async function insertLeads(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  leads: readonly Lead[],
  encrypted?: ReadonlyMap<string, EncryptedFields>,
): Promise<void> {
  if (leads.length === 0) return
  await leadInsertStatement(tx, keyring, workspaceId, leads, null, encrypted).execute()
}

/** Returns the statement that inserts leads, to run alone, or if `condition` holds as part of another statement. */
export function leadInsertStatement(
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  leads: readonly Lead[],
  condition: Fragment | null,
  encrypted?: ReadonlyMap<string, EncryptedFields>,
) {
  const rows = leads.map((lead) => encryptLead(keyring, lead, encrypted?.get(lead.id)))
  const where = condition === null ? tx`` : tx`where ${condition}`
  const source = tx`from ${unnested(rows, insertedColumns, { hidesLength: true })} ${where}`
  return tx`
    insert into leads (workspace_id, ${columnNames(insertedColumns)})
    ${insertedRows(tx, tx`${workspaceId}::uuid`, rows, insertedColumns, { source, isConditional: condition !== null })}`
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
  if (areFewRows(tx, rows)) {
    const updates = rows.map((row) =>
      tx`
        update leads
        set ${assignments(updatedColumns, row)}
        where workspace_id = ${workspaceId}
          and id = ${row.id}`.execute(),
    )
    await Promise.all(updates)
    return
  }
  await tx`
    update leads l
    set ${assignments(updatedColumns)}
    from ${unnested(rows, insertedColumns, { hidesLength: true })}
    where l.workspace_id = ${hiddenWorkspaceId(tx, workspaceId)}
      and l.id = any ((select ${leads.map((lead) => lead.id)}::uuid[])::uuid[])
      and l.id = n.id`.execute()
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
