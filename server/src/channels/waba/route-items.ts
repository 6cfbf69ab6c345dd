import type { ChannelEvent, Delivered } from '../channel-event.ts'
import type { StoredConnection, StoredWaba } from '../connection/connection.ts'
import type { Routed } from '../store-callback.ts'

/** Gives each item to the connection of its number, or to every connection of its account. */
export function routeItems(connections: readonly StoredWaba[], items: readonly Delivered[]): Routed {
  const deliveries = new Map<StoredConnection, ChannelEvent[]>()
  let strays = 0
  for (const { numberId, accountId, event } of items) {
    const receivers = connections.filter((one) =>
      numberId === null ? accountId !== null && one.accountId === accountId : one.numberId === numberId,
    )
    if (receivers.length === 0) strays++
    for (const receiver of receivers) {
      const events = deliveries.get(receiver)
      if (events === undefined) deliveries.set(receiver, [event])
      else events.push(event)
    }
  }
  return { deliveries, strays }
}
