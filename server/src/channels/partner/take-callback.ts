import type { ChannelEvent, Delivered } from '../channel-event.ts'
import type { StoredPartner } from '../connection/connection.ts'
import { type CallbackDeps, type Routed, readCallback, storeCallback } from '../store-callback.ts'
import { parsePartner } from './parse.ts'

/** Takes one callback that is known to be the partner's; resolves once all of it is committed, else throws 503. */
export async function takePartnerCallback(deps: CallbackDeps, called: StoredPartner, body: Buffer): Promise<void> {
  const parsed = readCallback(body, deps.clock.now(), parsePartner)
  await storeCallback(deps, called, parsed, routeTo(called, parsed.items))
}

// A callback is registered for one number, with a token of its own: what it shows proves nothing for any other.
function routeTo(called: StoredPartner, items: readonly Delivered[]): Routed {
  const own = items.filter(({ numberId }) => numberId === null || numberId === called.numberId)
  const events: ChannelEvent[] = own.map(({ event }) => event)
  return { deliveries: new Map(events.length === 0 ? [] : [[called, events]]), strays: items.length - own.length }
}
