import { type Fragment, publish, type Sql, type Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { conflict, notFound } from '../../base/errors.ts'
import {
  type ChangeTx,
  type PlainTx,
  publishConversations,
  type WorkspaceSql,
  type WorkspaceTx,
} from '../conversation/conversation.ts'
import type { InboundMarks } from '../conversation/conversation-state.ts'
import { opaqueWorkspaceId } from '../conversation/queries.ts'
import type { DraftBody } from '../drafts/draft.ts'
import { CustomerWroteAgain } from '../send/send-errors.ts'

export const scheduledStatuses = ['scheduled', 'sending', 'sent', 'drafted', 'held', 'failed', 'cancelled'] as const
export type ScheduledStatus = (typeof scheduledStatuses)[number]

/** A message to send later. */
export interface ScheduledMessage {
  id: string
  conversationId: string
  sender: { type: 'user' | 'token' | 'agent'; id: string }
  status: ScheduledStatus
  /** Body of the send. */
  body: DraftBody
  dueAt: Date
  cancelIfCustomerWrites: boolean
  /** The newest customer message when it was scheduled. */
  inboundId: string | null
  /** Why it was cancelled, or the code of the error for which it was not sent. */
  reason: string | null
  messageId: string | null
  createdAt: Date
}

interface ScheduledRow extends Omit<ScheduledMessage, 'sender' | 'body'> {
  senderType: ScheduledMessage['sender']['type']
  senderId: string
  content: Buffer
}

export const scheduledColumns = (sql: Sql): Fragment => sql`
  s.id, s.conversation_id as "conversationId", s.sender_type as "senderType", s.sender_id as "senderId", s.status,
  s.content, s.due_at as "dueAt", s.cancel_if_customer_writes as "cancelIfCustomerWrites", s.inbound_id as "inboundId",
  s.reason, s.message_id as "messageId", s.created_at as "createdAt"`

const contentPlace = (id: string) => ({ table: 'scheduled_messages', row: id, column: 'content' })

export const encryptBody = (keyring: Keyring, id: string, body: DraftBody): Buffer =>
  keyring.encrypt(contentPlace(id), JSON.stringify(body))

export function decryptScheduled(keyring: Keyring, row: ScheduledRow): ScheduledMessage {
  const { senderType: type, senderId, content, ...rest } = row
  const body = JSON.parse(keyring.decryptText(contentPlace(row.id), content)) as DraftBody
  return { ...rest, sender: { type, id: senderId }, body }
}

/** Returns scheduled messages of a conversation; `rest` is SQL after the conditions. */
export async function selectScheduled(
  { sql, keyring, workspaceId }: WorkspaceSql,
  conversationId: string,
  rest: Fragment,
): Promise<ScheduledMessage[]> {
  const rows = await sql<ScheduledRow[]>`
    select ${scheduledColumns(sql)}
    from scheduled_messages s
    where s.workspace_id = ${opaqueWorkspaceId(sql, workspaceId)}
      and s.conversation_id = ${conversationId}
      ${rest}`
  return rows.map((row) => decryptScheduled(keyring, row))
}

/** Held ones of a conversation that are shown. */
const maxHeld = 5

/** Returns what waits in a conversation, soonest first, and what is held. Messages that failed are in the thread. */
export async function listScheduled(
  work: WorkspaceSql,
  conversation: { id: string; inbound: Pick<InboundMarks, 'newest'> },
): Promise<ScheduledMessage[]> {
  const { sql } = work
  const [waiting, held] = await Promise.all([
    selectScheduled(work, conversation.id, sql`and s.status in ('scheduled', 'sending') order by s.due_at, s.id`),
    selectScheduled(work, conversation.id, sql`and s.status = 'held' order by s.created_at desc limit ${maxHeld}`),
  ])
  const shown = waiting.map((one) =>
    isWithdrawn(one, conversation) ? { ...one, status: 'cancelled' as const, reason: customerWrote } : one,
  )
  return [...shown, ...held.reverse()]
}

/** Reason of one that was cancelled because the customer has written. */
export const customerWrote = 'CUSTOMER_WROTE'

/**
 * Returns whether the customer has written since it was scheduled. Compared when it is due or shown, so that receiving a
 * message costs nothing.
 */
export const isWithdrawn = (
  { status, cancelIfCustomerWrites, inboundId }: ScheduledMessage,
  { inbound }: { inbound: Pick<InboundMarks, 'newest'> },
): boolean => status === 'scheduled' && cancelIfCustomerWrites && inbound.newest !== inboundId

/** Returns a scheduled message of the conversation, locked. Requires the conversation's lock. Throws 404. */
export async function lockScheduled(
  { tx, ...work }: WorkspaceTx,
  conversationId: string,
  id: string,
): Promise<ScheduledMessage> {
  const [one] = await selectScheduled({ ...work, sql: tx }, conversationId, tx`and s.id = ${id} for update`)
  if (one === undefined) throw scheduledNotFound()
  return one
}

/**
 * Locks a scheduled message that is to be sent now, in the transaction that reserves its send. Throws `ScheduledClosed` if
 * it was sent, cancelled or moved to a later time, and `CustomerWroteAgain` if what the customer has written cancels it.
 */
export async function lockToSend(
  work: ChangeTx,
  conversation: { id: string; inbound: Pick<InboundMarks, 'newest'> },
  id: string,
): Promise<void> {
  const one = await lockScheduled(work, conversation.id, id)
  if (one.status !== 'scheduled' || one.dueAt > work.now) throw new ScheduledClosed(one.status)
  if (isWithdrawn(one, conversation)) throw new CustomerWroteAgain()
}

/** How it continues or ended. */
export interface ScheduledResult {
  status: Exclude<ScheduledStatus, 'scheduled'>
  reason?: string | null
  messageId?: string | null
}

/**
 * Stores a result of a message that is scheduled, at the given time if one is given, and returns whether it was. One that
 * is `sending` is looked at again: its result is not known yet.
 */
export async function storeResult(
  { tx, workspaceId, now }: PlainTx,
  { id, conversationId, dueAt }: Pick<ScheduledMessage, 'id' | 'conversationId'> & { dueAt?: Date },
  { status, reason = null, messageId = null }: ScheduledResult,
): Promise<boolean> {
  const isOpen = status === 'sending'
  publishConversations(tx, workspaceId, [conversationId])
  const { count } = await tx`
    update scheduled_messages
    set status = ${status},
      reason = ${reason},
      message_id = ${messageId},
      next_at = ${isOpen ? tx`next_at` : tx`null`},
      closed_at = ${isOpen ? null : now}
    where workspace_id = ${workspaceId}
      and id = ${id}
      and status = 'scheduled'
      ${dueAt === undefined ? tx`` : tx`and due_at = ${dueAt}`}`
  return count === 1
}

/** Changed schedules: the id is the workspace. Wakes the worker that sends them. */
export const scheduledTopic = 'scheduled'

export const publishScheduled = (tx: Tx, workspaceId: string): void => publish(tx, scheduledTopic, workspaceId)

export const scheduledNotFound = () => notFound('Scheduled message not found', { code: 'NOT_FOUND' })

const closedBecause: Record<string, string> = {
  sending: 'it is being sent',
  sent: 'it was sent',
  drafted: 'it became a draft for people',
  failed: 'the platform did not deliver it: send it as a new message',
  cancelled: 'it was cancelled',
}

/** It can no longer be sent, changed or cancelled. */
export class ScheduledClosed extends Error {
  readonly status: ScheduledStatus

  constructor(status: ScheduledStatus) {
    super(`The scheduled message is ${status}`)
    this.status = status
  }
}

export const scheduledClosed = (status: ScheduledStatus) =>
  conflict(`This message can no longer be changed: ${closedBecause[status] ?? status}`)
