import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { ChannelEvent } from '../../channels/channel-event.ts'
import { receiveStatuses } from './delivery-statuses.ts'
import { type CustomerEvent, sortDelivery } from './group-events.ts'
import { isPermanentError } from './permanent-errors.ts'
import { applyEvents } from './receive-events.ts'
import type { ReceiveDeps, Receiver } from './receiver.ts'
import { withoutRace } from './without-race.ts'

/**
 * Takes in what a platform told of one connection. Resolves once everything is committed, so that the delivery may be
 * acknowledged; throws when the database is away, so that it must come again. A repeat changes nothing. An item that
 * cannot be stored, now or ever, is logged and passed over: it must not hold up the others of its delivery.
 */
export async function receive(deps: ReceiveDeps, receiver: Receiver, events: readonly ChannelEvent[]): Promise<void> {
  const { customers, statuses, connection } = sortDelivery(events)
  const failures: unknown[] = []
  const attempt = async (work: () => Promise<void>) => work().catch((error: unknown) => failures.push(error))
  for (const group of customers) await attempt(() => receiveGroup(deps, receiver, group))
  await attempt(() => receiveStatuses(deps, receiver, statuses))
  for (const event of connection) await attempt(() => deps.connectionTold(receiver, event))
  if (failures.length > 0) throw failures[0]
}

async function receiveGroup(deps: ReceiveDeps, receiver: Receiver, group: CustomerEvent[]): Promise<void> {
  try {
    await receiveTogether(deps, receiver, group)
  } catch (error) {
    if (!isPermanentError(error)) throw error
    if (group.length > 1) {
      for (const event of group) await receiveGroup(deps, receiver, [event])
      return
    }
    const fields = { workspaceId: receiver.workspaceId, connectionId: receiver.id, code: group[0]?.type }
    deps.log.error('inbound item passed over', fields, error)
  }
}

async function receiveTogether(deps: ReceiveDeps, receiver: Receiver, group: CustomerEvent[]): Promise<void> {
  const work = (keyring: Keyring) =>
    withoutRace(() => deps.db.tx((tx: Tx) => applyEvents(tx, { keyring, receiver, now: deps.clock.now() }, group)))
  const wrote = await deps.vault.withKeyring(receiver.workspaceId, work)
  for (const writer of wrote) await deps.customerWrote(receiver, writer)
}
