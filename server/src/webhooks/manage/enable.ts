import { invalid } from '../../base/errors.ts'
import { keptMs } from '../../events/retention.ts'
import type { Member } from '../../team/member.ts'
import { lockEndpoint, markActive } from '../endpoint/endpoint.ts'
import { alreadyActive } from '../endpoint/errors.ts'
import { restartQueue } from '../endpoint/queue-queries.ts'
import { openReplay } from '../endpoint/replay.ts'
import { endOfFeed, noteChange } from './change.ts'
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
    await markActive(tx, workspaceId, id, now)
    await restartQueue(tx, workspaceId, id, position)
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
