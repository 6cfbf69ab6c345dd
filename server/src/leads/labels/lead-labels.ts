import { Type } from 'typebox'
import { type Sql, violates } from '../../base/db.ts'
import { type ApiError, invalid } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { publishLeadLabels } from '../../team/live-updates.ts'
import type { TeamApi } from '../../team/team-api.ts'
import { closed } from '../../team/team-schema.ts'
import { leadsPath, leadUserOfMember, ofLead } from '../api/lead-request.ts'
import { findLead } from '../lead/find-lead.ts'
import { type AuthoredChange, changeColumns } from '../lead/history.ts'
import { type LeadDeps, type LeadTx, leadNotFound } from '../lead/lead.ts'
import { hiddenWorkspaceId, lockLead, recountLeads } from '../lead/queries.ts'
import { labelIds } from '../lead/schema.ts'

export const maxLabels = 20

export interface LabelChange {
  leadId: string
  added: string[]
  removed: string[]
}

/** Returns the label ids of these leads; leads without labels are missing in the result. */
export async function readLabels(
  sql: Sql,
  workspaceId: string,
  leadIds: readonly string[],
): Promise<Map<string, string[]>> {
  if (leadIds.length === 0) return new Map()
  const rows = await sql<{ lead_id: string; label_ids: string[] }[]>`
    select lead_id, array_agg(label_id) as label_ids
    from lead_labels
    where workspace_id = ${hiddenWorkspaceId(sql, workspaceId)}
      and lead_id = any ((select ${[...leadIds]}::uuid[])::uuid[])
    group by lead_id`
  return new Map(rows.map((row) => [row.lead_id, row.label_ids]))
}

/** Adds and removes labels of locked leads and records the author. Throws 400 if a label was deleted meanwhile. */
export async function writeLabels(
  { tx, user: { workspaceId, actor }, now }: LeadTx,
  changes: readonly LabelChange[],
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
    await recountLeads(tx, workspaceId, [...new Set(changes.map(({ leadId }) => leadId))])
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

/** Returns the label changes of a lead, oldest first, at most 1,000. */
export async function listLabelChanges(sql: Sql, workspaceId: string, leadId: string) {
  return sql<(AuthoredChange & Omit<LabelChange, 'leadId'>)[]>`
    select ${changeColumns(sql)}, added, removed
    from lead_label_changes
    where workspace_id = ${workspaceId}
      and lead_id = ${leadId}
    order by id
    limit 1000`
}

export interface LabelRequest {
  add: readonly string[]
  remove: readonly string[]
}

/** Returns the change for a lead with the labels `has`; null if it would have more than 20. */
export function requestedChange(
  leadId: string,
  has: readonly string[],
  { add, remove }: LabelRequest,
): LabelChange | null {
  const added = add.filter((id) => !has.includes(id))
  const removed = remove.filter((id) => has.includes(id))
  return has.length + added.length - removed.length > maxLabels ? null : { leadId, added, removed }
}

/** Returns the reverse of a change as far as it still applies, and whether that is all of it. */
export function reverseChange(
  { leadId, added, removed }: LabelChange,
  has: readonly string[],
  known: ReadonlySet<string>,
): { change: LabelChange; isComplete: boolean } {
  const freeSlots = maxLabels - has.filter((id) => !added.includes(id)).length
  const change = {
    leadId,
    added: removed.filter((id) => !has.includes(id) && known.has(id)).slice(0, Math.max(0, freeSlots)),
    removed: added.filter((id) => has.includes(id)),
  }
  return { change, isComplete: change.added.length === removed.length && change.removed.length === added.length }
}

export const isEmptyChange = ({ added, removed }: LabelChange): boolean => added.length + removed.length === 0

const LeadLabels = Type.Object({ labelIds: labelIds('All labels of the lead; replaces the current ones.') }, closed)

export function labelRoutes(api: TeamApi, deps: LeadDeps): void {
  api.put(`${leadsPath}/:identifier/labels`, 'member', {
    operationId: 'setLeadLabels',
    summary: 'Set the labels of a lead',
    description:
      'At most 20 labels of the workspace. Labels are visible to the team only: changes emit no event and do not change `updatedAt`. The history records who changed them.',
    ...ofLead,
    body: LeadLabels,
    answers: { 200: LeadLabels },
    run: async ({ member, params, body }) => {
      const wanted = [...new Set(body.labelIds.map((id) => id.toLowerCase()))]
      const user = leadUserOfMember(member)
      const { workspaceId, actor } = user
      const keyring = await deps.keyStore.keyring(workspaceId)
      await deps.db.tx(async (tx) => {
        const { id } = await findLead(tx, keyring, user, params.identifier)
        if ((await lockLead(tx, workspaceId, id)) === undefined) throw leadNotFound()
        const has = (await readLabels(tx, workspaceId, [id])).get(id) ?? []
        const added = wanted.filter((one) => !has.includes(one))
        const removed = has.filter((one) => !wanted.includes(one))
        const change = { leadId: id, added, removed }
        if (isEmptyChange(change)) return
        const now = deps.clock.now()
        await writeLabels({ tx, keyring, user, now }, [change], 'labelIds')
        await deps.sequences?.labelsAdded(tx, workspaceId, [change], actor, now)
        publishLeadLabels(tx, workspaceId, id)
      })
      return { labelIds: wanted }
    },
  })
}
