import { newId, newIdAfter } from '../../base/id.ts'
import type { Referral } from '../../channels/channel-event.ts'
import { parseRatingChoice } from '../../channels/interactive-options.ts'
import { systemActor } from '../../workspaces/actor.ts'
import {
  type ConversationChange,
  changeOwner,
  changeThread,
  messageReceived,
  messageSent,
  withNewest,
  withOutbound,
  withUpdatedAt,
} from '../conversation/change.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { openStatus, unansweredAfterInbound, windowAfter } from '../conversation/conversation-state.ts'
import { withCustomer } from '../conversation/customer.ts'
import {
  type DeliveryState,
  type Direction,
  type Message,
  type MessageStatus,
  newMessage,
  type Origin,
  toStoredDetail,
} from '../conversation/message.ts'
import { human, lockToPeople } from '../conversation/owner.ts'
import type { ThreadSignal } from '../conversation/thread-control.ts'
import type { RevisionEvent } from './early-revisions.ts'
import type { CustomerEvent, ReceiveContext } from './receiver.ts'

export interface EventResult extends ConversationChange {
  /** Set if the customer wrote, with the ad that brought them, if any. */
  inbound: { referral: Referral | null } | null
}

/** What an event changes in its conversation. */
export type Plan =
  /** A message to insert; it gets a unique time, and the callback returns the resulting changes. */
  { message: Message; onInserted: (message: Message) => EventResult } | { message: null; applied: EventResult }

/** Returns the plan with another time for its message than the platform's. */
export const withTime = (plan: Plan, at: Date | undefined): Plan =>
  plan.message === null || at === undefined ? plan : { ...plan, message: { ...plan.message, occurredAt: at } }

/** Applies the rules for incoming events, without database access. */
export function planEvent(
  context: Pick<ReceiveContext, 'now'>,
  before: Conversation,
  event: Exclude<CustomerEvent, RevisionEvent>,
): Plan {
  const { now } = context
  switch (event.type) {
    case 'message':
      return planMessage(context, before, event)
    case 'echo':
      return event.isStandby ? planOtherApp(context, before, event) : planEcho(context, before, event, sent)
    case 'history':
      return planHistory(context, before, event)
    case 'contact_opened': {
      const known = withCustomer(before, event.customer, 'customer', now, { at: event.at, opensWindow: true })
      const windowExpiresAt = windowAfter(known.windowExpiresAt, event.at, now)
      return withoutMessage(withUpdatedAt({ ...known, windowExpiresAt }, now))
    }
    case 'marketing_preference':
      // The decision itself is recorded for the customer, who may have several conversations.
      return withoutMessage(withCustomer(before, event.customer, 'third_party', now))
    case 'contact_named':
      return withoutMessage(withCustomer(before, event.customer, 'third_party', now))
    case 'thread_control': {
      const known = withCustomer(before, event.customer, 'third_party', now)
      return { message: null, applied: withoutWriter(changeThread(known, { ...event, source: 'handover' }, now)) }
    }
    case 'customer_changed':
      return withoutMessage(withUpdatedAt(before, now))
    default:
      return event satisfies never
  }
}

const withoutMessage = (conversation: Conversation): Plan => ({
  message: null,
  applied: withoutWriter({ conversation, events: [] }),
})
const withoutWriter = (change: ConversationChange): EventResult => ({ ...change, inbound: null })

type Of<T extends CustomerEvent['type']> = Extract<CustomerEvent, { type: T }>

function planMessage({ now }: Pick<ReceiveContext, 'now'>, before: Conversation, event: Of<'message'>): Plan {
  const source = { direction: 'inbound', origin: 'live', status: 'delivered' } as const
  const id = newIdAfter(before.inbound.newest, now)
  const message = { ...messageOf(before, event, source, now), id, referral: event.referral }
  return { message, onInserted: (stored) => afterMessage(before, event, stored, now) }
}

function afterMessage(before: Conversation, event: Of<'message'>, message: Message, now: Date): EventResult {
  const known = withCustomer(before, event.customer, 'customer', now, event)
  // A platform notice about the customer is part of the conversation, but the customer did not write it.
  if (!event.opensWindow) {
    return withoutWriter({ conversation: withUpdatedAt({ ...known, ...withNewest(known, message) }, now), events: [] })
  }
  if (ratingOf(event) !== null) return afterRating(known, event, message, now)
  const last = known.lastMessage === null ? null : known.lastMessageAt
  const { conversation: thread, events } = changeThread(known, threadSignal(event), now)
  // A message to another app does not wait for us, nor does a late one to us if another app has had the conversation since.
  const waitsForUs = !event.isStandby && (thread.thread?.owner ?? null) === null
  const conversation = withUpdatedAt(
    {
      ...thread,
      ...openStatus,
      ...withNewest(known, message),
      unreadCount: known.unreadCount + 1,
      windowExpiresAt: windowAfter(known.windowExpiresAt, event.at, now),
      unansweredSince: waitsForUs
        ? unansweredAfterInbound({ ...thread, lastMessageAt: last }, message.occurredAt, now)
        : thread.unansweredSince,
      inbound: { ...known.inbound, newest: message.id },
    },
    now,
  )
  const received = messageReceived(conversation, message, now)
  return { conversation, events: [...events, received], inbound: { referral: event.referral } }
}

/** Returns the answer to the question how satisfied the customer is, if the event is one. */
export const ratingOf = (event: CustomerEvent): ReturnType<typeof parseRatingChoice> =>
  event.type === 'message' ? parseRatingChoice(event.detail?.chosen) : null

/** A score is no request: nobody has to answer it, and the conversation stays closed. */
function afterRating(known: Conversation, event: Of<'message'>, message: Message, now: Date): EventResult {
  const changed = {
    ...known,
    ...withNewest(known, message),
    windowExpiresAt: windowAfter(known.windowExpiresAt, event.at, now),
    inbound: { ...known.inbound, newest: message.id },
  }
  const conversation = withUpdatedAt(changed, now)
  return { conversation, events: [messageReceived(conversation, message, now)], inbound: { referral: null } }
}

const threadSignal = ({ isStandby, at }: Pick<Of<'message' | 'echo'>, 'isStandby' | 'at'>): ThreadSignal =>
  isStandby ? { source: 'standby', owner: 'other_app', at } : { source: 'ours', owner: null, at }

export const sent: DeliveryState = { status: 'sent', errorCode: null }

/** A team member wrote on the phone: the conversation now belongs to people. */
export function planEcho(
  { now }: Pick<ReceiveContext, 'now'>,
  before: Conversation,
  event: Of<'echo'>,
  state: DeliveryState,
): Plan {
  const message = messageOf(before, event, { direction: 'outbound', origin: 'echo', ...state }, now)
  const onInserted = (stored: Message) => {
    const known = withCustomer(before, event.customer, 'third_party', now)
    const ownerChange = changeOwner(known, human, systemActor, now)
    const thread = changeThread(lockToPeople(ownerChange.conversation), threadSignal(event), now)
    const conversation = withOutbound(thread.conversation, stored, now)
    const events = [...ownerChange.events, ...thread.events, messageSent(conversation, stored)]
    return withoutWriter({ conversation, events })
  }
  return { message, onInserted }
}

/** Another app on the number answered the customer: our owner stays, and so does what the team was asked to do. */
function planOtherApp({ now }: Pick<ReceiveContext, 'now'>, before: Conversation, event: Of<'echo'>): Plan {
  const message = messageOf(before, event, { direction: 'outbound', origin: 'echo', ...sent }, now)
  const onInserted = (stored: Message) => {
    const known = withCustomer(before, event.customer, 'third_party', now)
    const thread = changeThread(known, threadSignal(event), now)
    const conversation = { ...withOutbound(thread.conversation, stored, now), handover: known.handover }
    return withoutWriter({ conversation, events: [...thread.events, messageSent(conversation, stored)] })
  }
  return { message, onInserted }
}

function planHistory({ now }: Pick<ReceiveContext, 'now'>, before: Conversation, event: Of<'history'>): Plan {
  const { direction, status } = event
  const message = messageOf(before, event, { direction, origin: 'history', status }, now)
  const onInserted = (stored: Message) => {
    const known = withCustomer(before, event.customer, 'third_party', now)
    return withoutWriter({ conversation: withUpdatedAt({ ...known, ...withNewest(known, stored) }, now), events: [] })
  }
  return { message, onInserted }
}

interface MessageSource {
  direction: Direction
  origin: Origin
  status: MessageStatus
  errorCode?: string | null
}

function messageOf(
  { id, connectionId }: Conversation,
  { externalId, kind, text, detail, at }: Of<'message' | 'echo' | 'history'>,
  source: MessageSource,
  now: Date,
): Message {
  return newMessage({
    ...{ id: newId(now), conversationId: id, connectionId, kind, text, externalId, occurredAt: at, createdAt: now },
    ...toStoredDetail(detail, now),
    ...source,
  })
}
