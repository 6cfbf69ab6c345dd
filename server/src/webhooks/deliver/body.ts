import type { Keyring } from '../../base/sealing/keyring.ts'
import { faceOf } from '../../events/catalogue.ts'
import type { PresentPayload } from '../../events/feed.ts'
import type { Delivery } from './delivery.ts'

/** The bytes that are sent, the same for each attempt: lead events bare, inbox events wrapped in their name. */
export function bodyOf(
  keyring: Keyring,
  { eventId, name, payload }: Pick<Delivery, 'eventId' | 'name'> & { payload: Buffer },
  masked: boolean,
  present: PresentPayload,
): string {
  const recorded = keyring.openText({ table: 'events', row: eventId, column: 'payload' }, payload)
  // What nobody has to change need not be parsed.
  const shown = masked ? JSON.stringify(present(name, JSON.parse(recorded), { keyring, masked })) : recorded
  return faceOf(name) === 'leads' ? shown : `{"event":${JSON.stringify(name)},"payload":${shown}}`
}
