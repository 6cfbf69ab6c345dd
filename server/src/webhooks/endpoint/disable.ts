import { publish, type Tx } from '../../base/db.ts'
import { type AuditEntry, recordAudit } from '../../team/audit.ts'
import { type EndpointKey, type StateReason, setEndpointState } from './endpoint.ts'
import { cancelQueue, dueTopic } from './queue-queries.ts'
import { finishReplays } from './replay.ts'

/** Disables an endpoint and cancels its pending deliveries. Returns false if it is disabled already. */
export async function disableEndpoint(
  tx: Tx,
  one: EndpointKey,
  reason: StateReason,
  actor: AuditEntry['actor'],
  now: Date,
): Promise<boolean> {
  if (!(await setEndpointState(tx, one, reason, now))) return false
  await cancelWaiting(tx, one, now)
  const entry = { scopeId: one.workspaceId, actor, action: 'webhook.disabled', target: `webhook:${one.id}` }
  await recordAudit(tx, entry, now)
  publish(tx, dueTopic, one.workspaceId)
  return true
}

/** Cancels pending deliveries and open replays of an endpoint. */
export async function cancelWaiting(tx: Tx, one: EndpointKey, now: Date): Promise<void> {
  await cancelQueue(tx, one)
  await finishReplays(tx, one, now)
}
