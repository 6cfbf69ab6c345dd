import type { Conversation } from './conversation.ts'
import type { Message } from './message.ts'
import type { Note } from './notes.ts'
import { writeOwner } from './owner.ts'
import { openWindow } from './window.ts'

export function presentTeamConversation(conversation: Conversation, now: Date) {
  const { contact } = conversation
  return {
    id: conversation.id,
    connectionId: conversation.connectionId,
    channel: conversation.channel,
    owner: writeOwner(conversation.owner),
    ownerSince: conversation.ownerSince.toISOString(),
    status: conversation.status,
    snoozedUntil: conversation.snoozedUntil?.toISOString() ?? null,
    assignedTo: conversation.assignedTo,
    labelIds: conversation.labelIds,
    unreadCount: conversation.unreadCount,
    windowExpiresAt: openWindow(conversation.windowExpiresAt, now)?.toISOString() ?? null,
    lastMessageAt: conversation.lastMessageAt.toISOString(),
    unansweredSince: conversation.unansweredSince?.toISOString() ?? null,
    lastMessage: conversation.lastMessage,
    contact: { name: contact.name, phone: contact.phone },
    createdAt: conversation.createdAt.toISOString(),
    updatedAt: conversation.updatedAt.toISOString(),
  }
}

export function presentTeamMessage(message: Message) {
  return {
    id: message.id,
    direction: message.direction,
    kind: message.kind,
    origin: message.origin,
    text: message.text,
    status: message.status,
    errorCode: message.errorCode,
    actor: message.actor,
    occurredAt: message.occurredAt.toISOString(),
    referral: message.referral,
  }
}

export function presentTeamNote({ id, text, actor, createdAt }: Note) {
  return { id, text, actor, createdAt: createdAt.toISOString() }
}
