import { conflict, invalid, unprocessable } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import {
  type ChangeDeps,
  type ChangeTx,
  type Conversation,
  inWorkspace,
  publishConversations,
} from '../conversation/conversation.ts'
import { windowIsOpen } from '../conversation/conversation-state.ts'
import { keyIdOf } from '../conversation/owner.ts'
import { requireLocked } from '../conversation/queries.ts'
import type { DraftBody } from '../drafts/draft.ts'
import { parseSendCommand } from '../send/send-command.ts'
import type { Sender } from '../send/send-deps.ts'
import { invalidMessage, ownerMismatch } from '../send/send-errors.ts'
import {
  customerWrote,
  encryptBody,
  isWithdrawn,
  lockScheduled,
  publishScheduled,
  type ScheduledMessage,
  scheduledClosed,
  scheduledNotFound,
  selectScheduled,
  storeResult,
} from './scheduled-message.ts'

/** How far ahead a message can be scheduled, and how many can wait. */
export const maxAheadMs = 30 * 86_400_000
const maxOfConversation = 20
const maxOfWorkspace = 10_000

type Scheduler = Pick<Sender, 'workspaceId' | 'connectionIds'> & { actor: ScheduledMessage['sender'] }

export interface NewScheduledMessage {
  conversationId: string
  /** A text or a template, as in a send. */
  body: DraftBody
  dueAt: Date
  cancelIfCustomerWrites: boolean
}

/**
 * Schedules a message; everything that can stop a send is judged when it is due. The same message at the same time is
 * scheduled once. Throws 404, 409 `OWNER_MISMATCH` for an agent that does not own the conversation, 409 at the limits,
 * and 422 `WINDOW_CLOSED` for a text that could never be sent.
 */
export function scheduleMessage(
  deps: ChangeDeps,
  sender: Scheduler,
  message: NewScheduledMessage,
): Promise<{ scheduled: ScheduledMessage; isNew: boolean }> {
  checkBody(message.body)
  return inWorkspace(deps, sender.workspaceId, async (work) => {
    const { tx } = work
    const conversation = await requireLocked(work, sender, message.conversationId)
    checkOwner(sender, conversation)
    checkTime(message, conversation, work.now)
    const inOrder = tx`and s.status = 'scheduled' order by s.due_at for update`
    const waiting = await selectScheduled({ ...work, sql: tx }, conversation.id, inOrder)
    const earlier = waiting.find((one) => !isWithdrawn(one, conversation) && isSame(one, sender, message))
    if (earlier !== undefined) return { scheduled: earlier, isNew: false }
    const withdrawn = waiting.filter((one) => isWithdrawn(one, conversation))
    for (const one of withdrawn) await cancelWithdrawn(work, one)
    await checkLimits(work, waiting.length - withdrawn.length)
    return { scheduled: await insertScheduled(work, sender, conversation, message), isNew: true }
  })
}

/** Cancels it because the customer has written. */
const cancelWithdrawn = (work: ChangeTx, one: ScheduledMessage) =>
  storeResult(work, one, { status: 'cancelled', reason: customerWrote })

/** Throws 400 and 422 for anything but a text or a template without a file. */
function checkBody(body: DraftBody): void {
  const command = parseSendCommand(body, 'whole')
  if (command.kind === 'template' ? command.headerUploadId === undefined : command.kind === 'text') return
  throw invalidMessage('Only a text or a template without a file can be scheduled')
}

function checkOwner({ actor }: Scheduler, { owner }: Conversation): void {
  if (actor.type === 'agent' && keyIdOf(owner) !== actor.id) throw ownerMismatch(owner)
}

/** A text after the window needs a message of the customer, which would cancel it. */
function checkTime(
  { dueAt, body, cancelIfCustomerWrites }: NewScheduledMessage,
  { windowExpiresAt }: Conversation,
  now: Date,
): void {
  if (dueAt.getTime() > now.getTime() + maxAheadMs) throw invalid('dueAt', 'must be in the future, by at most 30 days')
  if (body.kind === 'text' && cancelIfCustomerWrites && !windowIsOpen(windowExpiresAt, dueAt)) {
    throw unprocessable(
      'The 24-hour window is closed at that time, unless the customer writes, which cancels the message. Schedule a template or an earlier time.',
      { code: 'WINDOW_CLOSED' },
    )
  }
}

const isSame = (one: ScheduledMessage, { actor }: Scheduler, message: NewScheduledMessage): boolean =>
  one.sender.id === actor.id &&
  one.dueAt.getTime() === message.dueAt.getTime() &&
  one.cancelIfCustomerWrites === message.cancelIfCustomerWrites &&
  JSON.stringify(one.body) === JSON.stringify(message.body)

async function checkLimits({ tx, workspaceId }: ChangeTx, ofConversation: number): Promise<void> {
  if (ofConversation >= maxOfConversation) {
    throw conflict(
      `The limit of ${maxOfConversation} scheduled messages of a conversation is reached. Cancel one first.`,
    )
  }
  await tx`select pg_advisory_xact_lock(hashtextextended(${`scheduled ${workspaceId}`}, 0))`
  const [row] = await tx<{ count: number }[]>`
    select count(*)::integer as count
    from scheduled_messages
    where workspace_id = ${workspaceId}
      and status = 'scheduled'`
  if ((row?.count ?? 0) < maxOfWorkspace) return
  throw conflict(`A workspace has at most ${maxOfWorkspace} scheduled messages. Cancel one first.`)
}

async function insertScheduled(
  { tx, keyring, workspaceId, now }: ChangeTx,
  { actor }: Scheduler,
  { id: conversationId, inbound }: Conversation,
  { body, dueAt, cancelIfCustomerWrites }: NewScheduledMessage,
): Promise<ScheduledMessage> {
  const scheduled: ScheduledMessage = {
    ...{ id: newId(now), conversationId, sender: actor, status: 'scheduled', body, dueAt, cancelIfCustomerWrites },
    ...{ inboundId: inbound.newest, reason: null, messageId: null, createdAt: now },
  }
  await tx`
    insert into scheduled_messages (
      workspace_id, id, conversation_id, sender_type, sender_id, status, content, due_at, next_at,
      cancel_if_customer_writes, inbound_id, created_at
    )
    values (
      ${workspaceId}, ${scheduled.id}, ${conversationId}, ${actor.type}, ${actor.id}, 'scheduled',
      ${encryptBody(keyring, scheduled.id, body)}, ${dueAt}, ${dueAt}, ${cancelIfCustomerWrites}, ${inbound.newest},
      ${now}
    )`
  publishScheduled(tx, workspaceId)
  publishConversations(tx, workspaceId, [conversationId])
  return scheduled
}

interface Named {
  conversationId: string
  id: string
}

/**
 * Sets another time, also for one that was held: what has held it is judged again then, and what the customer has
 * written until now does not cancel it. `dueAt` null: now. Throws 404, and 409 if it is being sent or has ended.
 */
export function rescheduleMessage(
  deps: ChangeDeps,
  by: Scheduler,
  { conversationId, id, dueAt }: Named & { dueAt: Date | null },
): Promise<ScheduledMessage> {
  return withScheduled(deps, by, { conversationId, id }, async (work, conversation, one) => {
    const { tx, workspaceId, now } = work
    if (one.status !== 'scheduled' && one.status !== 'held') throw scheduledClosed(one.status)
    const due = dueAt ?? now
    const changed = { ...one, dueAt: due, status: 'scheduled' as const, inboundId: conversation.inbound.newest }
    checkTime(changed, conversation, now)
    if (one.status === 'held') {
      const waiting = await selectScheduled({ ...work, sql: tx }, conversation.id, tx`and s.status = 'scheduled'`)
      await checkLimits(work, waiting.length)
    }
    await tx`
      update scheduled_messages
      set status = 'scheduled',
        due_at = ${due},
        next_at = ${due},
        inbound_id = ${changed.inboundId},
        reason = null,
        closed_at = null
      where workspace_id = ${workspaceId}
        and id = ${one.id}`
    publishScheduled(tx, workspaceId)
    publishConversations(tx, workspaceId, [conversation.id])
    return { ...changed, reason: null }
  })
}

/** Cancels a scheduled or held message. Repeating it changes nothing. An agent cancels only its own. */
export function cancelScheduled(deps: ChangeDeps, by: Scheduler, named: Named): Promise<ScheduledMessage> {
  return withScheduled(deps, by, named, async ({ tx, workspaceId, now }, conversation, one) => {
    if (one.status === 'cancelled') return one
    if (one.status !== 'scheduled' && one.status !== 'held') throw scheduledClosed(one.status)
    await tx`
      update scheduled_messages
      set status = 'cancelled',
        next_at = null,
        closed_at = ${now}
      where workspace_id = ${workspaceId}
        and id = ${one.id}`
    publishConversations(tx, workspaceId, [conversation.id])
    return { ...one, status: 'cancelled' }
  })
}

/** Locks the conversation before the message, like a send. */
function withScheduled<T>(
  deps: ChangeDeps,
  by: Scheduler,
  { conversationId, id }: Named,
  change: (work: ChangeTx, conversation: Conversation, one: ScheduledMessage) => Promise<T>,
): Promise<T> {
  return inWorkspace(deps, by.workspaceId, async (work) => {
    const conversation = await requireLocked(work, by, conversationId)
    const one = await lockScheduled(work, conversation.id, id)
    if (by.actor.type === 'agent' && one.sender.id !== by.actor.id) throw scheduledNotFound()
    return change(work, conversation, one)
  })
}
