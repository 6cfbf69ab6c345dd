import { type Tx, violates } from '../../base/db.ts'
import { newId } from '../../base/id.ts'
import type { Connection } from '../../channels/connection/connection.ts'
import type { Connector, Outgoing, Recipient } from '../../channels/connector.ts'
import { claimTry } from '../../channels/health/availability.ts'
import { findTemplate } from '../../channels/templates/templates.ts'
import { type ConversationChange, changeOwner, withOutbound, withReaction } from '../conversation/change.ts'
import { commitChange } from '../conversation/commit-change.ts'
import type { Conversation } from '../conversation/conversation.ts'
import type { Left } from '../conversation/conversation-state.ts'
import { conversationNotFound } from '../conversation/errors.ts'
import type { Message } from '../conversation/message.ts'
import { addMessage, insertMessages } from '../conversation/message-queries.ts'
import { human } from '../conversation/owner.ts'
import { lockConversation } from '../conversation/queries.ts'
import { insertWhatTheyCarry } from '../media/media-queries.ts'
import { takeUpload } from '../media/sent-media.ts'
import type { FileToGive } from './check-named.ts'
import { findNamed, type NamedBySend } from './named-by-send.ts'
import { type ConnectionReadiness, checkSend, type Draft } from './send-checks.ts'
import type { SendAttempt, SendDeps, Sender } from './send-deps.ts'
import { connectionUnavailable, invalidMessage, ThreadMoved } from './send-errors.ts'
import { countSends } from './send-limits.ts'
import { findSend, insertSend, type NewSend } from './send-queries.ts'
import { fingerprintOf } from './send-recall.ts'
import { findLeft, findNewerThan } from './thread-moved.ts'

/** How long a send may stay without an outcome before it counts as failed. */
export const settleWithinMs = 10 * 60_000

/** A send that is recorded and may go to the platform, in its turn. */
export interface Reserved {
  workspaceId: string
  conversationId: string
  messageId: string
  message: Message
  connection: Connection
  connector: Connector
  recipient: Recipient
  parts: Outgoing[]
  /** Whether the customer waits for no answer. */
  isUnasked: boolean
  /** Whether the customer wrote what the sender had not seen: that stays unanswered. */
  leavesSome: boolean
  /** Whether it made customer messages read that were not. */
  readsSome: boolean
  /** The file that the platform is given before; null for words. */
  file: FileToGive | null
  /** The reason of the hold of the connection that this send tries; null where nothing stops it. */
  tries: string | null
  turn: number
  /** What came with the reservation; null where the first part has to ask for it. */
  start: Start | null
}

/** The first part's place in line, and whether it may start. */
export interface Start {
  /** By `performance.now()`, before the database was asked. */
  askedAt: number
  waitMs: number
  isAllowed: boolean
}

/**
 * Judges the send under the conversation's lock and records it as `pending`, with its key and its parts. A member's
 * send makes the conversation `human`. Null when the key was used by another request meanwhile.
 */
export async function reserveSend(deps: SendDeps, attempt: SendAttempt): Promise<Reserved | null> {
  const connection = await deps.openConnection(attempt.sender.workspaceId, attempt.connectionId)
  try {
    return await deps.db.tx((tx) => reserve(deps, tx, attempt, connection))
  } catch (error) {
    if (violates(error, 'sends_pkey')) return null
    throw error
  }
}

async function reserve(
  deps: SendDeps,
  tx: Tx,
  attempt: SendAttempt,
  connection: Connection | null,
): Promise<Reserved | null> {
  const { sender, keyring, key } = attempt
  const { workspaceId } = sender
  // Sent together: each is answered as things are once the conversation is locked.
  const [conversation, earlier, readiness] = await deps.step('lock', () =>
    Promise.all([
      lockConversation(tx, keyring, sender, attempt.conversationId),
      findSend(tx, workspaceId, sender.actor.id, key),
      findConnectionReadiness(tx, workspaceId, attempt.connectionId),
    ]),
  )
  if (conversation === undefined) throw conversationNotFound()
  if (earlier !== undefined) return null

  if (attempt.lastSeenId !== null) {
    const newer = await findNewerThan(tx, keyring, sender, conversation.id, attempt.lastSeenId)
    if (newer !== null) throw new ThreadMoved(newer)
  }
  const now = deps.clock.now()
  const draft = await deps.step('check', async () => {
    const named = await findNamed(tx, keyring, { workspaceId, conversationId: conversation.id }, attempt.command)
    return judge(deps, tx, attempt, { conversation, readiness, named, now })
  })
  if (connection === null) throw connectionUnavailable()
  const recipient = recipientOf(conversation)
  const { tries = null } = draft
  if (tries !== null && !(await claimTry(tx, workspaceId, connection.id, tries, now))) throw connectionUnavailable()
  const limited = { sender, conversationId: conversation.id }
  // What is too many throws, and nothing was counted then.
  const allowance = await countSends(tx, workspaceId, [limited], now)
  allowance.check(limited)

  const [left = null] = await findLeft(tx, workspaceId, [{ conversation, seen: attempt.seen ?? null }])
  const change = takeOver(attempt, conversation, now)
  const message = newMessage(conversation, sender, draft, now)
  const { turn, after } = await deps.step('write', () =>
    record(tx, attempt, conversation, change, message, draft, left),
  )
  return {
    workspaceId,
    conversationId: conversation.id,
    messageId: message.id,
    message,
    connection,
    connector: deps.connectors[conversation.channel],
    recipient,
    parts: draft.parts,
    isUnasked: conversation.unansweredSince === null,
    leavesSome: left !== null,
    readsSome: after.unreadCount < conversation.unreadCount,
    file: draft.file ?? null,
    tries,
    turn,
    start: null,
  }
}

/** Returns the turn of the send within its conversation, and what that has become. */
async function record(
  tx: Tx,
  attempt: SendAttempt,
  before: Conversation,
  { conversation, events }: ConversationChange,
  message: Message,
  { parts, file }: Draft,
  left: Left | null,
): Promise<{ turn: number; after: Conversation }> {
  const { sender, keyring, key, command, seen = null } = attempt
  const { workspaceId, actor } = sender
  const now = message.createdAt
  // After the newest message every time is free, and none has to be looked for.
  const isNewest = message.occurredAt > before.lastMessageAt
  const added = isNewest ? message : await addMessage(tx, keyring, workspaceId, message)
  const send: NewSend = {
    workspaceId,
    conversationId: conversation.id,
    connectionId: conversation.connectionId,
    messageId: message.id,
    senderId: actor.id,
    key,
    fingerprint: fingerprintOf(keyring, message.id, attempt),
    ownerEpoch: actor.type === 'agent' ? conversation.ownerEpoch : null,
    parts: parts.length,
    now,
  }
  const stored = added ?? message
  const isReaction = command.kind === 'reaction'
  const after = isReaction
    ? withReaction(conversation, stored, now)
    : withOutbound(conversation, stored, now, seen, left)
  const change = { conversation: after, events }
  const [, turn] = await Promise.all([
    isNewest ? insertMessages(tx, keyring, workspaceId, [message]) : null,
    insertSend(tx, send),
    insertWhatTheyCarry(tx, keyring, workspaceId, [message]),
    file === undefined ? null : takeUpload(tx, workspaceId, file.id, message.id, now),
    commitChange(tx, keyring, workspaceId, before, change, { actor, reason: 'sent' }, now),
  ])
  return { turn, after }
}

async function judge(
  deps: SendDeps,
  tx: Tx,
  { sender, command }: SendAttempt,
  found: { conversation: Conversation; readiness: ConnectionReadiness | null; named: NamedBySend; now: Date },
): Promise<Draft> {
  const { connectionId, channel } = found.conversation
  const template =
    command.kind === 'template' && channel !== 'unofficial'
      ? ((await findTemplate(tx, sender.workspaceId, connectionId, command.name, command.language)) ?? null)
      : null
  return checkSend({
    command,
    sender,
    template,
    maxTextLength: deps.connectors[channel].maxTextLength,
    takesChoices: deps.connectors[channel].takesChoices === true,
    mediaWay: deps.mediaWayOf(channel),
    ...found,
  })
}

async function findConnectionReadiness(
  tx: Tx,
  workspaceId: string,
  connectionId: string,
): Promise<ConnectionReadiness | null> {
  const [row] = await tx<ConnectionReadiness[]>`
    select state, state_reason as "stateReason", state_changed_at as "stateChangedAt", holds,
      acknowledged_at as "acknowledgedAt"
    from connections
    where workspace_id = ${workspaceId}
      and id = ${connectionId}
      and removed_at is null`
  return row ?? null
}

export function recipientOf({ contact }: Conversation): Recipient {
  const { phone, userId } = contact.address
  const recipient =
    phone === null && userId === null ? { phone: contact.phone, userId: contact.userId } : contact.address
  if (recipient.phone === null && recipient.userId === null) {
    throw invalidMessage('The platform has told no address of this customer')
  }
  return recipient
}

/** What a person writes makes the conversation theirs, unless it is a reaction; an agent writes in its own only. */
function takeOver({ sender, command }: SendAttempt, conversation: Conversation, now: Date): ConversationChange {
  const { actor } = sender
  const isAnswer = actor.type !== 'agent' && command.kind !== 'reaction'
  return isAnswer ? changeOwner(conversation, human, actor, now) : { conversation, events: [] }
}

export function newMessage(
  { id, connectionId }: Conversation,
  { actor }: Sender,
  { kind, text, detail }: Draft,
  now: Date,
): Message {
  return {
    id: newId(now),
    conversationId: id,
    connectionId,
    direction: 'outbound',
    kind,
    origin: 'live',
    text,
    ...(detail !== undefined && { detail }),
    referral: null,
    externalId: null,
    status: 'pending',
    errorCode: null,
    actor,
    occurredAt: now,
    createdAt: now,
    settleBy: new Date(now.getTime() + settleWithinMs),
  }
}
