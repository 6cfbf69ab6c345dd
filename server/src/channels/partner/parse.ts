import type { Parsed } from '../channel-event.ts'
import { objectOf, textOf } from '../waba/json.ts'
import { parse } from '../waba/read/parse.ts'

const platform = 'whatsapp_business_account'

/**
 * Reads one callback of a partner: the official platform's envelope, the partner's own `{ id, event, data }` around one
 * change, or the bare lists of the older interface. All three hold what the official platform tells.
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
