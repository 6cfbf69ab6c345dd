import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { ApiError } from '../../base/errors.ts'
import { recordNotifications } from '../../notifications/record-notifications.ts'
import { changeOwner } from '../conversation/change.ts'
import { commitChange } from '../conversation/commit-change.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { decryptConversation } from '../conversation/encrypted-conversation.ts'
import { conversationNotFound } from '../conversation/errors.ts'
import type { Urgency } from '../conversation/owner.ts'
import { human } from '../conversation/owner.ts'
import { findConversation, lockConversation } from '../conversation/queries.ts'
import { sendMessage } from '../send/send.ts'
import type { SendDeps, Sender } from '../send/send-deps.ts'
import { IdempotencyKeyReused } from '../send/send-errors.ts'
import {
  findNewestHandover,
  type Handover,
  type HandoverNote,
  insertHandover,
  isSameHandover,
  newHandover,
  toOpenHandover,
} from './handovers.ts'
import { assertOwner } from './transfer-to-agent.ts'
import { checkAssignee } from './update-conversation.ts'

/** An agent's key that hands on what it owns. */
export type HandoverAgent = Sender & { actor: { type: 'agent'; id: string } }

export interface HandoverRequest {
  conversationId: string
  note: HandoverNote
  urgency: Urgency
  /** The member whom it is for: it is assigned to them. Null: the team. */
  userId: string | null
  /** What the customer is told first; null: nothing. */
  closing: string | null
}

export interface HandoverResult {
  conversation: Conversation
  handover: Handover
  /** What became of the closing sentence: `unknown` when the platform has not said yet. Null when there was none. */
  closing: 'sent' | 'failed' | 'unknown' | null
  /** Whether it was handed over before, by this very request. */
  isRepeat: boolean
}

/**
 * Gives people a conversation of the calling agent, with what they have to know. The closing sentence goes to the customer
 * first, at most once while the agent owns the conversation: whoever asks again after a crash between the two sends
 * nothing more and completes it. Throws what sending throws where the sentence is refused, before anything has happened;
 * 400 for a stranger, 404 outside the scope, 409 `HELD_BY_PEOPLE` or `OWNER_MISMATCH` for what is not the agent's.
 */
export async function handOver(
  deps: SendDeps,
  caller: HandoverAgent,
  request: HandoverRequest,
): Promise<HandoverResult> {
  const before = await readConversation(deps, caller, request.conversationId)
  const earlier = await findRepeated(deps, caller, before, request)
  if (earlier !== null) return { conversation: before, handover: earlier, closing: null, isRepeat: true }
  assertOwner(before, caller.actor.id)
  // A stranger is refused before the customer is told anything.
  if (request.userId !== null) await checkAssignee(deps.db.sql, caller.workspaceId, request.userId)
  const closing = request.closing === null ? null : await sendClosing(deps, caller, before, request.closing)
  return deps.keyStore.withKeyring(caller.workspaceId, (keyring) =>
    deps.db.tx(async (tx) => ({
      ...(await assignToPeople(deps, tx, keyring, caller, before.id, request)),
      closing,
      isRepeat: false,
    })),
  )
}

async function readConversation(deps: SendDeps, caller: HandoverAgent, id: string): Promise<Conversation> {
  const row = await findConversation(deps.db.sql, caller, id)
  if (row === undefined) throw conversationNotFound()
  return decryptConversation(await deps.keyStore.keyring(caller.workspaceId), row)
}

/** The hand-over that this request has made before, as long as nobody has done anything with it. */
async function findRepeated(
  { db, keyStore }: SendDeps,
  { workspaceId, actor }: HandoverAgent,
  { id, owner, handover }: Conversation,
  { note, urgency, userId }: HandoverRequest,
): Promise<Handover | null> {
  if (owner.type === 'agent' || handover === null) return null
  const newest = await findNewestHandover(
    { sql: db.sql, keyring: await keyStore.keyring(workspaceId), workspaceId },
    id,
  )
  if (newest === null || newest.id !== handover.id) return null
  return isSameHandover(newest, { keyId: actor.id, to: { type: 'people', userId }, urgency, note }) ? newest : null
}

/** One for each time that the agent owns the conversation: the same for a repeat, whatever words it has. */
const closingKey = ({ id, ownerEpoch }: Conversation): string => `handover:${id}:${ownerEpoch}`

async function sendClosing(
  deps: SendDeps,
  caller: HandoverAgent,
  conversation: Conversation,
  text: string,
): Promise<HandoverResult['closing']> {
  const { inbound } = conversation
  const request = {
    conversationId: conversation.id,
    idempotencyKey: closingKey(conversation),
    body: { kind: 'text', text },
    // What the agent has not seen is left to people.
    ...(inbound.seen !== null && { seen: { id: inbound.seen, isNamed: false } }),
  }
  try {
    const { status, body } = await sendMessage(deps, caller, request)
    return status === 202 && (JSON.parse(body) as { status?: string }).status === 'sent' ? 'sent' : 'failed'
  } catch (error) {
    // It left before, perhaps in other words, or may have: people are to go on either way.
    if (isFromEarlierSend(error)) return 'unknown'
    throw error
  }
}

const isFromEarlierSend = (error: unknown): boolean =>
  error instanceof IdempotencyKeyReused || (error instanceof ApiError && error.data?.code === 'NOT_RETRYABLE')

async function assignToPeople(
  { clock }: SendDeps,
  tx: Tx,
  keyring: Keyring,
  caller: HandoverAgent,
  id: string,
  { note, urgency, userId }: HandoverRequest,
): Promise<Pick<HandoverResult, 'conversation' | 'handover'>> {
  const { workspaceId, actor } = caller
  const now = clock.now()
  const before = await lockConversation(tx, keyring, caller, id)
  if (before === undefined) throw conversationNotFound()
  // Somebody may have taken it while the closing sentence was on its way.
  assertOwner(before, actor.id)
  if (userId !== null) await checkAssignee(tx, workspaceId, userId)
  const handover = newHandover({ ...note, from: before.owner, to: { type: 'people', userId }, urgency, actor }, now)
  const { conversation: owned, events } = changeOwner(before, human, actor, now, handover.id)
  const conversation = {
    ...owned,
    handover: toOpenHandover(handover),
    assignedTo: userId ?? owned.assignedTo,
  }
  await insertHandover({ tx, keyring, workspaceId }, before.id, handover)
  await commitChange({ tx, keyring, workspaceId, now }, before, { conversation, events }, { actor, reason: null })
  const notified = { kind: 'handover' as const, cause: handover.id, userId: conversation.assignedTo, actor }
  await recordNotifications(tx, workspaceId, [{ ...notified, conversationId: before.id }], now)
  return { conversation, handover }
}
