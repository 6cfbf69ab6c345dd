import type { Keyring } from '../../base/encryption/keyring.ts'
import { openWindow, windowOf } from '../conversation/conversation-state.ts'
import { writeOwner } from '../conversation/owner.ts'
import type { ConversationListItem } from '../read/conversation-list-item.ts'
import type { MessageView } from '../read/read-messages.ts'
import { maskContact, presentExternalId, presentText } from './masking.ts'

/** Viewer-dependent settings of the presenters. */
export interface ViewerContext {
  keyring: Keyring
  masked: boolean
  now: Date
}

export function presentConversation(conversation: ConversationListItem, { masked, now }: ViewerContext) {
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
    window_expires_at: openWindow(windowOf(conversation), now)?.toISOString() ?? null,
    snoozed_until: conversation.snoozedUntil?.toISOString() ?? null,
    last_message_at: conversation.lastMessageAt.toISOString(),
    updated_at: conversation.updatedAt.toISOString(),
    contact: { name, phone },
  }
}

export function presentMessage(message: Omit<MessageView, 'origin'>, view: ViewerContext) {
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
