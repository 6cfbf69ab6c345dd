import type { Sql, Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import type { Actor } from '../../workspace/actor.ts'

export interface StatusChange {
  leadId: string
  from: string
  to: string
}

export async function recordStatusChanges(
  tx: Tx,
  workspaceId: string,
  actor: Actor,
  changes: readonly StatusChange[],
  at: Date,
): Promise<void> {
  if (changes.length === 0) return
  await tx`
    insert into lead_status_changes (workspace_id, id, lead_id, from_status, to_status, actor_type, actor_id, changed_at)
    select ${workspaceId}::uuid, c.id, c.lead_id, c.from_status, c.to_status, ${actor.type}, ${actor.id}::uuid,
      ${at}::timestamptz
    from unnest(
      ${changes.map(() => newId(at))}::uuid[],
      ${changes.map((change) => change.leadId)}::uuid[],
      ${changes.map((change) => change.from)}::text[],
      ${changes.map((change) => change.to)}::text[]
    ) as c (id, lead_id, from_status, to_status)`.execute()
}

export interface StatusChangeRow {
  id: string
  from_status: string
  to_status: string
  actor_type: Actor['type']
  actor_id: string | null
  changed_at: Date
}

/** The status changes of a lead, oldest first. */
export async function listStatusChanges(sql: Sql, workspaceId: string, leadId: string): Promise<StatusChangeRow[]> {
  return sql<StatusChangeRow[]>`
    select id, from_status, to_status, actor_type, actor_id, changed_at
    from lead_status_changes
    where workspace_id = ${workspaceId}
      and lead_id = ${leadId}
    order by id
    limit 1000`
}
