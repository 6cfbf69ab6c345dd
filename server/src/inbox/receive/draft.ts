import type { Tx } from '../../base/db.ts'
import type { NewEvent } from '../../events/record.ts'
import { systemActor } from '../../workspace/actor.ts'
import { changeOwner, newest, touched } from '../conversation/change.ts'
import { type ActivityDetail, type ActivityReason, detailsBetween } from '../conversation/commit-change.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { placeOfInbound } from '../conversation/conversation-state.ts'
import { matchCustomer, newConversation } from '../conversation/customer.ts'
import { climb, type Message, uniqueTime } from '../conversation/message.ts'
import { findNewestOutbound, freeTimeFrom, type Stretch, stretchMs } from '../conversation/message-queries.ts'
import { type Owner, sameOwner } from '../conversation/owner.ts'
import { isRevision, type RevisionEvent, withEarlyRevisions } from './early-revisions.ts'
import { takeEarlyStatuses } from './early-statuses.ts'
import { type Applied, type Plan, placed, planEcho, planEvent, sent } from './plan-event.ts'
import type { CustomerEvent } from './receiver.ts'
import { type Intake, type Receiver, reasonOf, type Writer } from './receiver.ts'
import { type HistoryEvent, mayReveal, revealMessage, reviseMessage } from './revise-message.ts'

/** A linked device is told how far its own messages have come; of a platform's it is told who sent them. */
export const isFollowed = ({ channel }: Receiver): boolean => channel === 'unofficial'

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
  /** Of a linked device: it is told how far its own messages have come. */
  followed: Message[]
  /** Nobody begins a conversation without a message. */
  needsMessage: boolean
}

export const draftOf = (before: Conversation): Draft => ({
  before,
  conversation: before,
  messages: [],
  activities: [],
  events: [],
  times: new Set(),
  followed: [],
  needsMessage: true,
})

/** A conversation that a customer begins, with the owner that those who write for the first time get. */
export function begin(receiver: Receiver, event: BeginningEvent, firstOwner: Owner, now: Date): Draft {
  const isCustomers = event.type === 'message' || event.type === 'marketing_preference'
  const source = event.type === 'message' ? 'customer' : 'hearsay'
  const made = newConversation(receiver, event.customer, source, event.at, now)
  // Nobody has written: there is something to know, and nothing to do.
  const blank = event.type === 'marketing_preference' ? { ...made, status: 'closed' as const } : made
  // What people did elsewhere begins with people.
  const { conversation, events } = changeOwner(blank, isCustomers ? firstOwner : blank.owner, systemActor, now)
  const activities = detailsBetween(blank, conversation).map((detail) => ({ reason: 'began' as const, detail }))
  return { ...draftOf(conversation), before: null, activities, events, needsMessage: isMessage(event) }
}

/** What may begin a conversation: a message, or what a customer has said that they want of marketing. */
export type BeginningEvent = MessageEvent | Extract<CustomerEvent, { type: 'marketing_preference' }>

type MessageEvent = Extract<CustomerEvent, { externalId: string }>

export const mayBegin = (event: CustomerEvent): event is BeginningEvent =>
  isMessage(event) || event.type === 'marketing_preference'

/** Whether an event is a message. */
export const isMessage = (event: CustomerEvent): event is MessageEvent => 'externalId' in event

/** The stretches of a conversation's time in which others may have what these messages ask for. */
export function stretchesOf({ before }: Draft, { events }: CustomerGroup): Stretch[] {
  if (before === null) return []
  // Behind its newest message all is free.
  const asked = events.flatMap((event) =>
    isMessage(event) && event.at <= before.lastMessageAt ? event.at.getTime() : [],
  )
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

/** A transaction in which one event may look at more than its conversation. */
export interface LookUp {
  tx: Tx
  intake: Intake
}

type IsKnown = (externalId: string) => boolean

/**
 * The draft after what was told of its customer. Without `lookUp` nothing is looked at, and it is null when more has to be than
 * what is here: a name that is another's, a change of owner, edits, media that show later, a second without a free millisecond.
 */
export async function fold(
  start: Draft,
  { receiver, events }: CustomerGroup,
  isKnown: IsKnown,
  now: Date,
  lookUp: LookUp | null,
): Promise<Folded | null> {
  const draft: Draft = {
    ...start,
    messages: [...start.messages],
    activities: [...start.activities],
    events: [...start.events],
    times: new Set(start.times),
    followed: [...start.followed],
  }
  const folding = { draft, receiver, now, lookUp }
  const added = new Set<string>()
  const wrote: NonNullable<Applied['wrote']>[] = []
  for (const event of events) {
    const isRepeat = isMessage(event) && (isKnown(event.externalId) || added.has(event.externalId))
    if (isRepeat && !mayReveal(event)) continue
    const before = draft.conversation
    const applied = isRepeat && mayReveal(event) ? await reveal(folding, event) : await apply(folding, event)
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

interface Folding {
  draft: Draft
  receiver: Receiver
  now: Date
  lookUp: LookUp | null
}

const quietly = (conversation: Conversation): Applied => ({ conversation, events: [], wrote: null })

async function reveal({ draft: { conversation }, now, lookUp }: Folding, event: HistoryEvent): Promise<Applied | null> {
  if (lookUp === null) return null
  const message = await revealMessage(lookUp.tx, lookUp.intake, conversation, event)
  return quietly(message === null ? conversation : touched({ ...conversation, ...newest(conversation, message) }, now))
}

async function apply(folding: Folding, event: CustomerEvent): Promise<Applied | null> {
  const { draft, lookUp } = folding
  const before = draft.conversation
  if (isRevision(event)) {
    return lookUp === null ? null : quietly(await reviseMessage(lookUp.tx, lookUp.intake, before, event))
  }
  // Who looks has found the conversation by all names.
  if (lookUp === null && !isOf(before, event)) return null
  const plan = await planOf(folding, event)
  if (plan === null) return null
  const applied = plan.message === null ? plan.applied : await addMessage(folding, event, plan)
  if (applied === null || lookUp !== null || draft.before === null) return applied
  return sameOwner(before.owner, applied.conversation.owner) ? applied : null
}

/** Whether the event's customer goes by this conversation, and by this one alone. */
function isOf(conversation: Conversation, event: CustomerEvent): boolean {
  const { own, formerHolder } = matchCustomer([conversation], event.customer)
  return own !== null && formerHolder === null
}

async function planOf(
  { draft, receiver, now, lookUp }: Folding,
  event: Exclude<CustomerEvent, RevisionEvent>,
): Promise<Plan | null> {
  const before = draft.conversation
  if (event.type === 'echo' && isFollowed(receiver)) {
    if (lookUp === null) return null
    const told = await takeEarlyStatuses(lookUp.tx, lookUp.intake.keyring, receiver, event.externalId)
    return planEcho(
      { now },
      before,
      event,
      told.reduce((from, to) => climb(from, to) ?? from, sent),
    )
  }
  const plan = planEvent({ now }, before, event)
  if (event.type !== 'message') return plan
  const place = placeOfInbound(before, event.at)
  if (place !== 'unknown') return placed(plan, place)
  if (lookUp === null) return null
  const stretch = { from: event.at, to: before.lastMessageAt }
  const sentAt = await findNewestOutbound(lookUp.tx, receiver.workspaceId, before.id, stretch)
  return placed(plan, sentAt === null ? event.at : new Date(sentAt.getTime() + 1))
}

/** Adds the message at the first free millisecond of its time; null when that is not known. */
async function addMessage(
  { draft, receiver, lookUp }: Folding,
  event: CustomerEvent,
  { message: wanted, added }: Extract<Plan, { message: Message }>,
): Promise<Applied | null> {
  const { conversation } = draft
  const made =
    lookUp === null
      ? wanted
      : await withEarlyRevisions(lookUp.tx, lookUp.intake.keyring, receiver, conversation, event.customer, wanted)
  const occurredAt = await freeTime(draft, made, receiver, lookUp)
  if (occurredAt === null) return null
  const message = { ...made, occurredAt }
  draft.times.add(occurredAt.getTime())
  draft.messages.push(message)
  if (event.type === 'echo' && isFollowed(receiver)) draft.followed.push(message)
  return added(message)
}

async function freeTime(
  { before, times }: Draft,
  { conversationId, occurredAt: wanted }: Message,
  { workspaceId }: Receiver,
  lookUp: LookUp | null,
): Promise<Date | null> {
  const free = uniqueTime(wanted, (timeMs) => times.has(timeMs))
  // Behind its newest message all is free.
  if (before === null || free > before.lastMessageAt) return free
  if (lookUp !== null) return freeTimeFrom(lookUp.tx, workspaceId, conversationId, wanted)
  return free.getTime() < wanted.getTime() + stretchMs ? free : null
}
