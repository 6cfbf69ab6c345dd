import type { Tx } from '../../base/db.ts'

/** A connection was paired anew: whoever confirmed its risk did so for another pairing. */
export async function voidAcknowledgement(tx: Tx, workspaceId: string, connectionId: string, now: Date): Promise<void> {
  await tx`
    update connections
    set acknowledged_at = null,
      acknowledged_by = null,
      updated_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${connectionId}`
}
