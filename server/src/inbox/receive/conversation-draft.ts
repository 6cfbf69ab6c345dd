import type { Decisions } from '../../consents/consent.ts'
import type { NewEvent } from '../../events/record.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { changeOwner, withNewest, withUpdatedAt } from '../conversation/change.ts'
import { type ActivityDetail, type ActivityReason, detailsBetween } from '../conversation/commit-change.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { positionOfInbound } from '../conversation/conversation-state.ts'
import { matchCustomer, newConversation, withKnownConsent } from '../conversation/customer.ts'
import { type Message, nextState, uniqueTime } from '../conversation/message.ts'
import { findFreeTime, findNewestOutbound, rangeMs, type TimeRange } from '../conversation/message-queries.ts'
import { isSameOwner } from '../conversation/owner.ts'
import { withRoute } from '../routing/assign.ts'
import type { Route } from '../routing/routing.ts'
import { applyEarlyRevisions, isRevision, type RevisionEvent } from './early-revisions.ts'
import { consumeEarlyStatuses } from './early-statuses.ts'
import { type EventResult, type Plan, planEcho, planEvent, sent, withTime } from './plan-event.ts'
import type { CustomerEvent } from './receiver.ts'
import { type InboundCustomer, type ReceiveContext, type ReceivingConnection, reasonOf } from './receiver.ts'
import { canCompleteHistory, completeHistoryMessage, type HistoryEvent, reviseMessage } from './revise-message.ts'

/** Whether the channel reports the delivery of echoes: linked devices do. */
export const tracksDelivery = ({ channel }: ReceivingConnection): boolean => channel === 'unofficial'

/** Events of one customer on one connection, in order. */
export interface CustomerGroup {
  receiver: ReceivingConnection
  events: CustomerEvent[]
  /** Whether only a broadcast has written to the customer so far. */
  isUnrouted?: boolean
}

/** Changes of one conversation, decided in memory under its lock. */
export interface ConversationDraft {
  /** State when locked; null for a new conversation. */
  before: Conversation | null
  conversation: Conversation
  /** Who got a new conversation of a customer; otherwise null. */
  route: Route | null
  messages: Message[]
  activities: { reason: ActivityReason | null; detail: ActivityDetail }[]
  events: NewEvent[]
  /** Times in use by messages, in ms, as far as they matter here. */
  times: Set<number>
  /** Echoes of a linked device, whose delivery is tracked. */
  tracked: Message[]
}

export const draftOf = (before: Conversation): ConversationDraft => ({
  before,
  conversation: before,
  route: null,
  messages: [],
  activities: [],
  events: [],
  times: new Set(),
  tracked: [],
})

/** Returns the draft of a new conversation, with who gets it if the customer began it. */
export function startDraft(
  receiver: ReceivingConnection,
  event: MessageEvent,
  route: Route,
  decisions: Decisions,
  now: Date,
): ConversationDraft {
  const isFromCustomer = event.type === 'message'
  const source = isFromCustomer ? 'customer' : 'third_party'
  const created = withKnownConsent(newConversation(receiver, event.customer, source, event.at, now), decisions)
  // Conversations started outside this service belong to people.
  if (!isFromCustomer) return { ...draftOf(created), before: null }
  const { conversation, ...changes } = routed(created, route, now)
  return { ...draftOf(conversation), before: null, ...changes }
}

/** Returns whether only a broadcast has written so far, so that the customer's first message is routed like a new one. */
export const isUnrouted = ({ inbound, lastMessage, status, owner, assignedTo, teamId, held }: Conversation): boolean =>
  inbound.newest === null &&
  lastMessage === null &&
  status === 'resolved' &&
  owner.type === 'human' &&
  assignedTo === null &&
  teamId === null &&
  !held

/** Returns the draft of such a conversation with who gets it. */
export const routeDraft = (draft: ConversationDraft, route: Route, now: Date): ConversationDraft => ({
  ...draft,
  ...routed(draft.conversation, route, now),
})

function routed(before: Conversation, route: Route, now: Date) {
  const owned = changeOwner(before, route.owner, systemActor, now)
  const conversation = withRoute(owned.conversation, route)
  const activities = detailsBetween(before, conversation).map((detail) => ({
    reason: reasonOfStart(detail.kind, route),
    detail,
  }))
  return { conversation, route, activities, events: owned.events }
}

function reasonOfStart(kind: ActivityDetail['kind'], { reason, isAgentFull }: Route): ActivityReason {
  if (kind === 'assignee' && reason !== null) return reason
  return kind === 'team' && isAgentFull ? 'capacity' : 'began'
}

/** Event that can create a conversation. */
export type MessageEvent = Extract<CustomerEvent, { externalId: string }>

export const isMessage = (event: CustomerEvent): event is MessageEvent => 'externalId' in event

/** Returns the time ranges in which other messages may have the times of these. */
export function timeRangesOf({ before }: ConversationDraft, { events }: CustomerGroup): TimeRange[] {
  if (before === null) return []
  // All times after the newest message are free.
  const times = events.flatMap((event) =>
    isMessage(event) && event.at <= before.lastMessageAt ? event.at.getTime() : [],
  )
  return [...new Set(times)].map((from) => ({
    conversationId: before.id,
    from: new Date(from),
    to: new Date(from + rangeMs),
  }))
}

export interface AppliedEvents {
  draft: ConversationDraft
  /** The customer, if they sent something new. */
  writer: InboundCustomer | null
  /** Platform ids of new messages. */
  added: string[]
}

type IsKnown = (externalId: string) => boolean

/**
 * Returns the draft after the events of its customer. Without `lookUp` it decides from the draft alone and returns null
 * if that is not enough: an identifier of another customer, a change of owner, here or at the platform, edits, media that
 * arrive later, or a second without a free millisecond.
 */
export async function applyEvents(
  start: ConversationDraft,
  { receiver, events }: CustomerGroup,
  isKnown: IsKnown,
  now: Date,
  lookUp: ReceiveContext | null,
): Promise<AppliedEvents | null> {
  const draft: ConversationDraft = {
    ...start,
    messages: [...start.messages],
    activities: [...start.activities],
    events: [...start.events],
    times: new Set(start.times),
    tracked: [...start.tracked],
  }
  const context = { draft, receiver, now, lookUp }
  const added = new Set<string>()
  const inboundMessages: NonNullable<EventResult['inbound']>[] = []
  for (const event of events) {
    const isRepeat = isMessage(event) && (isKnown(event.externalId) || added.has(event.externalId))
    if (isRepeat && !canCompleteHistory(event)) continue
    const before = draft.conversation
    const applied =
      isRepeat && canCompleteHistory(event) ? await completeHistory(context, event) : await applyEvent(context, event)
    if (applied === null) return null
    const reason = reasonOf(event)
    draft.conversation = applied.conversation
    draft.activities.push(...detailsBetween(before, applied.conversation).map((detail) => ({ reason, detail })))
    draft.events.push(...applied.events)
    if (isMessage(event)) added.add(event.externalId)
    if (applied.inbound !== null) inboundMessages.push(applied.inbound)
  }
  const referral = inboundMessages.findLast((one) => one.referral !== null)?.referral ?? null
  const writer = inboundMessages.length === 0 ? null : { ...draft.conversation.contact, referral }
  return { draft, writer, added: [...added] }
}

interface ApplyContext {
  draft: ConversationDraft
  receiver: ReceivingConnection
  now: Date
  /** For lookups beyond the conversation. */
  lookUp: ReceiveContext | null
}

const withoutEvents = (conversation: Conversation): EventResult => ({ conversation, events: [], inbound: null })

async function completeHistory(
  { draft: { conversation }, now, lookUp }: ApplyContext,
  event: HistoryEvent,
): Promise<EventResult | null> {
  if (lookUp === null) return null
  const message = await completeHistoryMessage(lookUp, conversation, event)
  return withoutEvents(
    message === null ? conversation : withUpdatedAt({ ...conversation, ...withNewest(conversation, message) }, now),
  )
}

async function applyEvent(context: ApplyContext, event: CustomerEvent): Promise<EventResult | null> {
  const { draft, lookUp } = context
  const before = draft.conversation
  if (isRevision(event)) {
    return lookUp === null ? null : withoutEvents(await reviseMessage(lookUp, before, event))
  }
  // With lookups, the conversation was found by all identifiers.
  if (lookUp === null && !belongsTo(before, event)) return null
  const plan = await planOf(context, event)
  if (plan === null) return null
  const applied = plan.message === null ? plan.applied : await addMessage(context, event, plan)
  if (applied === null || lookUp !== null || draft.before === null) return applied
  const { owner, thread } = applied.conversation
  return isSameOwner(before.owner, owner) && before.thread === thread ? applied : null
}

/** Returns whether the event's customer matches this conversation and no other. */
function belongsTo(conversation: Conversation, event: CustomerEvent): boolean {
  const { own, formerHolder } = matchCustomer([conversation], event.customer)
  return own !== null && formerHolder === null
}

async function planOf(
  { draft, receiver, now, lookUp }: ApplyContext,
  event: Exclude<CustomerEvent, RevisionEvent>,
): Promise<Plan | null> {
  const before = draft.conversation
  if (event.type === 'echo' && tracksDelivery(receiver)) {
    if (lookUp === null) return null
    const reported = await consumeEarlyStatuses(lookUp, receiver.id, event.externalId)
    const state = reported.reduce((from, to) => nextState(from, to) ?? from, sent)
    return planEcho({ now }, before, event, state)
  }
  const plan = planEvent({ now }, before, event)
  if (event.type !== 'message') return plan
  const position = positionOfInbound(before, event.at)
  if (position !== 'unknown') return withTime(plan, position)
  if (lookUp === null) return null
  const range = { from: event.at, to: before.lastMessageAt }
  const sentAt = await findNewestOutbound(lookUp.tx, receiver.workspaceId, before.id, range)
  return withTime(plan, sentAt === null ? event.at : new Date(sentAt.getTime() + 1))
}

/** Adds the message at the first free millisecond from its time; null if that is unknown. */
async function addMessage(
  { draft, receiver, lookUp }: ApplyContext,
  event: CustomerEvent,
  { message: requested, onInserted }: Extract<Plan, { message: Message }>,
): Promise<EventResult | null> {
  const { conversation } = draft
  const created =
    lookUp === null ? requested : await applyEarlyRevisions(lookUp, conversation, event.customer, requested)
  const occurredAt = await freeTime(draft, created, receiver, lookUp)
  if (occurredAt === null) return null
  const message = { ...created, occurredAt }
  draft.times.add(occurredAt.getTime())
  draft.messages.push(message)
  if (event.type === 'echo' && tracksDelivery(receiver)) draft.tracked.push(message)
  return onInserted(message)
}

async function freeTime(
  { before, times }: ConversationDraft,
  { conversationId, occurredAt: requested }: Message,
  { workspaceId }: ReceivingConnection,
  lookUp: ReceiveContext | null,
): Promise<Date | null> {
  const free = uniqueTime(requested, (timeMs) => times.has(timeMs))
  // All times after the newest message are free.
  if (before === null || free > before.lastMessageAt) return free
  if (lookUp !== null) return findFreeTime(lookUp.tx, workspaceId, conversationId, requested)
  return free.getTime() < requested.getTime() + rangeMs ? free : null
}
