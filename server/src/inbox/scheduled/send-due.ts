import { forEach, forEachDue } from '../../base/async/for-each.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db, Sql } from '../../base/db.ts'
import { ApiError } from '../../base/errors.ts'
import { type DueWatch, watchDueWork } from '../../base/pubsub.ts'
import { recordEvents } from '../../events/record.ts'
import { recordNotifications } from '../../notifications/record-notifications.ts'
import { systemActor } from '../../workspaces/actor.ts'
import { scheduledFailed } from '../conversation/change.ts'
import { type ChangeTx, firstTime, inWorkspace, publishConversations } from '../conversation/conversation.ts'
import { proposeDraft } from '../drafts/propose-draft.ts'
import { sendMessage } from '../send/send.ts'
import type { SendDeps, Sender } from '../send/send-deps.ts'
import { ApprovalNeeded, CustomerWroteAgain } from '../send/send-errors.ts'
import {
  customerWrote,
  decryptScheduled,
  lockToSend,
  ScheduledClosed,
  type ScheduledMessage,
  scheduledColumns,
  scheduledTopic,
  storeResult,
} from './scheduled-message.ts'

/** Due messages per workspace and round, and how many workspaces, and messages of one, are worked on at once. */
const batchSize = 40
const [workspacesAtOnce, messagesAtOnce] = [8, 4]
/** Longer than almost every send. A second process that takes over can do no harm: the send has an idempotency key. */
const leaseMs = 120_000
const pollEveryMs = 15_000

export interface ScheduledSendDeps extends SendDeps {
  /** Returns an active key as a sender of the interface for agents, with its limits and approval rules; null if none. */
  readAgentSender(workspaceId: string, keyId: string): Promise<Sender | null>
}

/** Watches for scheduled messages that are due. */
export function watchScheduled({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = () => firstTime(db.sql<{ at: Date | null }[]>`select min(next_at) as at from scheduled_messages`)
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs, watchedTopics: [{ topic: scheduledTopic }] })
}

/**
 * Sends the messages that are due, each by the ordinary send, which judges it under the conversation's lock. Its
 * idempotency key and the row, which the reserving transaction changes, make it at most one message, whichever process
 * dies when. Returns how many it has worked on.
 */
export async function sendDueMessages(deps: ScheduledSendDeps): Promise<number> {
  return forEachDue(
    () => listDue(deps.db.sql, deps.clock.now()),
    workspacesAtOnce,
    async (workspaceId) => {
      const due = await claimDue(deps, workspaceId)
      await forEach(due, messagesAtOnce, (one) => deliver(deps, workspaceId, one))
      return due.length
    },
  )
}

async function listDue(sql: Sql, now: Date): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select distinct workspace_id as id
    from scheduled_messages
    where next_at <= ${now}`
  return rows.map(({ id }) => id)
}

/** Takes the lease of the next due messages of a workspace; other processes skip them. */
function claimDue(deps: ScheduledSendDeps, workspaceId: string): Promise<ScheduledMessage[]> {
  return inWorkspace(deps, workspaceId, async ({ tx, keyring, now }) => {
    const rows = await tx<Parameters<typeof decryptScheduled>[1][]>`
      with due as (
        select id
        from scheduled_messages
        where workspace_id = ${workspaceId}
          and next_at <= ${now}
        order by next_at
        limit ${batchSize}
        for update skip locked
      )
      update scheduled_messages s
      set next_at = ${new Date(now.getTime() + leaseMs)}
      from due
      where s.workspace_id = ${workspaceId}
        and s.id = due.id
      returning ${scheduledColumns(tx)}`
    return rows.map((row) => decryptScheduled(keyring, row))
  })
}

/** Sends one message, unless its send was reserved before; then stores its result, if that is known. */
async function deliver(deps: ScheduledSendDeps, workspaceId: string, one: ScheduledMessage): Promise<void> {
  try {
    if (one.status === 'scheduled') await send(deps, workspaceId, one)
    await settle(deps, workspaceId, one)
  } catch (error) {
    // The lease ends, and the next run tries again.
    deps.log.warn('failed to send a scheduled message; retrying in 2 min', { workspaceId }, error)
  }
}

async function send(deps: ScheduledSendDeps, workspaceId: string, one: ScheduledMessage): Promise<void> {
  const { id, conversationId, body } = one
  const sender = await readSender(deps, workspaceId, one)
  if (typeof sender === 'string') return hold(deps, workspaceId, one, sender)
  try {
    await sendMessage(deps, sender, {
      ...{ conversationId, idempotencyKey: keyOf(one), body, syntax: 'whole' },
      check: (work, conversation) => lockToSend(work, conversation, id),
      // It is `sending` until the result of the message is known.
      reserved: async (work, message) => {
        const sent = { id, conversationId: message.conversationId }
        await storeResult(work, sent, { status: 'sending', messageId: message.id })
      },
    })
  } catch (error) {
    if (error instanceof ScheduledClosed) return
    if (error instanceof CustomerWroteAgain) return cancel(deps, workspaceId, one)
    if (error instanceof ApprovalNeeded) return propose(deps, sender, one, error)
    if (!(error instanceof ApiError) || error.statusCode >= 500) throw error
    // The result is not known yet: the message tells it later.
    if (error.data?.code === 'NOT_RETRYABLE') return
    await hold(deps, workspaceId, one, String(error.data?.code ?? 'INVALID_MESSAGE'))
  }
}

/** Idempotency key of the send, and of the draft that it may become. */
const keyOf = ({ id }: ScheduledMessage): string => `scheduled:${id}`

/** Returns who sends it, or why nobody can: who has scheduled it may have left, or the inbox be switched off. */
async function readSender(deps: ScheduledSendDeps, workspaceId: string, { sender: { type, id } }: ScheduledMessage) {
  if (type === 'agent') return (await deps.readAgentSender(workspaceId, id)) ?? 'KEY_ENDED'
  const { sql } = deps.db
  const [row] = await sql<{ hasInbox: boolean; isHere: boolean }[]>`
    select inbox_enabled and inbox_available as "hasInbox",
      exists (
        select 1 from members
        where workspace_id = ${workspaceId} and user_id = ${id} and ${type}::text = 'user'
      ) or exists (
        select 1 from team_tokens
        where id = ${id} and ${type}::text = 'token' and revoked_at is null and (expires_at is null or expires_at > ${deps.clock.now()})
      ) as "isHere"
    from workspaces
    where id = ${workspaceId}`
  if (!row?.hasInbox) return 'INBOX_UNAVAILABLE'
  return row.isHere ? { workspaceId, connectionIds: [], actor: { type, id } } : 'SENDER_LEFT'
}

/** A message of an agent that a person must approve becomes a draft, in one transaction. */
async function propose(deps: ScheduledSendDeps, sender: Sender, one: ScheduledMessage, { why }: ApprovalNeeded) {
  const { id, conversationId, body } = one
  const agent = { ...sender, actor: { type: 'agent' as const, id: sender.actor.id } }
  const content = { key: keyOf(one), body, syntax: 'whole' as const, identity: null }
  try {
    await proposeDraft(deps, agent, { conversationId, content, why, seen: null, scheduledId: id })
  } catch (error) {
    if (error instanceof ScheduledClosed) return
    if (error instanceof CustomerWroteAgain) return cancel(deps, sender.workspaceId, one)
    if (!(error instanceof ApiError) || error.statusCode >= 500) throw error
    await hold(deps, sender.workspaceId, one, String(error.data?.code ?? 'INVALID_MESSAGE'))
  }
}

const cancel = (deps: ScheduledSendDeps, workspaceId: string, one: ScheduledMessage): Promise<void> =>
  inWorkspace(deps, workspaceId, async (work) => {
    await storeResult(work, one, { status: 'cancelled', reason: customerWrote })
  })

/** Nothing was sent: keeps it with the reason, and notifies its author. */
function hold(deps: ScheduledSendDeps, workspaceId: string, one: ScheduledMessage, reason: string): Promise<void> {
  return inWorkspace(deps, workspaceId, async (work) => {
    if (!(await storeResult(work, one, { status: 'held', reason }))) return
    await notify(work, one, 'held', reason)
  })
}

/** Stores the result of a reserved send once its message has one. */
function settle(deps: ScheduledSendDeps, workspaceId: string, one: ScheduledMessage): Promise<void> {
  return inWorkspace(deps, workspaceId, async (work) => {
    const { tx, now } = work
    const [settled] = await tx<{ status: 'sent' | 'failed'; reason: string | null }[]>`
      update scheduled_messages s
      set status = case when m.status = 'failed' then 'failed' else 'sent' end,
        reason = m.error_code,
        next_at = null,
        closed_at = ${now}
      from messages m
      where s.workspace_id = ${workspaceId}
        and s.id = ${one.id}
        and s.status = 'sending'
        and m.workspace_id = ${workspaceId}
        and m.id = s.message_id
        and m.status <> 'pending'
      returning s.status, s.reason`
    if (settled === undefined) return
    publishConversations(tx, workspaceId, [one.conversationId])
    if (settled.status === 'failed') await notify(work, one, 'failed', settled.reason ?? 'DELIVERY_FAILED')
  })
}

/**
 * Notifies the person who scheduled it; if it was no member, who has the conversation, or everyone. An agent gets it as
 * work, by an event.
 */
async function notify(work: ChangeTx, one: ScheduledMessage, status: 'held' | 'failed', reason: string): Promise<void> {
  const { tx, keyring, workspaceId, now } = work
  const { id, conversationId, sender, dueAt } = one
  const [row] = await tx<{ userId: string | null; connectionId: string }[]>`
    select c.connection_id as "connectionId", coalesce(
      (select user_id from members where workspace_id = ${workspaceId} and user_id = ${sender.id}),
      c.assigned_to
    ) as "userId"
    from conversations c
    where c.workspace_id = ${workspaceId}
      and c.id = ${conversationId}`
  if (sender.type === 'agent' && row !== undefined) {
    const unsent = { id, keyId: sender.id, status, code: reason, dueAt }
    const event = scheduledFailed({ id: conversationId, connectionId: row.connectionId }, unsent, now)
    await recordEvents(tx, keyring, workspaceId, [event], now)
  }
  const common = { kind: 'scheduled', actor: systemActor, conversationId, reason } as const
  // Held again after it was rescheduled, it is a notification of its own.
  const cause = `${id} ${dueAt.toISOString()}`
  await recordNotifications(tx, workspaceId, [{ ...common, cause, userId: row?.userId ?? null }], now)
}
