import type { Tx } from '../../base/db.ts'
import { systemActor } from '../../workspace/actor.ts'
import { type ConversationChange, changeOwner, newest, touched } from '../conversation/change.ts'
import { commitChange, recordDifference } from '../conversation/commit-change.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { placeOfInbound } from '../conversation/conversation-state.ts'
import { newConversation } from '../conversation/customer.ts'
import { lockChanged, lockCustomer } from '../conversation/lock-customer.ts'
import { addEchoPart, addMessage, findKnownIds, findNewestOutbound } from '../conversation/message-queries.ts'
import { insertConversation } from '../conversation/queries.ts'
import { climb } from '../conversation/status-ladder.ts'
import { insertWhatTheyCarry } from '../media/media-queries.ts'
import { chooseFirstOwner } from '../ownership/agents.ts'
import { begins } from './draft.ts'
import { lockAwaited, parkRevision, withEarlyRevisions } from './early-revisions.ts'
import { takeEarlyStatuses } from './early-statuses.ts'
import type { CustomerEvent } from './group-events.ts'
import { type Applied, type Plan, placed, planEcho, planEvent, sent } from './plan-event.ts'
import { type Intake, reasonOf, type Writer } from './receiver.ts'
import { mayReveal, revealMessage } from './reveal.ts'
import { isRevision } from './revise.ts'
import { reviseMessage } from './revise-message.ts'

const maxAttempts = 5

/**
 * Applies what was told of one customer, in order, under the lock of their conversation. Returns the customers
 * who wrote something new.
 */
export async function applyEvents(tx: Tx, intake: Intake, events: readonly CustomerEvent[]): Promise<Writer[]> {
  const { keyring, receiver, now } = intake
  const ids = events.flatMap((event) => ('externalId' in event ? [{ connectionId: receiver.id, ...event }] : []))
  const told = events.map((event) => ({ connectionId: receiver.id, event }))
  const [, found] = await Promise.all([
    lockAwaited(tx, keyring, told),
    findKnownIds(tx, keyring, receiver.workspaceId, ids),
  ])
  const known = new Set(found.known.map(({ externalId }) => externalId))
  const wrote = new Map<string, Writer>()
  for (const event of events) {
    if ('externalId' in event && known.has(event.externalId) && !mayReveal(event)) continue
    const begun = await conversationFor(tx, intake, event)
    if (begun === null) {
      if (!isRevision(event)) continue
      await parkRevision(tx, intake, null, event)
      intake.strayed?.(event)
      continue
    }
    const applied = await applyEvent(tx, intake, begun.conversation, event)
    const change = { conversation: applied.conversation, events: [...begun.events, ...applied.events] }
    const cause = { actor: systemActor, reason: reasonOf(event) }
    await commitChange(tx, keyring, receiver.workspaceId, begun.conversation, change, cause, now)
    if (applied.wrote === null) continue
    const { id, contact } = applied.conversation
    wrote.set(id, { ...contact, referral: applied.wrote.referral ?? wrote.get(id)?.referral ?? null })
  }
  return [...wrote.values()]
}

/** The conversation that an event belongs to, begun if need be; null when the event alone does not begin one. */
async function conversationFor(tx: Tx, intake: Intake, event: CustomerEvent): Promise<ConversationChange | null> {
  const { keyring, receiver, now } = intake
  const scope = { workspaceId: receiver.workspaceId, connectionId: receiver.id }
  if (event.type === 'customer_changed') {
    const conversation = await lockChanged(tx, keyring, scope, event, now)
    return conversation === undefined ? null : { conversation, events: [] }
  }
  const found = await lockCustomer(tx, keyring, scope, event.customer, now)
  if (found !== undefined) return { conversation: found, events: [] }
  return begins(event) || event.type === 'marketing_preference' ? begin(tx, intake, event) : null
}

/** Only a customer who writes gets an agent; what people did elsewhere begins with people. */
async function begin(
  tx: Tx,
  intake: Intake,
  event: Extract<CustomerEvent, { externalId: string } | { type: 'marketing_preference' }>,
): Promise<ConversationChange> {
  const { keyring, receiver, now } = intake
  const { workspaceId, id: connectionId } = receiver
  const source = event.type === 'message' ? 'customer' : 'hearsay'
  const made = newConversation(receiver, event.customer, source, event.at, now)
  // Nobody has written: there is something to know, and nothing to do.
  const blank = event.type === 'marketing_preference' ? { ...made, status: 'closed' as const } : made
  // Who has said no more than what they want of marketing is answered by whoever answers a first message.
  const isCustomer = event.type === 'message' || event.type === 'marketing_preference'
  const owner = isCustomer ? await chooseFirstOwner(tx, workspaceId, connectionId, now) : blank.owner
  const begun = changeOwner(blank, owner, systemActor, now)
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    if (await insertConversation(tx, keyring, workspaceId, begun.conversation)) {
      const cause = { actor: systemActor, reason: 'began' } as const
      await recordDifference(tx, workspaceId, blank, begun.conversation, cause, now)
      return begun
    }
    const found = await lockCustomer(tx, keyring, { workspaceId, connectionId }, event.customer, now)
    if (found !== undefined) return { conversation: found, events: [] }
    // The one that stood in the way was merged into another between the two statements: under that one's names now.
  }
  throw new Error('A conversation could be neither begun nor found')
}

/** What an event makes of the customer's conversation, which is locked. Messages are stored here already. */
async function applyEvent(tx: Tx, intake: Intake, before: Conversation, event: CustomerEvent): Promise<Applied> {
  const { keyring, receiver, now } = intake
  if (isRevision(event)) return reviseMessage(tx, intake, before, event)
  const isFollowed = event.type === 'echo' && receiver.channel === 'unofficial'
  const place = event.type === 'message' ? await placeBehind(tx, intake, before, event.at) : undefined
  const planned = isFollowed ? await planFollowedEcho(tx, intake, before, event) : planEvent(intake, before, event)
  const plan = placed(planned, place)
  if (plan.message === null) return plan.applied
  const made = await withEarlyRevisions(tx, keyring, receiver, before, event.customer, plan.message)
  const message = await addMessage(tx, keyring, receiver.workspaceId, made)
  if (message !== null) {
    await insertWhatTheyCarry(tx, keyring, receiver.workspaceId, [message])
    if (isFollowed) await addEchoPart(tx, keyring, receiver, message)
    return plan.added(message)
  }
  const revealed = mayReveal(event) ? await revealMessage(tx, intake, before, event) : null
  const conversation = revealed === null ? before : touched({ ...before, ...newest(before, revealed) }, now)
  return { conversation, events: [], wrote: null }
}

async function placeBehind(tx: Tx, { receiver }: Intake, before: Conversation, at: Date): Promise<Date> {
  const place = placeOfInbound(before, at)
  if (place !== 'unknown') return place
  const sentAt = await findNewestOutbound(tx, receiver.workspaceId, before.id, { from: at, to: before.lastMessageAt })
  return sentAt === null ? at : new Date(sentAt.getTime() + 1)
}

/** A linked device is told how far its own messages have come; platforms tell whoever sent them. */
async function planFollowedEcho(
  tx: Tx,
  intake: Intake,
  before: Conversation,
  event: Extract<CustomerEvent, { type: 'echo' }>,
): Promise<Plan> {
  const told = await takeEarlyStatuses(tx, intake.keyring, intake.receiver, event.externalId)
  const rung = told.reduce((from, to) => climb(from, to) ?? from, sent)
  return planEcho(intake, before, event, rung)
}
