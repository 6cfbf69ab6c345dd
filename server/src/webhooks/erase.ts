import type { Tx } from '../base/db.ts'
import type { RemovedCounts } from '../base/erasure.ts'

/**
 * Deletes deliveries of the events at these positions: cancels pending sends, and deletes the first bytes of responses,
 * which can repeat the payload.
 */
export async function eraseDeliveries(
  tx: Tx,
  workspaceId: string,
  positions: readonly number[],
): Promise<RemovedCounts> {
  const erased = await tx`
    delete from webhook_deliveries
    where workspace_id = ${workspaceId}
      and endpoint_id = any (array(
        select id
        from webhook_endpoints
        where workspace_id = ${workspaceId}
      ))
      and position = any (${[...positions]}::bigint[])`
  return { deliveries: erased.count }
}
