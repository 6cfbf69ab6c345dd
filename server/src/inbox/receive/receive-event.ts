import type { Tx } from '../../base/db.ts'
import { newest, touched } from '../conversation/change.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { placeOfInbound } from '../conversation/conversation-state.ts'
import { addEchoPart, addMessage, findNewestOutbound } from '../conversation/message-queries.ts'
import { climb } from '../conversation/status-ladder.ts'
import { insertWhatTheyCarry } from '../media/media-queries.ts'
import { withEarlyRevisions } from './early-revisions.ts'
import { takeEarlyStatuses } from './early-statuses.ts'
import type { CustomerEvent } from './group-events.ts'
import { type Applied, type Plan, placed, planEcho, planEvent, sent } from './plan-event.ts'
import type { Intake } from './receiver.ts'
import { mayReveal, revealMessage } from './reveal.ts'
import { isRevision } from './revise.ts'
import { reviseMessage } from './revise-message.ts'

/** What an event makes of the customer's conversation, which is locked. Messages are stored here already. */
export async function applyEvent(tx: Tx, intake: Intake, before: Conversation, event: CustomerEvent): Promise<Applied> {
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
