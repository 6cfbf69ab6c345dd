import { limitToNow } from '../../base/time.ts'
import type { Consent, ConsentPurpose } from '../../consents/consent.ts'
import type { NewEvent } from '../../events/record.ts'
import type { Actor } from '../../workspaces/actor.ts'
import type { Priority } from '../../workspaces/service/service-settings.ts'
import type { Conversation, ConversationRef, LastMessage } from './conversation.ts'
import {
  afterAnswer,
  type ConversationStatus,
  openWindow,
  type SeenPosition,
  type UnseenMessages,
  windowOf,
  withStatus,
} from './conversation-state.ts'
import type { DeliveryState, Message } from './message.ts'
import { assigneeAfter, isLockedAfter, isSameOwner, type Owner, writeOwner } from './owner.ts'
import { afterSignal, type ThreadSignal } from './thread-control.ts'

/** A conversation after a change, with the events to record. The same object means that nothing changed. */
export interface ConversationChange {
  conversation: Conversation
  events: NewEvent[]
}

/** Sets the owner. Returns one event if the owner changed, otherwise none; the event names the handover, if any. */
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
  // A new agent has not seen what the previous one saw.
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

/** Sets the team that answers it. An assignee of the former team stays: callers decide who is assigned. */
export function changeTeam(before: Conversation, teamId: string | null, now: Date): Conversation {
  return teamId === before.teamId ? before : withUpdatedAt({ ...before, teamId }, now)
}

export const changePriority = (before: Conversation, priority: Priority | null, now: Date): Conversation =>
  priority === before.priority ? before : withUpdatedAt({ ...before, priority }, now)

/** Sets the labels in the given order, without duplicates. */
export function changeLabels(before: Conversation, labelIds: readonly string[], now: Date): Conversation {
  const unique = [...new Set(labelIds)]
  const isSame = unique.length === before.labelIds.length && unique.every((id, n) => id === before.labelIds[n])
  return isSame ? before : withUpdatedAt({ ...before, labelIds: unique }, now)
}

/**
 * Applies an outbound message (send or echo): it answers the customer, ends a handover, and does not change the status.
 * If an agent declares how far it had seen, newer messages stay unanswered (`unseen`).
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

/** Applies an outbound reaction or automatic message: it answers nothing and does not become the last message. */
export function withReaction(before: Conversation, message: Message, now: Date): Conversation {
  const { lastMessageAt } = withNewest(before, message)
  return withUpdatedAt({ ...before, lastMessageAt }, now)
}

/** Returns the preview fields after this message. */
export function withNewest(
  before: Conversation,
  message: Message,
): Pick<Conversation, 'lastMessageAt' | 'lastMessage'> {
  if (before.lastMessage !== null && message.occurredAt < before.lastMessageAt) {
    // Returns only these two fields: the result is spread over a conversation and must not revert others.
    return { lastMessageAt: before.lastMessageAt, lastMessage: before.lastMessage }
  }
  const { direction, kind, text } = message
  const lastMessage: LastMessage = { direction, kind, text: previewOf(text) }
  return { lastMessageAt: message.occurredAt, lastMessage }
}

const previewLength = 200

/** Returns the first 200 characters without splitting a surrogate pair. */
function previewOf(text: string): string {
  return text.length <= previewLength ? text : [...text.slice(0, previewLength * 2)].slice(0, previewLength).join('')
}

/**
 * Applies a report of which app on the number has the conversation. While another has it, nobody waits for us, and no send
 * of an agent that was allowed before starts; when it is ours again by a handover, the customer waits.
 */
export function changeThread(before: Conversation, signal: ThreadSignal, now: Date): ConversationChange {
  const thread = afterSignal(before, signal)
  if (thread === before.thread) return { conversation: before, events: [] }
  const changed = { ...before, thread }
  if ((thread?.owner ?? null) === (before.thread?.owner ?? null)) return { conversation: changed, events: [] }
  const isGiven = signal.source === 'handover' && before.inbound.newest !== null
  const waitsSince = isGiven ? (before.unansweredSince ?? limitToNow(signal.at, now)) : before.unansweredSince
  const standby =
    thread?.owner == null
      ? { unansweredSince: waitsSince }
      : { unansweredSince: null, ownerEpoch: before.ownerEpoch + 1 }
  const conversation = withUpdatedAt({ ...changed, ...standby }, now)
  return { conversation, events: [standbyChanged(conversation, now)] }
}

/** Sets `updatedAt` for every change that a reader can see; it never goes backwards. */
export function withUpdatedAt(conversation: Conversation, now: Date): Conversation {
  return { ...conversation, updatedAt: new Date(Math.max(now.getTime(), conversation.updatedAt.getTime())) }
}

/** Documented in `inbox/api/inbox-event-catalog.ts`. */
export type InboxEventName =
  | 'inbox.message.received'
  | 'inbox.message.sent'
  | 'inbox.message.status'
  | 'inbox.conversation.owner_changed'
  | 'inbox.conversation.consent_changed'
  | 'inbox.conversation.standby_changed'
  | 'inbox.draft.proposed'
  | 'inbox.draft.decided'
  | 'inbox.scheduled_message.failed'

// Payloads contain phones and platform ids in full; each receiver's masking is applied on output.

export function messageReceived(conversation: Conversation, message: Message, now: Date): NewEvent {
  const { name, phone } = conversation.contact
  const payload = {
    conversation: {
      ...presentRef(conversation),
      status: conversation.status,
      window_expires_at: openWindow(windowOf(conversation), now)?.toISOString() ?? null,
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

export function messageSent(conversation: PresentedConversation, message: Message): NewEvent {
  const { id, kind, text, status, occurredAt, actor } = message
  const payload = {
    conversation: presentRef(conversation),
    message: { id, kind, text, status, occurred_at: occurredAt.toISOString() },
    actor,
  }
  return inboxEvent('inbox.message.sent', conversation, payload)
}

export function messageStatusChanged(
  conversation: ConversationRef,
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
  const handoverField = handoverId === null ? {} : { handover_id: handoverId }
  const payload = { conversation_id: id, owner: writeOwner(owner), actor, at: at.toISOString(), ...handoverField }
  return inboxEvent('inbox.conversation.owner_changed', conversation, payload)
}

/** The customer opted out of messages with a purpose, or in again; null: the only decision was undone. */
export function consentChanged(
  conversation: ConversationRef,
  purpose: ConsentPurpose,
  consent: Pick<Consent, 'decision' | 'source'> | null,
  actor: Actor,
  at: Date,
): NewEvent {
  const { decision, source } = consent ?? { decision: null, source: null }
  const payload = {
    ...{ conversation_id: conversation.id, purpose, decision, source, actor },
    at: at.toISOString(),
  }
  return inboxEvent('inbox.conversation.consent_changed', conversation, payload)
}

/** Another app on the number has the conversation now, or we have it again. */
export function standbyChanged({ id, connectionId, thread }: Conversation, at: Date): NewEvent {
  const threadOwner = thread?.owner ?? null
  const payload = {
    conversation_id: id,
    standby: threadOwner !== null,
    thread_owner: threadOwner,
    at: at.toISOString(),
  }
  return inboxEvent('inbox.conversation.standby_changed', { id, connectionId }, payload)
}

/** An agent proposed an answer, which people must approve. */
export function draftProposed(
  conversation: ConversationRef,
  { id, keyId, why, createdAt }: { id: string; keyId: string; why: string; createdAt: Date },
): NewEvent {
  const payload = { conversation_id: conversation.id, draft_id: id, key_id: keyId, why, at: createdAt.toISOString() }
  return inboxEvent('inbox.draft.proposed', conversation, payload)
}

/** Decisions of people on a draft. */
export const draftOutcomes = ['sent', 'edited', 'rejected'] as const
export type DraftOutcome = (typeof draftOutcomes)[number]

export interface DecidedDraft {
  id: string
  keyId: string
  status: DraftOutcome
  messageId: string | null
  /** The text that was sent. */
  text: string | null
  /** Why it was rejected. */
  reason: string | null
}

/** A person sent an agent's draft, as it was or edited, or rejected it. */
export function draftDecided(
  conversation: ConversationRef,
  { id, keyId, status, messageId, text, reason }: DecidedDraft,
  actor: Actor,
  at: Date,
): NewEvent {
  const payload = {
    ...{ conversation_id: conversation.id, draft_id: id, key_id: keyId, outcome: status, message_id: messageId },
    ...{ text, reason, actor, at: at.toISOString() },
  }
  return inboxEvent('inbox.draft.decided', conversation, payload)
}

export interface UnsentMessage {
  id: string
  /** The agent that scheduled it. */
  keyId: string
  /** `held`: refused, nothing was sent. `failed`: the platform did not deliver it. */
  status: 'held' | 'failed'
  code: string
  dueAt: Date
}

/** A scheduled message of an agent was not sent when it was due. */
export function scheduledFailed(
  conversation: ConversationRef,
  { id, keyId, status, code, dueAt }: UnsentMessage,
  at: Date,
): NewEvent {
  const payload = {
    ...{ conversation_id: conversation.id, scheduled_message_id: id, key_id: keyId, status, error_code: code },
    ...{ due_at: dueAt.toISOString(), at: at.toISOString() },
  }
  return inboxEvent('inbox.scheduled_message.failed', conversation, payload)
}

function inboxEvent(name: InboxEventName, { id, connectionId }: ConversationRef, payload: object): NewEvent {
  return { name, subjectId: id, connectionId, payload }
}

type PresentedConversation = Pick<Conversation, 'id' | 'connectionId' | 'channel' | 'owner'>

function presentRef({ id, connectionId, channel, owner }: PresentedConversation) {
  return { id, connection_id: connectionId, channel, owner: writeOwner(owner) }
}
