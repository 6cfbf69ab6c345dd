import type { ChannelEvent, Delivered } from '../channel-event.ts'
import type { StoredWaba } from '../connection.ts'

export interface Routed {
  /** What each connection is told, in the platform's order. */
  deliveries: Map<StoredWaba, ChannelEvent[]>
  /** Items of numbers and accounts that none of the connections is for. */
  strays: number
}

/** Gives each item to the connection of its number, or to every connection of its account. */
export function routeItems(connections: readonly StoredWaba[], items: readonly Delivered[]): Routed {
  const deliveries = new Map<StoredWaba, ChannelEvent[]>()
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
