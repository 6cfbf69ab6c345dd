import type { Keyring } from '../../base/encryption/keyring.ts'
import { maskNumbersIn, maskOf } from '../../base/phone/mask.ts'
import type { Message } from '../conversation/message.ts'

/** What a masked reader sees of the customer. A name that shows the number is no name. */
export function maskContact<C extends { name: string | null; phone: string | null }>(contact: C): C {
  const mask = maskOf(contact.phone)
  return { ...contact, name: contact.name === null ? null : mask.text(contact.name), phone: mask.phone }
}

// What people write is content and stays; a notice of the platform names numbers.
export const presentText = ({ kind, text }: Pick<Message, 'kind' | 'text'>, masked: boolean): string =>
  masked && kind === 'system' ? maskNumbersIn(text) : text

/** The platform's ids hold the customer's number: a masked reader gets one that is as stable and tells nothing. */
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

/** The payload of `inbox.message.received` as a masked reader sees it, by the one rule that every output follows. */
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

interface ReceivedPayload {
  conversation: { connection_id: string }
  contact: { phone: string | null; name: string | null }
  message: Pick<Message, 'kind' | 'text'> & { external_id: string | null }
}
