import type { Keyring } from '../../base/sealing/keyring.ts'
import type { PresentPayload } from '../../events/feed.ts'
import { type EventName, faceOf } from '../../events/record.ts'

/** The bytes that are sent, the same for each attempt: lead events bare, inbox events wrapped in their name. */
export function requestBody(
  keyring: Keyring,
  { eventId, name, payload }: { eventId: string; name: EventName; payload: Buffer },
  masked: boolean,
  present: PresentPayload,
): string {
  const recorded = keyring.openText({ table: 'events', row: eventId, column: 'payload' }, payload)
  // What nobody has to change need not be parsed.
  const shown = masked ? JSON.stringify(present(name, JSON.parse(recorded), { keyring, masked })) : recorded
  return faceOf(name) === 'leads' ? shown : `{"event":${JSON.stringify(name)},"payload":${shown}}`
}

/** An attempt, by its delivery and its number. */
export interface AttemptKey {
  endpointId: string
  position: number
  number: number
}

/**
 * Seals the first bytes of an answer. They belong to the attempt, wherever it is kept: with its delivery when it was
 * taken, and among the attempts once the event is sent again.
 */
export function sealAnswer(keyring: Keyring, attempt: AttemptKey, answer: Uint8Array): Buffer {
  return keyring.seal(answerPlace(attempt), answer)
}

export function openAnswer(keyring: Keyring, attempt: AttemptKey, sealed: Buffer): string {
  return keyring.open(answerPlace(attempt), sealed).toString('utf8')
}

export const answerPlace = ({ endpointId, position, number }: AttemptKey) => ({
  table: 'webhook_attempts',
  row: `${endpointId}/${position}/${number}`,
  column: 'answer',
})
