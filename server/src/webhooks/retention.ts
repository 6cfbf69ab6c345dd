import type { Db, Sql, Tx } from '../base/db.ts'
import { retentionMs } from '../events/retention.ts'

const batchSize = 1000
/** Milliseconds after which requests that were in flight at the removal have ended. */
const removedForMs = 3_600_000

/**
 * Deletes deliveries of events older than 30 days, and all data of removed endpoints. Keeps pending deliveries of
 * active endpoints. Any number of workers can run it. Returns how many deliveries it deleted.
 */
export async function deleteOldWebhookLog(db: Db, now: Date): Promise<number> {
  let removed = 0
  for (const endpoint of await listEndpoints(db.sql)) {
    const isSettled = endpoint.removedAt !== null && endpoint.removedAt.getTime() < now.getTime() - removedForMs
    const before = isSettled ? now : new Date(now.getTime() - retentionMs)
    removed += await deleteOldDeliveries(db, endpoint, before)
    await db.tx((tx) => (isSettled ? deleteEndpoint(tx, endpoint) : deleteReplays(tx, endpoint, before)))
  }
  return removed
}

interface RetainedEndpoint {
  workspaceId: string
  endpointId: string
  removedAt: Date | null
}

async function listEndpoints(sql: Sql): Promise<RetainedEndpoint[]> {
  return sql<RetainedEndpoint[]>`
    select workspace_id as "workspaceId", id as "endpointId", removed_at as "removedAt"
    from webhook_endpoints`
}

// Positions follow the time closely, so it stops at the first batch without old events.
async function deleteOldDeliveries(db: Db, endpoint: RetainedEndpoint, before: Date): Promise<number> {
  let removed = 0
  let after = 0
  for (;;) {
    const batch = await db.tx((tx) => deleteOldBatch(tx, endpoint, before, after))
    removed += batch.removed
    if (batch.last === null || batch.old === 0) return removed
    after = batch.last
  }
}

async function deleteOldBatch(tx: Tx, { workspaceId, endpointId }: RetainedEndpoint, before: Date, after: number) {
  const [batch] = await tx<{ last: number | null; old: number; removed: number }[]>`
    with batch as materialized (
      select d.position, d.occurred_at < ${before} as is_old,
        d.state = 'pending' and d.generation = q.generation and w.state = 'active' as is_due
      from webhook_deliveries d
      join webhook_queues q on q.workspace_id = d.workspace_id and q.endpoint_id = d.endpoint_id
      join webhook_endpoints w on w.workspace_id = d.workspace_id and w.id = d.endpoint_id
      where d.workspace_id = ${workspaceId}
        and d.endpoint_id = ${endpointId}
        and d.position > ${after}
      order by d.position
      limit ${batchSize}
    ), removed as (
      delete from webhook_deliveries d
      using batch b
      where d.workspace_id = ${workspaceId}
        and d.endpoint_id = ${endpointId}
        and d.position = b.position
        and b.is_old
        and not b.is_due
      returning 1
    )
    select max(position) as last,
      (count(*) filter (where is_old))::integer as old,
      (select count(*)::integer from removed) as removed
    from batch`
  return batch ?? { last: null, old: 0, removed: 0 }
}

const deleteReplays = (tx: Tx, { workspaceId, endpointId }: RetainedEndpoint, before: Date) => tx`
  delete from webhook_replays
  where workspace_id = ${workspaceId}
    and endpoint_id = ${endpointId}
    and finished_at < ${before}`

const deleteEndpoint = (tx: Tx, { workspaceId, endpointId }: RetainedEndpoint) => tx`
  delete from webhook_endpoints
  where workspace_id = ${workspaceId}
    and id = ${endpointId}
    and removed_at is not null`
