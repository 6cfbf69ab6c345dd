import { maskNumbersIn } from '../../base/phone/mask.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Conversation } from '../conversation/conversation.ts'
import type { Message } from '../conversation/message.ts'
import { writeOwner } from '../conversation/owner.ts'
import { openWindow } from '../conversation/window.ts'
import { maskContact } from './masking.ts'

/** How a reader sees the inbox. */
export interface View {
  keyring: Keyring
  /** Whether phones are hidden. */
  masked: boolean
  now: Date
}

export function presentConversation(conversation: Conversation, { masked, now }: View) {
  const { name, phone } = masked ? maskContact(conversation.contact) : conversation.contact
  return {
    id: conversation.id,
    connection_id: conversation.connectionId,
    channel: conversation.channel,
    owner: writeOwner(conversation.owner),
    status: conversation.status,
    assigned_to_user_id: conversation.assignedTo,
    label_ids: conversation.labelIds,
    unread_count: conversation.unreadCount,
    window_expires_at: openWindow(conversation.windowExpiresAt, now)?.toISOString() ?? null,
    snoozed_until: conversation.snoozedUntil?.toISOString() ?? null,
    last_message_at: conversation.lastMessageAt.toISOString(),
    updated_at: conversation.updatedAt.toISOString(),
    contact: { name, phone },
  }
}

export function presentMessage(message: Message, view: View) {
  return {
    id: message.id,
    external_id: presentExternalId(message.connectionId, message.externalId, view),
    direction: message.direction,
    kind: message.kind,
    text: presentText(message, view.masked),
    media: null,
    status: message.status,
    error_code: message.errorCode,
    actor: message.actor,
    occurred_at: message.occurredAt.toISOString(),
    referral: message.referral,
  }
}

// What people write is content and stays; a notice of the platform names numbers.
const presentText = ({ kind, text }: Pick<Message, 'kind' | 'text'>, masked: boolean): string =>
  masked && kind === 'system' ? maskNumbersIn(text) : text

/** The platform's ids hold the customer's number: a masked reader gets one that is as stable and tells nothing. */
export function presentExternalId(
  connectionId: string,
  externalId: string | null,
  { keyring, masked }: Pick<View, 'keyring' | 'masked'>,
): string {
  if (externalId === null) return ''
  return masked ? opaqueId(keyring, connectionId, externalId) : externalId
}

function opaqueId(keyring: Keyring, connectionId: string, externalId: string): string {
  return `masked_${keyring.stable('inbox.external.opaque', `${connectionId} ${externalId}`).toString('base64url')}`
}

/** The payload of `inbox.message.received` as a masked reader sees it, by the one rule that every output follows. */
export function maskReceived(payload: Record<string, unknown>, keyring: Keyring) {
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
