import type { NewEvent } from '../../events/record.ts'
import type { Actor } from '../../workspace/actor.ts'
import type { Conversation } from './conversation.ts'
import { openWindow } from './conversation-state.ts'
import type { Message } from './message.ts'
import { writeOwner } from './owner.ts'
import type { Rung } from './status-ladder.ts'

/** What is said of each stands in `inbox/api/inbox-event-catalogue.ts`. */
export type InboxEventName =
  | 'inbox.message.received'
  | 'inbox.message.sent'
  | 'inbox.message.status'
  | 'inbox.conversation.owner_changed'

// Payloads carry phones and the platform's ids in full; each receiver's own visibility is applied when they go out.

export function messageReceived(conversation: Conversation, message: Message, now: Date): NewEvent {
  const { name, phone } = conversation.contact
  const payload = {
    conversation: {
      ...about(conversation),
      status: conversation.status,
      window_expires_at: openWindow(conversation.windowExpiresAt, now)?.toISOString() ?? null,
    },
    contact: { phone, name },
    message: {
      id: message.id,
      external_id: message.externalId,
      kind: message.kind,
      text: message.text,
      media: null,
      occurred_at: message.occurredAt.toISOString(),
    },
    referral: message.referral,
  }
  return news('inbox.message.received', conversation, payload)
}

export function messageSent(conversation: ConversationRef, message: Message): NewEvent {
  const { id, kind, text, status, occurredAt, actor } = message
  const payload = {
    conversation: about(conversation),
    message: { id, kind, text, status, occurred_at: occurredAt.toISOString() },
    actor,
  }
  return news('inbox.message.sent', conversation, payload)
}

export function messageStatusChanged(
  conversation: Pick<Conversation, 'id' | 'connectionId'>,
  messageId: string,
  rung: Rung,
  at: Date,
): NewEvent {
  const payload = {
    conversation_id: conversation.id,
    message_id: messageId,
    status: rung.status,
    error_code: rung.errorCode,
    at: at.toISOString(),
  }
  return news('inbox.message.status', conversation, payload)
}

export function ownerChanged(
  conversation: Pick<Conversation, 'id' | 'connectionId' | 'owner'>,
  actor: Actor,
  at: Date,
  handoverId: string | null = null,
): NewEvent {
  const { id, owner } = conversation
  const handed = handoverId === null ? {} : { handover_id: handoverId }
  const payload = { conversation_id: id, owner: writeOwner(owner), actor, at: at.toISOString(), ...handed }
  return news('inbox.conversation.owner_changed', conversation, payload)
}

function news(
  name: InboxEventName,
  { id, connectionId }: Pick<Conversation, 'id' | 'connectionId'>,
  payload: object,
): NewEvent {
  return { name, subjectId: id, connectionId, payload }
}

type ConversationRef = Pick<Conversation, 'id' | 'connectionId' | 'channel' | 'owner'>

function about({ id, connectionId, channel, owner }: ConversationRef) {
  return { id, connection_id: connectionId, channel, owner: writeOwner(owner) }
}
