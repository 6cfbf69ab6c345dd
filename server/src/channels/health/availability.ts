import type { Tx } from '../../base/db.ts'
import { announceConnection } from '../../team/team-news.ts'

/**
 * Marks a connection as one that cannot send, for a reason of the form `platform_error_190` or `partner_removed`.
 * One that a member has paused stays paused.
 */
export async function markUnavailable(
  tx: Tx,
  workspaceId: string,
  connectionId: string,
  reason: string,
  now: Date,
): Promise<boolean> {
  const { count } = await tx`
    update connections
    set state = 'unavailable',
      state_reason = ${reason},
      state_changed_at = ${now},
      updated_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${connectionId}
      and state = 'active'
      and removed_at is null`
  if (count > 0) announceConnection(tx, workspaceId, connectionId)
  return count > 0
}

/** Lets an unavailable connection send again. */
export async function markAvailable(tx: Tx, workspaceId: string, connectionId: string, now: Date): Promise<boolean> {
  const { count } = await tx`
    update connections
    set state = 'active',
      state_reason = null,
      state_changed_at = ${now},
      updated_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${connectionId}
      and state = 'unavailable'
      and removed_at is null`
  if (count > 0) announceConnection(tx, workspaceId, connectionId)
  return count > 0
}
