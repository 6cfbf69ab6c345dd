import type { Keyring } from '../../base/encryption/keyring.ts'
import { createMask, maskNumbersIn } from '../../base/phone/mask.ts'
import type { Message } from '../conversation/message.ts'

/** Returns the contact as a masked viewer sees it. A name that contains the number becomes null. */
export function maskContact<C extends { name: string | null; phone: string | null }>(contact: C): C {
  const mask = createMask(contact.phone)
  return { ...contact, name: contact.name === null ? null : mask.text(contact.name), phone: mask.phone }
}

// What people write stays unmasked; platform notices (`system`) name numbers.
export const presentText = ({ kind, text }: Pick<Message, 'kind' | 'text'>, masked: boolean): string =>
  masked && kind === 'system' ? maskNumbersIn(text) : text

/** Returns an opaque, stable id to masked viewers: the platform's ids contain the customer's number. */
export function presentExternalId(
  connectionId: string,
  externalId: string | null,
  { keyring, masked }: { keyring: Keyring; masked: boolean },
): string {
  if (externalId === null) return ''
  return masked ? opaqueId(keyring, connectionId, externalId) : externalId
}

function opaqueId(keyring: Keyring, connectionId: string, externalId: string): string {
  return `masked_${keyring.stable('inbox.external.opaque', `${connectionId} ${externalId}`).toString('base64url')}`
}

/** Masks the payload of `inbox.message.received` by the same rule as every other output. */
export function maskMessageReceived(payload: Record<string, unknown>, keyring: Keyring) {
  const received = payload as unknown as ReceivedPayload
  const { conversation, contact, message } = received
  return {
    ...received,
    contact: maskContact(contact),
    message: {
      ...message,
      external_id: presentExternalId(conversation.connection_id, message.external_id, { keyring, masked: true }),
      text: presentText(message, true),
    },
  }
}

/** Masks the payload of `conversation.note_added`, which can quote a number. */
export function maskNoteAdded(payload: Record<string, unknown>): Record<string, unknown> {
  const note = payload.note as { text: string }
  return { ...payload, note: { ...note, text: maskNumbersIn(note.text) } }
}

/** Masks the payload of `task.due`, whose title can name a number. */
export function maskTaskDue(payload: Record<string, unknown>): Record<string, unknown> {
  const task = payload.task as { title: string }
  return { ...payload, task: { ...task, title: maskNumbersIn(task.title) } }
}

interface ReceivedPayload {
  conversation: { connection_id: string }
  contact: { phone: string | null; name: string | null }
  message: Pick<Message, 'kind' | 'text'> & { external_id: string | null }
}

/** Masks the payload of `inbox.draft.decided`: the reason is a note of the team, which can quote a number. */
export function maskDraftDecided(payload: Record<string, unknown>): Record<string, unknown> {
  const { reason } = payload
  return { ...payload, reason: typeof reason === 'string' ? maskNumbersIn(reason) : null }
}
