import { ApiError } from '../../base/errors.ts'
import { recordNotifications } from '../../notifications/record-notifications.ts'
import { changeOwner } from '../conversation/change.ts'
import { commitChange } from '../conversation/commit-change.ts'
import { type ChangeTx, type Conversation, inTransaction } from '../conversation/conversation.ts'
import type { Urgency } from '../conversation/owner.ts'
import { human } from '../conversation/owner.ts'
import { loadConversation, requireLocked } from '../conversation/queries.ts'
import { queueInTeams } from '../routing/assign.ts'
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

/** Agent that hands over a conversation it owns. */
export type HandoverAgent = Sender & { actor: { type: 'agent'; id: string } }

export interface HandoverRequest {
  conversationId: string
  note: HandoverNote
  urgency: Urgency
  /** Member to assign; null means the team. */
  userId: string | null
  /** Message to the customer before the handover; null for none. */
  closing: string | null
}

export interface HandoverResult {
  conversation: Conversation
  handover: Handover
  /** Result of the closing message: `unknown` until the platform reports it. Null without one. */
  closing: 'sent' | 'failed' | 'unknown' | null
  /** Whether this request had already handed the conversation over. */
  isRepeat: boolean
}

/**
 * Hands a conversation of the calling agent to people, with a note. Sends the closing message to the customer first, at
 * most once per ownership of the agent: a retry after a crash between the two steps sends nothing and completes the
 * handover. Throws what sending throws if the closing message is refused, before any change; 400 for a user who is not
 * a member, 404 outside the scope, 409 `HELD_BY_PEOPLE` or `OWNER_MISMATCH` if the agent is not the owner.
 */
export async function handOver(
  deps: SendDeps,
  caller: HandoverAgent,
  request: HandoverRequest,
): Promise<HandoverResult> {
  const before = await loadConversation(deps, caller, request.conversationId)
  const earlier = await findRepeated(deps, caller, before, request)
  if (earlier !== null) return { conversation: before, handover: earlier, closing: null, isRepeat: true }
  assertOwner(before, caller.actor.id)
  // Checks the assignee before the customer is sent anything.
  if (request.userId !== null) await checkAssignee(deps.db.sql, caller.workspaceId, request.userId)
  const closing = request.closing === null ? null : await sendClosing(deps, caller, before, request.closing)
  const { workspaceId } = caller
  const handed = await inTransaction(deps, workspaceId, (work) => assignToPeople(work, caller, before.id, request))
  return { ...handed, closing, isRepeat: false }
}

/** Returns the handover that this request made earlier, if people have not acted on it since. */
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

/** One key per ownership of the agent: a retry has the same key, whatever its text. */
const closingKey = ({ id, ownerEpoch }: Conversation): string => `handover:${id}:${ownerEpoch}`

async function sendClosing(deps: SendDeps, caller: HandoverAgent, conversation: Conversation, text: string) {
  const { inbound } = conversation
  const request = {
    conversationId: conversation.id,
    idempotencyKey: closingKey(conversation),
    body: { kind: 'text', text },
    // Messages that the agent has not seen are left to people.
    ...(inbound.seen !== null && { seen: { id: inbound.seen, isNamed: false } }),
  }
  try {
    const { status, body } = await sendMessage(deps, caller, request)
    return status === 202 && (JSON.parse(body) as { status?: string }).status === 'sent' ? 'sent' : 'failed'
  } catch (error) {
    // The message was or may have been sent earlier, perhaps with another text: people get the conversation either way.
    if (isFromEarlierSend(error)) return 'unknown'
    throw error
  }
}

const isFromEarlierSend = (error: unknown): boolean =>
  error instanceof IdempotencyKeyReused || (error instanceof ApiError && error.data?.code === 'NOT_RETRYABLE')

async function assignToPeople(
  work: ChangeTx,
  caller: HandoverAgent,
  id: string,
  { note, urgency, userId }: HandoverRequest,
): Promise<Pick<HandoverResult, 'conversation' | 'handover'>> {
  const { tx, workspaceId, now } = work
  const { actor } = caller
  const before = await requireLocked(work, caller, id)
  // A person may have taken the conversation over while the closing message was being sent.
  assertOwner(before, actor.id)
  if (userId !== null) await checkAssignee(tx, workspaceId, userId)
  const handover = newHandover({ ...note, from: before.owner, to: { type: 'people', userId }, urgency, actor }, now)
  const { conversation: handedOver, events } = changeOwner(before, human, actor, now, handover.id)
  const conversation = {
    ...handedOver,
    handover: toOpenHandover(handover),
    assignedTo: userId ?? handedOver.assignedTo,
  }
  await insertHandover(work, before.id, handover)
  await commitChange(work, before, { conversation, events }, { actor, reason: null })
  if (conversation.assignedTo === null) await queueInTeams(work, [conversation])
  const notified = { kind: 'handover' as const, cause: handover.id, userId: conversation.assignedTo, actor }
  await recordNotifications(tx, workspaceId, [{ ...notified, conversationId: before.id }], now)
  return { conversation, handover }
}
