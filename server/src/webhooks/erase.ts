import type { Tx } from '../base/db.ts'
import type { Removed } from '../base/erasure.ts'

/**
 * Erases what became, or was to become, of the events at these positions: nothing of them is sent any more, and the first bytes
 * of receivers' answers go, which may repeat what they were sent.
 */
export async function eraseDeliveries(tx: Tx, workspaceId: string, positions: readonly number[]): Promise<Removed> {
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
