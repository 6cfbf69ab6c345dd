import type { Tx } from '../base/db.ts'
import { createStep, type ErasureScope, type ErasureStep } from '../base/erasure.ts'
import { newId } from '../base/id.ts'
import { unnested } from '../base/postgres/rows.ts'

const batchSize = 500

/**
 * Separates what was counted of an erased customer from their conversations and leads: the ids are replaced by new ones,
 * so that the numbers of the past stay as they were.
 */
export async function eraseFacts(tx: Tx, { workspaceId, customer, now }: ErasureScope): Promise<ErasureStep> {
  // A process that has read the customer's records, and not yet stored what it counts of them, stores nothing.
  await tx`
    update report_queues
    set version = version + 1
    where workspace_id = ${workspaceId}`
  await tx`
    delete from report_leads
    where workspace_id = ${workspaceId}
      and lead_id = any (${[...customer.leadIds]}::uuid[])`
  const ids = [...customer.conversationIds, ...customer.mergedIds, ...customer.leadIds]
  const rows = await tx<{ kind: string; id: string }[]>`
    select kind, id
    from report_facts
    where workspace_id = ${workspaceId}
      and subject_id = any (${ids}::uuid[])
    limit ${batchSize}
    for update`
  if (rows.length === 0) return createStep({}, false)
  const renamed = rows.map((row) => ({ ...row, newId: newId(now), newSubjectId: newId(now) }))
  await tx`
    update report_facts f
    set id = n.new_id, subject_id = n.new_subject_id
    from ${unnested(renamed, { text: ['kind'], uuid: ['id', 'newId', 'newSubjectId'] })}
    where f.workspace_id = ${workspaceId}
      and f.kind = n.kind
      and f.id = n.id`
  return createStep({}, rows.length === batchSize)
}
