import { announce, type Tx } from '../../base/db.ts'
import { type AuditEntry, recordAudit } from '../../team/audit.ts'
import { type Endpoint, markDisabled, type StateReason } from './endpoint.ts'
import { cancelQueue, dueTopic } from './queue-queries.ts'
import { closeReplays } from './replay.ts'

/** Lets nothing more go to an endpoint, and cancels what waits. Returns false when it is disabled already. */
export async function disableEndpoint(
  tx: Tx,
  { workspaceId, id }: Pick<Endpoint, 'workspaceId' | 'id'>,
  reason: StateReason,
  actor: AuditEntry['actor'],
  now: Date,
): Promise<boolean> {
  if (!(await markDisabled(tx, workspaceId, id, reason, now))) return false
  await cancelWaiting(tx, workspaceId, id, now)
  await recordAudit(tx, { scopeId: workspaceId, actor, action: 'webhook.disabled', target: `webhook:${id}` }, now)
  announce(tx, dueTopic, workspaceId)
  return true
}

/** What waits for an endpoint, and the work of its open replays, will never be sent. */
export async function cancelWaiting(tx: Tx, workspaceId: string, id: string, now: Date): Promise<void> {
  await cancelQueue(tx, workspaceId, id)
  await closeReplays(tx, workspaceId, id, now)
}
