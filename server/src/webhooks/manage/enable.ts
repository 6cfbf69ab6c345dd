import type { Tx } from '../../base/db.ts'
import { invalid } from '../../base/errors.ts'
import { keptMs } from '../../events/retention.ts'
import type { Member } from '../../team/member.ts'
import { alreadyActive } from '../endpoint/errors.ts'
import { restartQueue } from '../endpoint/queue-queries.ts'
import { openReplay } from '../endpoint/replay.ts'
import { endOfFeed, lockEndpoint, noteChange } from './change.ts'
import type { WebhookDeps } from './deps.ts'

/**
 * Lets events go to a disabled endpoint again: those that come from now on, and with `sendSince` those of the time
 * since then that it has not taken. Does nothing to an active endpoint.
 */
export async function enableEndpoint(
  deps: WebhookDeps,
  member: Member,
  id: string,
  sendSince: Date | null,
): Promise<void> {
  const { workspaceId } = member
  const now = deps.clock.now()
  if (sendSince !== null) refuseOutside('sendSince', sendSince, now)
  await deps.sequencer.place(workspaceId)
  await deps.db.tx(async (tx) => {
    const position = await endOfFeed(tx, workspaceId)
    const endpoint = await lockEndpoint(tx, workspaceId, id)
    if (endpoint.state === 'active') {
      if (sendSince !== null) throw alreadyActive()
      return
    }
    await setActive(tx, workspaceId, id, position, now)
    if (sendSince !== null) {
      const receiver = { workspaceId, id, phoneVisibility: endpoint.phone_visibility }
      await openReplay(tx, receiver, { from: sendSince, to: now, scope: 'undelivered' }, now)
    }
    await noteChange(tx, member, 'webhook.enabled', id, now)
  })
}

/** Refuses a time that is still to come, or of which nothing is kept. */
export function refuseOutside(field: string, time: Date, now: Date): void {
  if (time > now) throw invalid(field, 'must not be in the future')
  if (time.getTime() < now.getTime() - keptMs)
    throw invalid(field, 'must be within the last 30 days: events are kept so long')
}

async function setActive(tx: Tx, workspaceId: string, id: string, position: number, now: Date): Promise<void> {
  await tx`
    update webhook_endpoints
    set state = 'active',
      state_reason = null,
      state_changed_at = ${now},
      updated_at = ${now}
    where workspace_id = ${workspaceId}
      and id = ${id}`
  await restartQueue(tx, workspaceId, id, position)
}
