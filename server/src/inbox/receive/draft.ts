import type { NewEvent } from '../../events/record.ts'
import { systemActor } from '../../workspace/actor.ts'
import { type ActivityDetail, type ActivityReason, detailsBetween } from '../conversation/activity.ts'
import { changeOwner } from '../conversation/change.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { placeOfInbound } from '../conversation/conversation-state.ts'
import { matchCustomer, newConversation } from '../conversation/customer.ts'
import { type Message, uniqueTime } from '../conversation/message.ts'
import { type Stretch, stretchMs } from '../conversation/message-queries.ts'
import { type Owner, sameOwner } from '../conversation/owner.ts'
import type { CustomerEvent } from './group-events.ts'
import { type Applied, type Plan, placed, planEvent } from './plan-event.ts'
import { type Receiver, reasonOf, type Writer } from './receiver.ts'
import { mayReveal } from './reveal.ts'
import { isRevision } from './revise.ts'

/** What one connection was told of one customer, in order. */
export interface CustomerGroup {
  receiver: Receiver
  events: CustomerEvent[]
}

/** What is to be written of one conversation, decided in memory under its lock. */
export interface Draft {
  /** As it was locked; null for one that begins. */
  before: Conversation | null
  conversation: Conversation
  messages: Message[]
  activities: { reason: ActivityReason | null; detail: ActivityDetail }[]
  events: NewEvent[]
  /** Milliseconds that messages have, as far as they matter to these. */
  times: Set<number>
}

export const draftOf = (before: Conversation): Draft => ({
  before,
  conversation: before,
  messages: [],
  activities: [],
  events: [],
  times: new Set(),
})

/** A conversation that a customer begins, with the owner that those who write for the first time get. */
export function begin(receiver: Receiver, event: BeginningEvent, firstOwner: Owner, now: Date): Draft {
  const isCustomer = event.type === 'message'
  const blank = newConversation(receiver, event.customer, isCustomer ? 'customer' : 'hearsay', event.at, now)
  // Only a customer who writes gets an agent; what people did elsewhere begins with people.
  const { conversation, events } = changeOwner(blank, isCustomer ? firstOwner : blank.owner, systemActor, now)
  const activities = detailsBetween(blank, conversation).map((detail) => ({ reason: 'began' as const, detail }))
  return { ...draftOf(conversation), before: null, activities, events }
}

export type BeginningEvent = Extract<CustomerEvent, { externalId: string }>

/** Whether an event begins a conversation by itself. */
export const begins = (event: CustomerEvent): event is BeginningEvent => 'externalId' in event

/** The stretches of a conversation's time in which others may have what these messages ask for. */
export function stretchesOf({ before }: Draft, { events }: CustomerGroup): Stretch[] {
  if (before === null) return []
  // Behind its newest message all is free.
  const asked = events.flatMap((event) => (begins(event) && event.at <= before.lastMessageAt ? event.at.getTime() : []))
  return [...new Set(asked)].map((from) => ({
    conversationId: before.id,
    from: new Date(from),
    to: new Date(from + stretchMs),
  }))
}

export interface Folded {
  draft: Draft
  /** The customer, if they wrote something new. */
  writer: Writer | null
  /** The platform's ids of what was new. */
  added: string[]
}

/**
 * The draft after what was told of its customer; null when more is to be looked at than what is here: a name that is
 * another's, a change of owner, media that show later, a second without a free millisecond.
 */
export function fold(
  start: Draft,
  { events }: CustomerGroup,
  isKnown: (externalId: string) => boolean,
  now: Date,
): Folded | null {
  const draft: Folded['draft'] = {
    ...start,
    messages: [...start.messages],
    activities: [...start.activities],
    events: [...start.events],
    times: new Set(start.times),
  }
  const added = new Set<string>()
  const wrote: NonNullable<Applied['wrote']>[] = []
  for (const event of events) {
    if (begins(event) && (isKnown(event.externalId) || added.has(event.externalId))) {
      if (mayReveal(event)) return null
      continue
    }
    const before = draft.conversation
    // Another message is to be looked at.
    if (isRevision(event)) return null
    if (!isOf(before, event)) return null
    const place = event.type === 'message' ? placeOfInbound(before, event.at) : undefined
    if (place === 'unknown') return null
    const plan = placed(planEvent({ now }, before, event), place)
    const applied = plan.message === null ? plan.applied : addMessage(draft, plan)
    if (applied === null) return null
    if (draft.before !== null && !sameOwner(before.owner, applied.conversation.owner)) return null
    const reason = reasonOf(event)
    draft.conversation = applied.conversation
    draft.activities.push(...detailsBetween(before, applied.conversation).map((detail) => ({ reason, detail })))
    draft.events.push(...applied.events)
    if (begins(event)) added.add(event.externalId)
    if (applied.wrote !== null) wrote.push(applied.wrote)
  }
  const referral = wrote.findLast((one) => one.referral !== null)?.referral ?? null
  const writer = wrote.length === 0 ? null : { ...draft.conversation.contact, referral }
  return { draft, writer, added: [...added] }
}

/** Whether the event's customer goes by this conversation, and by this one alone. */
function isOf(conversation: Conversation, event: CustomerEvent): boolean {
  const { own, formerHolder } = matchCustomer([conversation], event.customer)
  return own !== null && formerHolder === null
}

/** Adds the message at the first free millisecond of its time; null when that is not known. */
function addMessage(draft: Draft, { message: wanted, added }: Extract<Plan, { message: Message }>): Applied | null {
  const occurredAt = uniqueTime(wanted.occurredAt, (timeMs) => draft.times.has(timeMs))
  const isBeyond = draft.before === null || occurredAt > draft.before.lastMessageAt
  if (!isBeyond && occurredAt.getTime() >= wanted.occurredAt.getTime() + stretchMs) return null
  const message = { ...wanted, occurredAt }
  draft.times.add(occurredAt.getTime())
  draft.messages.push(message)
  return added(message)
}
