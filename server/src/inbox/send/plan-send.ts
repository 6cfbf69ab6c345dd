import { ApiError } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { type Connection, isOfficial } from '../../channels/connection/connection.ts'
import type { Recipient } from '../../channels/connector.ts'
import type { Template } from '../../channels/templates/templates.ts'
import type { Decisions } from '../../consents/consent.ts'
import type { ServiceSettings } from '../../workspaces/service/service-settings.ts'
import type { BudgetAllowance, ReservedCost, SendToReserve } from '../budgets/allowance.ts'
import {
  type ConversationChange,
  changeOwner,
  changeThread,
  withOutbound,
  withReaction,
} from '../conversation/change.ts'
import { type Conversation, conversationNotFound } from '../conversation/conversation.ts'
import type { SeenPosition, UnseenMessages } from '../conversation/conversation-state.ts'
import { type Message, newMessage, uniqueTime } from '../conversation/message.ts'
import { rangeMs } from '../conversation/message-queries.ts'
import { human } from '../conversation/owner.ts'
import { countryOf } from '../costs/markets.ts'
import { approvalReasonOf } from '../drafts/approval-rules.ts'
import { withGoal } from '../goals/goal-state.ts'
import type { SendReferences } from './check-references.ts'
import { checkSend, type SendDraft } from './send-checks.ts'
import { actorOfSender, type ParsedSend, type SendDeps, type SendEffects, type Sender } from './send-deps.ts'
import {
  ApprovalNeeded,
  CustomerWroteAgain,
  connectionUnavailable,
  invalidMessage,
  notNeeded,
  tooManyParts,
} from './send-errors.ts'
import type { Allowance } from './send-limits.ts'

/** Time after which a send without a result counts as failed. */
const settleWithinMs = 10 * 60_000

/** A locked conversation: before the transaction, and after its sends so far. */
export interface SendThread {
  before: Conversation
  conversation: Conversation
  /** Whether a change of owner waits for calls in progress. */
  isHeld: boolean
  hasBudgets: boolean
  /** Times in use by messages, in ms, from now to now + `rangeMs`. */
  times: Set<number>
}

/** State shared by the sends of one transaction. */
export interface SendBatch {
  connections: ReadonlyMap<string, Connection>
  /** Idempotency keys used before or reserved in this transaction. */
  usedKeys: Set<string>
  allowance: Allowance
  budgets: BudgetAllowance
  service: ServiceSettings
}

/** Data read for one send. */
export interface SendFacts {
  template: Template | null
  consents: Decisions
  isFree: boolean
  references: SendReferences
  /** Customer messages that the send leaves unanswered. */
  unseen: UnseenMessages | null
}

/** A valid send with its effects. */
export interface PlannedSend {
  send: ParsedSend
  thread: SendThread
  connection: Connection
  draft: SendDraft
  message: Message
  recipient: Recipient
  /** Events of a change of owner. */
  events: ConversationChange['events']
  effects: SendEffects
  /** What it has reserved; null without budgets. */
  cost: ReservedCost | null
}

/** A send that was not reserved: refused, a repeat of a used key, or in need of its own transaction. */
export type UnreservedSend = { refused: ApiError } | 'repeated' | 'alone'

export const keyOf = (send: ParsedSend | undefined): string => `${send?.sender.actor.id} ${send?.key}`

/** Validates a send without database access and updates the conversation of its thread. */
export function planSend(
  deps: SendDeps,
  { connections, usedKeys, allowance, budgets, service }: SendBatch,
  { send, thread }: { send: ParsedSend; thread: SendThread | undefined },
  { template, consents, isFree, references, unseen }: SendFacts,
  { isAlone, now }: { isAlone: boolean; now: Date },
): PlannedSend | UnreservedSend {
  if (usedKeys.has(keyOf(send))) return 'repeated'
  if (thread === undefined || !canUse(send, thread.conversation)) {
    return isAlone ? { refused: conversationNotFound() } : 'alone'
  }
  const { conversation } = thread
  const { sender, command, seen = null } = send
  const connection = connections.get(conversation.connectionId) ?? null
  const { maxTextLength, supportsChoices = false } = deps.connectors[conversation.channel]
  const mediaTransport = deps.mediaTransportOf(conversation.channel)
  try {
    const checkInput = {
      command,
      sender,
      conversation,
      readiness: connection,
      template,
      consents,
      isFree,
      references,
      now,
    }
    const draft = checkSend({ ...checkInput, maxTextLength, supportsChoices, mediaTransport })
    if (hasWrittenSince(conversation, seen)) throw new CustomerWroteAgain()
    if (send.onlyIf?.(conversation) === false) throw notNeeded()
    checkParts(sender, draft, maxTextLength)
    checkApproval(sender, conversation, draft.text, now)
    if (connection === null) throw connectionUnavailable()
    const recipient = recipientOf(conversation)
    // Whether this send may probe the hold is decided under the connection's lock.
    if (draft.probedHold !== undefined && !isAlone) return 'alone'
    const limitedSend = { sender, conversationId: conversation.id }
    allowance.check(limitedSend)
    const cost = budgets.reserve(toReserve(send, conversation, connection, draft))
    allowance.consume(limitedSend)
    const message = messageOf(thread, send, draft, now)
    const { conversation: afterOwnerChange, events } = takeOver(send, conversation, now)
    const answersNothing = command.kind === 'reaction' || (sender.actor.type === 'system' && send.isAnswer !== true)
    const answered = answersNothing
      ? withReaction(afterOwnerChange, message, now)
      : withOutbound(afterOwnerChange, message, now, seen, unseen)
    const after = withGoal(answered, service)
    usedKeys.add(keyOf(send))
    thread.times.add(message.occurredAt.getTime())
    thread.conversation = after
    const isUnsolicited = conversation.unansweredSince === null
    const readsMessages = after.unreadCount < conversation.unreadCount
    const price = { parts: draft.parts.length, channel: conversation.channel, isTemplate: draft.kind === 'template' }
    const effects = { isUnsolicited, leavesUnseen: unseen !== null, readsMessages, ...price }
    return { send, thread, connection, draft, message, recipient, events, effects, cost }
  } catch (error) {
    if (error instanceof ApiError) return { refused: error }
    throw error
  }
}

/** Returns whether the customer has written after the message that the agent has named. */
const hasWrittenSince = ({ inbound: { newest } }: Conversation, seen: SeenPosition | null): boolean =>
  seen?.isNamed === true && newest !== null && newest > seen.id

function checkParts({ maxParts }: Sender, { parts }: SendDraft, maxTextLength: number | null): void {
  if (maxParts !== undefined && parts.length > maxParts) throw tooManyParts(parts.length, maxParts, maxTextLength)
}

function toReserve(
  { sender, isOverBudget = false }: ParsedSend,
  { id, channel, contact }: Conversation,
  { id: connectionId, numberId }: Connection,
  { parts }: SendDraft,
): SendToReserve {
  const [part] = parts
  const isAgent = sender.actor.type === 'agent'
  return {
    ...{ conversationId: id, connectionId, numberId, parts: parts.length },
    keyId: isAgent ? sender.actor.id : null,
    isConfirmed: !isAgent && isOverBudget,
    isCharging: isOfficial(channel),
    country: countryOf(contact),
    category: part?.kind === 'template' ? (part.category ?? '').toLowerCase() : 'service',
  }
}

function checkApproval({ approval }: Sender, conversation: Conversation, text: string, now: Date): void {
  if (approval === undefined) return
  const why = approvalReasonOf(approval.rules, { conversation, text, hours: approval.hours, now })
  if (why !== null) throw new ApprovalNeeded(why)
}

const canUse = ({ sender }: ParsedSend, { connectionId }: Conversation): boolean =>
  sender.connectionIds.length === 0 || sender.connectionIds.includes(connectionId)

function recipientOf({ contact }: Conversation): Recipient {
  const { phone, userId } = contact.address
  const recipient =
    phone === null && userId === null ? { phone: contact.phone, userId: contact.userId } : contact.address
  if (recipient.phone === null && recipient.userId === null) {
    throw invalidMessage('The platform has not provided an address of this customer')
  }
  return recipient
}

function messageOf(thread: SendThread, { sender, sources = [] }: ParsedSend, draft: SendDraft, now: Date): Message {
  const { id, connectionId } = thread.conversation
  const { kind, text, detail, parts } = draft
  const [part] = parts
  return newMessage({
    id: newId(now),
    conversationId: id,
    connectionId,
    direction: 'outbound',
    kind,
    origin: 'live',
    text,
    ...(sources.length > 0 ? { detail: { ...detail, sources } } : detail !== undefined && { detail }),
    ...(part?.kind === 'template' && { send: { kind: part.kind, name: part.name, language: part.language } }),
    status: 'pending',
    actor: actorOfSender(sender),
    occurredAt: freeTime(thread, now),
    createdAt: now,
    settleBy: new Date(now.getTime() + settleWithinMs),
  })
}

/** Returns the first free millisecond. Beyond the known times, all after the newest message are free. */
function freeTime({ conversation, times }: SendThread, now: Date): Date {
  const free = uniqueTime(now, (timeMs) => times.has(timeMs))
  if (free.getTime() < now.getTime() + rangeMs) return free
  return new Date(Math.max(free.getTime(), conversation.lastMessageAt.getTime() + 1))
}

/**
 * A person who sends takes over the conversation, except with a reaction; an agent sends only in its own, and a rule only
 * in those of people. At the platform, only a free-form message takes it from another app on the number.
 */
function takeOver({ sender, command }: ParsedSend, conversation: Conversation, now: Date): ConversationChange {
  const actor = actorOfSender(sender)
  const isAnswer = (actor.type === 'user' || actor.type === 'token') && command.kind !== 'reaction'
  if (!isAnswer) return { conversation, events: [] }
  const owned = changeOwner(conversation, human, actor, now)
  if (command.kind === 'template') return owned
  const taken = changeThread(owned.conversation, { source: 'ours', owner: null, at: now }, now)
  return { conversation: taken.conversation, events: [...owned.events, ...taken.events] }
}
