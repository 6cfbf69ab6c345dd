import { type Sql, type Tx, violates } from '../../base/db.ts'
import { type ApiError, invalid } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import type { Actor } from '../../workspace/actor.ts'
import { anyWorkspace } from '../lead/queries.ts'

export const maxLabels = 20

/** What became of the labels of a lead. */
export interface LabelChange {
  leadId: string
  added: string[]
  removed: string[]
}

/** The labels of each of these leads; those that have none are not in it. */
export async function readLabels(
  sql: Sql,
  workspaceId: string,
  leadIds: readonly string[],
): Promise<Map<string, string[]>> {
  if (leadIds.length === 0) return new Map()
  const rows = await sql<{ lead_id: string; label_ids: string[] }[]>`
    select lead_id, array_agg(label_id) as label_ids
    from lead_labels
    where workspace_id = ${anyWorkspace(sql, workspaceId)}
      and lead_id = any ((select ${[...leadIds]}::uuid[])::uuid[])
    group by lead_id`
  return new Map(rows.map((row) => [row.lead_id, row.label_ids]))
}

/** Gives locked leads labels and takes others off, and notes who did it. Throws 400 for a label that has just gone. */
export async function writeLabels(
  tx: Tx,
  workspaceId: string,
  actor: Actor,
  changes: readonly LabelChange[],
  now: Date,
  field: string,
): Promise<void> {
  if (changes.length === 0) return
  const added = pairs(changes, 'added')
  const removed = pairs(changes, 'removed')
  try {
    if (removed.leadIds.length > 0) {
      await tx`
        delete from lead_labels l
        using unnest(${removed.leadIds}::uuid[], ${removed.labelIds}::uuid[]) as r (lead_id, label_id)
        where l.workspace_id = ${workspaceId}
          and l.lead_id = r.lead_id
          and l.label_id = r.label_id`
    }
    if (added.leadIds.length > 0) {
      await tx`
        insert into lead_labels (workspace_id, lead_id, label_id)
        select ${workspaceId}::uuid, a.lead_id, a.label_id
        from unnest(${added.leadIds}::uuid[], ${added.labelIds}::uuid[]) as a (lead_id, label_id)
        on conflict do nothing`
    }
    await tx`
      insert into lead_label_changes (workspace_id, id, lead_id, added, removed, actor_type, actor_id, changed_at)
      select ${workspaceId}::uuid, c.id, c.lead_id, string_to_array(c.added, ',')::uuid[],
        string_to_array(c.removed, ',')::uuid[], ${actor.type}, ${actor.id}::uuid, ${now}::timestamptz
      from unnest(
        ${changes.map(() => newId(now))}::uuid[],
        ${changes.map(({ leadId }) => leadId)}::uuid[],
        ${changes.map((change) => change.added.join())}::text[],
        ${changes.map((change) => change.removed.join())}::text[]
      ) as c (id, lead_id, added, removed)`
  } catch (error) {
    throw violates(error, labelKey) ? unknownLabels(field) : error
  }
}

const labelKey = 'lead_labels_workspace_id_label_id_fkey'

export const unknownLabels = (field: string): ApiError => invalid(field, 'must be ids of labels of the workspace')

function pairs(changes: readonly LabelChange[], which: 'added' | 'removed') {
  const all = changes.flatMap((change) => change[which].map((labelId) => [change.leadId, labelId] as const))
  return { leadIds: all.map(([leadId]) => leadId), labelIds: all.map(([, labelId]) => labelId) }
}

export interface LabelChangeRow {
  id: string
  added: string[]
  removed: string[]
  actor_type: Actor['type']
  actor_id: string | null
  changed_at: Date
}

/** What was done to the labels of a lead, oldest first. */
export async function listLabelChanges(sql: Sql, workspaceId: string, leadId: string): Promise<LabelChangeRow[]> {
  return sql<LabelChangeRow[]>`
    select id, added, removed, actor_type, actor_id, changed_at
    from lead_label_changes
    where workspace_id = ${workspaceId}
      and lead_id = ${leadId}
    order by id
    limit 1000`
}
