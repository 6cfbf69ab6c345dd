import type { Tx } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import type { Referral } from '../../channels/channel-event.ts'
import { systemActor } from '../../workspace/actor.ts'
import { type ConversationChange, changeOwner, newest, touched, withOutbound } from '../conversation/change.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { opened, unansweredAfterInbound, windowAfter } from '../conversation/conversation-state.ts'
import { withCustomer } from '../conversation/customer.ts'
import { messageReceived, messageSent } from '../conversation/events.ts'
import type { Direction, Message, Origin } from '../conversation/message.ts'
import { addEchoPart, addMessage } from '../conversation/message-queries.ts'
import { human } from '../conversation/owner.ts'
import { climb, type MessageStatus, type Rung } from '../conversation/status-ladder.ts'
import { takeEarlyStatuses } from './early-statuses.ts'
import type { CustomerEvent } from './group-events.ts'
import type { Intake } from './receiver.ts'
import { mayReveal, revealMessage } from './reveal.ts'

export interface Applied extends ConversationChange {
  /** What the customer wrote, when they did: their ad, if one brought them. */
  wrote: { referral: Referral | null } | null
}

/** What an event makes of the customer's conversation, which is locked. Messages are stored here already. */
export async function applyEvent(tx: Tx, intake: Intake, before: Conversation, event: CustomerEvent): Promise<Applied> {
  const { now } = intake
  switch (event.type) {
    case 'message':
      return applyMessage(tx, intake, before, event)
    case 'echo':
      return quietly(await applyEcho(tx, intake, before, event))
    case 'history':
      return quietly(await applyHistory(tx, intake, before, event))
    case 'contact_opened': {
      const known = withCustomer(before, event.customer, 'customer', now)
      const windowExpiresAt = windowAfter(known.windowExpiresAt, event.at, now)
      return quietly({ conversation: touched({ ...known, windowExpiresAt }, now), events: [] })
    }
    case 'contact_named':
      return quietly({ conversation: withCustomer(before, event.customer, 'hearsay', now), events: [] })
    case 'customer_changed':
      return quietly({ conversation: touched(before, now), events: [] })
    default:
      return event satisfies never
  }
}

const quietly = (change: ConversationChange): Applied => ({ ...change, wrote: null })

type Of<T extends CustomerEvent['type']> = Extract<CustomerEvent, { type: T }>

async function applyMessage(tx: Tx, intake: Intake, before: Conversation, event: Of<'message'>): Promise<Applied> {
  const { keyring, receiver, now } = intake
  const wanted = messageOf(before, event, { direction: 'inbound', origin: 'live', status: 'delivered' }, now)
  const message = await addMessage(tx, keyring, receiver.workspaceId, { ...wanted, referral: event.referral })
  if (message === null) return quietly({ conversation: before, events: [] })
  const known = withCustomer(before, event.customer, 'customer', now)
  // A notice of the platform about the customer is part of the conversation, but nobody wrote it.
  if (!event.opensWindow) {
    return quietly({ conversation: touched({ ...known, ...newest(known, message) }, now), events: [] })
  }
  const last = known.lastMessage === null ? null : known.lastMessageAt
  const conversation = touched(
    {
      ...known,
      ...opened,
      ...newest(known, message),
      unreadCount: known.unreadCount + 1,
      windowExpiresAt: windowAfter(known.windowExpiresAt, event.at, now),
      unansweredSince: unansweredAfterInbound({ ...known, lastMessageAt: last }, message.occurredAt),
    },
    now,
  )
  return { conversation, events: [messageReceived(conversation, message, now)], wrote: { referral: event.referral } }
}

/**
 * Somebody of the team wrote on the phone: from then on the conversation is people's. A linked device is told how far that
 * has come, as of its own messages; platforms tell whoever sent it.
 */
async function applyEcho(tx: Tx, intake: Intake, before: Conversation, event: Of<'echo'>): Promise<ConversationChange> {
  const { keyring, receiver, now } = intake
  const isFollowed = receiver.channel === 'unofficial'
  const told = isFollowed ? await takeEarlyStatuses(tx, keyring, receiver, event.externalId) : []
  const rung = told.reduce((from, to) => climb(from, to) ?? from, sent)
  const wanted = messageOf(before, event, { direction: 'outbound', origin: 'echo', ...rung }, now)
  const message = await addMessage(tx, keyring, receiver.workspaceId, wanted)
  if (message === null) return { conversation: before, events: [] }
  if (isFollowed) await addEchoPart(tx, keyring, receiver, message)
  const known = withCustomer(before, event.customer, 'hearsay', now)
  const handed = changeOwner(known, human, systemActor, now)
  const conversation = withOutbound(handed.conversation, message, now)
  return { conversation, events: [...handed.events, messageSent(conversation, message)] }
}

const sent: Rung = { status: 'sent', errorCode: null }

async function applyHistory(
  tx: Tx,
  intake: Intake,
  before: Conversation,
  event: Of<'history'>,
): Promise<ConversationChange> {
  const { keyring, receiver, now } = intake
  const { direction, status } = event
  const wanted = messageOf(before, event, { direction, origin: 'history', status }, now)
  const message = await addMessage(tx, keyring, receiver.workspaceId, wanted)
  if (message === null) return { conversation: await reveal(tx, intake, before, event), events: [] }
  const known = withCustomer(before, event.customer, 'hearsay', now)
  return { conversation: touched({ ...known, ...newest(known, message) }, now), events: [] }
}

async function reveal(tx: Tx, intake: Intake, before: Conversation, event: Of<'history'>): Promise<Conversation> {
  const message = mayReveal(event) ? await revealMessage(tx, intake, before, event) : null
  if (message === null) return before
  return touched({ ...before, ...newest(before, message) }, intake.now)
}

interface Kind {
  direction: Direction
  origin: Origin
  status: MessageStatus
  errorCode?: string | null
}

function messageOf(
  { id, connectionId }: Conversation,
  { externalId, kind, text, at }: Of<'message' | 'echo' | 'history'>,
  how: Kind,
  now: Date,
): Message {
  return {
    id: newId(now),
    conversationId: id,
    connectionId,
    kind,
    text,
    referral: null,
    externalId,
    errorCode: null,
    actor: null,
    occurredAt: at,
    createdAt: now,
    settleBy: null,
    ...how,
  }
}
