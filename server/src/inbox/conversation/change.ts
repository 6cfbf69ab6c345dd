import type { NewEvent } from '../../events/record.ts'
import type { Actor } from '../../workspaces/actor.ts'
import type { Conversation, LastMessage } from './conversation.ts'
import {
  afterAnswer,
  type ConversationStatus,
  openWindow,
  type SeenPosition,
  type UnseenMessages,
  withStatus,
} from './conversation-state.ts'
import type { DeliveryState, Message } from './message.ts'
import { assigneeAfter, isLockedAfter, isSameOwner, type Owner, writeOwner } from './owner.ts'

/** A conversation after a change, with what outsiders are to be told. The same object means that nothing changed. */
export interface ConversationChange {
  conversation: Conversation
  events: NewEvent[]
}

/** Gives the conversation to an owner. One event for a real change, none otherwise; it names the hand-over, if there is one. */
export function changeOwner(
  before: Conversation,
  owner: Owner,
  actor: Actor,
  now: Date,
  handoverId: string | null = null,
): ConversationChange {
  const held = isLockedAfter(before, owner, actor)
  const assignedTo = assigneeAfter(before.assignedTo, owner, actor)
  if (isSameOwner(before.owner, owner)) {
    const isSame = held === before.held && assignedTo === before.assignedTo
    return { conversation: isSame ? before : withUpdatedAt({ ...before, held, assignedTo }, now), events: [] }
  }
  // What one agent was shown another one has not seen.
  const inbound = { ...before.inbound, seen: null }
  const owned = { owner, ownerEpoch: before.ownerEpoch + 1, ownerSince: now, held, assignedTo, handover: null, inbound }
  const conversation = withUpdatedAt({ ...before, ...owned }, now)
  return { conversation, events: [ownerChanged(conversation, actor, now, handoverId)] }
}

export function changeStatus(
  before: Conversation,
  status: ConversationStatus,
  snoozedUntil: Date | null,
  now: Date,
): Conversation {
  const after = withStatus(status, snoozedUntil)
  const isSame = after.status === before.status && after.snoozedUntil?.getTime() === before.snoozedUntil?.getTime()
  return isSame ? before : withUpdatedAt({ ...before, ...after }, now)
}

/** Labels in the order given, each once. */
export function changeLabels(before: Conversation, labelIds: readonly string[], now: Date): Conversation {
  const unique = [...new Set(labelIds)]
  const isSame = unique.length === before.labelIds.length && unique.every((id, n) => id === before.labelIds[n])
  return isSame ? before : withUpdatedAt({ ...before, labelIds: unique }, now)
}

/**
 * Any outbound message, a send as well as an echo, answers the customer and a hand-over, and changes no status. Of an agent
 * that says how far it had seen, what came since is `left`.
 */
export function withOutbound(
  before: Conversation,
  message: Message,
  now: Date,
  seen: SeenPosition | null = null,
  unseen: UnseenMessages | null = null,
): Conversation {
  const answered = afterAnswer(before, seen, unseen)
  return withUpdatedAt({ ...before, ...withNewest(before, message), ...answered, handover: null }, now)
}

/** A reaction of ours is among the messages, and no answer: what the conversation shows of itself is what was said before. */
export function withReaction(before: Conversation, message: Message, now: Date): Conversation {
  const { lastMessageAt } = withNewest(before, message)
  return withUpdatedAt({ ...before, lastMessageAt }, now)
}

/** What the conversation shows of its newest message, once this one is part of it. */
export function withNewest(
  before: Conversation,
  message: Message,
): Pick<Conversation, 'lastMessageAt' | 'lastMessage'> {
  if (before.lastMessage !== null && message.occurredAt < before.lastMessageAt) {
    // No more than these two: what is spread over a conversation must not bring its other fields back.
    return { lastMessageAt: before.lastMessageAt, lastMessage: before.lastMessage }
  }
  const { direction, kind, text } = message
  const lastMessage: LastMessage = { direction, kind, text: previewOf(text) }
  return { lastMessageAt: message.occurredAt, lastMessage }
}

const previewLength = 200

/** The first characters of a text, none of them cut in two. */
function previewOf(text: string): string {
  return text.length <= previewLength ? text : [...text.slice(0, previewLength * 2)].slice(0, previewLength).join('')
}

/** `updatedAt` moves with every change that a reader can see, and never backwards. */
export function withUpdatedAt(conversation: Conversation, now: Date): Conversation {
  return { ...conversation, updatedAt: new Date(Math.max(now.getTime(), conversation.updatedAt.getTime())) }
}

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
  return inboxEvent('inbox.message.received', conversation, payload)
}

export function messageSent(conversation: ConversationRef, message: Message): NewEvent {
  const { id, kind, text, status, occurredAt, actor } = message
  const payload = {
    conversation: about(conversation),
    message: { id, kind, text, status, occurred_at: occurredAt.toISOString() },
    actor,
  }
  return inboxEvent('inbox.message.sent', conversation, payload)
}

export function messageStatusChanged(
  conversation: Pick<Conversation, 'id' | 'connectionId'>,
  messageId: string,
  state: DeliveryState,
  at: Date,
): NewEvent {
  const payload = {
    conversation_id: conversation.id,
    message_id: messageId,
    status: state.status,
    error_code: state.errorCode,
    at: at.toISOString(),
  }
  return inboxEvent('inbox.message.status', conversation, payload)
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
  return inboxEvent('inbox.conversation.owner_changed', conversation, payload)
}

function inboxEvent(
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
