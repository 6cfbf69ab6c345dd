import type { Tx } from '../../base/db.ts'
import type { NewEvent } from '../../events/record.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { changeOwner, withNewest, withUpdatedAt } from '../conversation/change.ts'
import { type ActivityDetail, type ActivityReason, detailsBetween } from '../conversation/commit-change.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { positionOfInbound } from '../conversation/conversation-state.ts'
import { matchCustomer, newConversation } from '../conversation/customer.ts'
import { type Message, nextState, uniqueTime } from '../conversation/message.ts'
import { findFreeTime, findNewestOutbound, rangeMs, type TimeRange } from '../conversation/message-queries.ts'
import { isSameOwner, type Owner } from '../conversation/owner.ts'
import { applyEarlyRevisions, isRevision, type RevisionEvent } from './early-revisions.ts'
import { takeEarlyStatuses } from './early-statuses.ts'
import { type EventResult, type Plan, planEcho, planEvent, sent, withTime } from './plan-event.ts'
import type { CustomerEvent } from './receiver.ts'
import { type InboundCustomer, type ReceiveContext, type ReceivingConnection, reasonOf } from './receiver.ts'
import { canCompleteHistory, completeHistoryMessage, type HistoryEvent, reviseMessage } from './revise-message.ts'

/** A linked device is told how far its own messages have come; of a platform's it is told who sent them. */
export const tracksDelivery = ({ channel }: ReceivingConnection): boolean => channel === 'unofficial'

/** What one connection was told of one customer, in order. */
export interface CustomerGroup {
  receiver: ReceivingConnection
  events: CustomerEvent[]
}

/** What is to be written of one conversation, decided in memory under its lock. */
export interface ConversationDraft {
  /** As it was locked; null for one that begins. */
  before: Conversation | null
  conversation: Conversation
  messages: Message[]
  activities: { reason: ActivityReason | null; detail: ActivityDetail }[]
  events: NewEvent[]
  /** Milliseconds that messages have, as far as they matter to these. */
  times: Set<number>
  /** Of a linked device: it is told how far its own messages have come. */
  tracked: Message[]
  /** Nobody begins a conversation without a message. */
  needsMessage: boolean
}

export const draftOf = (before: Conversation): ConversationDraft => ({
  before,
  conversation: before,
  messages: [],
  activities: [],
  events: [],
  times: new Set(),
  tracked: [],
  needsMessage: true,
})

/** A conversation that a customer begins, with the owner that those who write for the first time get. */
export function startDraft(
  receiver: ReceivingConnection,
  event: OpeningEvent,
  firstOwner: Owner,
  now: Date,
): ConversationDraft {
  const isCustomers = event.type === 'message' || event.type === 'marketing_preference'
  const source = event.type === 'message' ? 'customer' : 'third_party'
  const created = newConversation(receiver, event.customer, source, event.at, now)
  // Nobody has written: there is something to know, and nothing to do.
  const blank = event.type === 'marketing_preference' ? { ...created, status: 'closed' as const } : created
  // What people did elsewhere begins with people.
  const { conversation, events } = changeOwner(blank, isCustomers ? firstOwner : blank.owner, systemActor, now)
  const activities = detailsBetween(blank, conversation).map((detail) => ({ reason: 'began' as const, detail }))
  return { ...draftOf(conversation), before: null, activities, events, needsMessage: isMessage(event) }
}

/** What may begin a conversation: a message, or what a customer has said that they want of marketing. */
export type OpeningEvent = MessageEvent | Extract<CustomerEvent, { type: 'marketing_preference' }>

type MessageEvent = Extract<CustomerEvent, { externalId: string }>

export const canStartConversation = (event: CustomerEvent): event is OpeningEvent =>
  isMessage(event) || event.type === 'marketing_preference'

/** Whether an event is a message. */
export const isMessage = (event: CustomerEvent): event is MessageEvent => 'externalId' in event

/** The stretches of a conversation's time in which others may have what these messages ask for. */
export function timeRangesOf({ before }: ConversationDraft, { events }: CustomerGroup): TimeRange[] {
  if (before === null) return []
  // Behind its newest message all is free.
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
  /** The customer, if they wrote something new. */
  writer: InboundCustomer | null
  /** The platform's ids of what was new. */
  added: string[]
}

/** A transaction in which one event may look at more than its conversation. */
export interface LookupContext {
  tx: Tx
  context: ReceiveContext
}

type IsKnown = (externalId: string) => boolean

/**
 * The draft after what was told of its customer. Without `lookUp` nothing is looked at, and it is null when more has to be than
 * what is here: a name that is another's, a change of owner, edits, media that show later, a second without a free millisecond.
 */
export async function applyEvents(
  start: ConversationDraft,
  { receiver, events }: CustomerGroup,
  isKnown: IsKnown,
  now: Date,
  lookUp: LookupContext | null,
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
  const wrote: NonNullable<EventResult['wrote']>[] = []
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
    if (applied.wrote !== null) wrote.push(applied.wrote)
  }
  const referral = wrote.findLast((one) => one.referral !== null)?.referral ?? null
  const writer = wrote.length === 0 ? null : { ...draft.conversation.contact, referral }
  return { draft, writer, added: [...added] }
}

interface ApplyContext {
  draft: ConversationDraft
  receiver: ReceivingConnection
  now: Date
  lookUp: LookupContext | null
}

const withoutEvents = (conversation: Conversation): EventResult => ({ conversation, events: [], wrote: null })

async function completeHistory(
  { draft: { conversation }, now, lookUp }: ApplyContext,
  event: HistoryEvent,
): Promise<EventResult | null> {
  if (lookUp === null) return null
  const message = await completeHistoryMessage(lookUp.tx, lookUp.context, conversation, event)
  return withoutEvents(
    message === null ? conversation : withUpdatedAt({ ...conversation, ...withNewest(conversation, message) }, now),
  )
}

async function applyEvent(context: ApplyContext, event: CustomerEvent): Promise<EventResult | null> {
  const { draft, lookUp } = context
  const before = draft.conversation
  if (isRevision(event)) {
    return lookUp === null ? null : withoutEvents(await reviseMessage(lookUp.tx, lookUp.context, before, event))
  }
  // Who looks has found the conversation by all names.
  if (lookUp === null && !belongsTo(before, event)) return null
  const plan = await planOf(context, event)
  if (plan === null) return null
  const applied = plan.message === null ? plan.applied : await addMessage(context, event, plan)
  if (applied === null || lookUp !== null || draft.before === null) return applied
  return isSameOwner(before.owner, applied.conversation.owner) ? applied : null
}

/** Whether the event's customer goes by this conversation, and by this one alone. */
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
    const reported = await takeEarlyStatuses(lookUp.tx, lookUp.context.keyring, receiver, event.externalId)
    return planEcho(
      { now },
      before,
      event,
      reported.reduce((from, to) => nextState(from, to) ?? from, sent),
    )
  }
  const plan = planEvent({ now }, before, event)
  if (event.type !== 'message') return plan
  const place = positionOfInbound(before, event.at)
  if (place !== 'unknown') return withTime(plan, place)
  if (lookUp === null) return null
  const stretch = { from: event.at, to: before.lastMessageAt }
  const sentAt = await findNewestOutbound(lookUp.tx, receiver.workspaceId, before.id, stretch)
  return withTime(plan, sentAt === null ? event.at : new Date(sentAt.getTime() + 1))
}

/** Adds the message at the first free millisecond of its time; null when that is not known. */
async function addMessage(
  { draft, receiver, lookUp }: ApplyContext,
  event: CustomerEvent,
  { message: requested, added }: Extract<Plan, { message: Message }>,
): Promise<EventResult | null> {
  const { conversation } = draft
  const created =
    lookUp === null
      ? requested
      : await applyEarlyRevisions(lookUp.tx, lookUp.context.keyring, receiver, conversation, event.customer, requested)
  const occurredAt = await freeTime(draft, created, receiver, lookUp)
  if (occurredAt === null) return null
  const message = { ...created, occurredAt }
  draft.times.add(occurredAt.getTime())
  draft.messages.push(message)
  if (event.type === 'echo' && tracksDelivery(receiver)) draft.tracked.push(message)
  return added(message)
}

async function freeTime(
  { before, times }: ConversationDraft,
  { conversationId, occurredAt: requested }: Message,
  { workspaceId }: ReceivingConnection,
  lookUp: LookupContext | null,
): Promise<Date | null> {
  const free = uniqueTime(requested, (timeMs) => times.has(timeMs))
  // Behind its newest message all is free.
  if (before === null || free > before.lastMessageAt) return free
  if (lookUp !== null) return findFreeTime(lookUp.tx, workspaceId, conversationId, requested)
  return free.getTime() < requested.getTime() + rangeMs ? free : null
}
