import type { ChannelEvent, Delivered, Parsed } from '../channel-event.ts'
import type { StoredPartner } from '../connection/connection.ts'
import { type CallbackDeps, type Routed, readCallback, storeCallback } from '../store-callback.ts'
import { objectOf, textOf } from '../waba/json.ts'
import { parse } from '../waba/read/parse.ts'

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

const platform = 'whatsapp_business_account'

/**
 * Reads one callback of a partner: the official platform's envelope, the partner's own `{ id, event, data }` around one
 * change, or the bare lists of the older interface. All three hold what the official platform sends.
 */
export function parsePartner(payload: unknown, now: Date): Parsed {
  const whole = objectOf(payload)
  if (whole.object !== undefined) return parse(payload, now)
  const event = textOf(whole.event)
  if (event !== null) return parse(envelope(objectOf(whole.data).id, event, whole.data), now)
  return parse(envelope(null, 'messages', payload), now)
}

const envelope = (id: unknown, field: string, value: unknown) => ({
  object: platform,
  entry: [{ id, changes: [{ field, value }] }],
})
