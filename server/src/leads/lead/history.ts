import { insertedRows } from '../../base/citus/few-rows.ts'
import type { Sql, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { newId } from '../../base/id.ts'
import { columnNames } from '../../base/postgres/rows.ts'
import { publishLead } from '../../team/live-updates.ts'
import type { TeamActor } from '../../team/member.ts'
import type { Actor } from '../../workspaces/actor.ts'
import { type Lead, type LeadDeps, type LeadTx, leadNotFound } from './lead.ts'
import { lockLead } from './queries.ts'

/** Records the changes of status among these changes of leads. */
export async function recordStatusChanges(
  { tx, user: { workspaceId, actor }, now }: Omit<LeadTx, 'keyring'>,
  changes: readonly { before: Lead; lead: Lead }[],
): Promise<void> {
  const rows = changes.flatMap(({ before, lead }) =>
    before.status === lead.status
      ? []
      : [{ id: newId(now), leadId: lead.id, fromStatus: before.status, toStatus: lead.status }],
  )
  if (rows.length === 0) return
  const shared = tx`${workspaceId}::uuid, ${actor.type}::text, ${actor.id}::uuid, ${now}::timestamptz`
  await tx`
    insert into lead_status_changes (workspace_id, actor_type, actor_id, changed_at, ${columnNames(statusColumns)})
    ${insertedRows(tx, shared, rows, statusColumns)}`.execute()
}

const statusColumns = { uuid: ['id', 'leadId'], text: ['fromStatus', 'toStatus'] } as const

export interface AuthoredChange {
  id: string
  actor: Actor
  at: Date
}

export const changeColumns = (sql: Sql) => sql`
  id, json_build_object('type', actor_type, 'id', actor_id) as actor, changed_at as at`

/** Returns the status changes of a lead, oldest first, at most 1,000. */
export async function listStatusChanges(sql: Sql, workspaceId: string, leadId: string) {
  return sql<(AuthoredChange & { from: string; to: string })[]>`
    select ${changeColumns(sql)}, from_status as from, to_status as to
    from lead_status_changes
    where workspace_id = ${workspaceId}
      and lead_id = ${leadId}
    order by id
    limit 1000`
}

const leadNoteContext = (id: string) => ({ table: 'lead_notes', row: id, column: 'text' })

export const decryptLeadNote = (keyring: Keyring, id: string, text: Buffer): string =>
  keyring.decryptText(leadNoteContext(id), text)

export interface NewLeadNote {
  leadId: string
  text: string
  /** Idempotency key: one author adds one note per key. */
  key: string | null
}

/** Adds a note to a live lead and returns its id; a repeated key returns the id of the first note. Throws 404. */
export async function addLeadNote(
  { db, keyStore, clock }: LeadDeps,
  workspaceId: string,
  actor: TeamActor,
  { leadId, text, key }: NewLeadNote,
): Promise<string> {
  return keyStore.withKeyring(workspaceId, (keyring) =>
    db.tx(async (tx) => {
      if ((await lockLead(tx, workspaceId, leadId)) === undefined) throw leadNotFound()
      const now = clock.now()
      const id = newId(now)
      const [added] = await tx<{ id: string }[]>`
        insert into lead_notes (
          workspace_id, id, lead_id, text, actor_type, actor_id, idempotency_key, created_at
        )
        values (
          ${workspaceId}, ${id}, ${leadId}, ${keyring.encrypt(leadNoteContext(id), text)}, ${actor.type}, ${actor.id}, ${key},
          ${now}
        )
        on conflict (workspace_id, actor_id, idempotency_key) where idempotency_key is not null do nothing
        returning id`
      if (added === undefined) return findEarlierNote(tx, workspaceId, actor.id, key)
      publishLead(tx, workspaceId, leadId)
      return id
    }),
  )
}

async function findEarlierNote(tx: Tx, workspaceId: string, actorId: string, key: string | null): Promise<string> {
  const [row] = await tx<{ id: string }[]>`
    select id
    from lead_notes
    where workspace_id = ${workspaceId}
      and actor_id = ${actorId}
      and idempotency_key = ${key}`
  if (row === undefined) throw leadNotFound()
  return row.id
}
