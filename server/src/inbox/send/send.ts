import { batch } from '../../base/async/batch.ts'
import { isUndone, violates } from '../../base/db.ts'
import { isUuid } from '../../base/id.ts'
import type { SeenUpTo } from '../conversation/conversation-state.ts'
import { conversationNotFound } from '../conversation/errors.ts'
import { findConversation } from '../conversation/queries.ts'
import { callPlatform } from './call-platform.ts'
import { replay } from './replay.ts'
import { goesAlone, type Reservation, reserveAlone, reserveSends } from './reserve.ts'
import { readIdempotencyKey, readSendCommand, type SendLanguage } from './send-command.ts'
import type { ReadSend, SendAnswer, SendDeps, Sender } from './send-deps.ts'
import { outcomeNotKnown } from './send-errors.ts'
import { type AcceptedCall, settle, settleAccepted } from './settle.ts'
import type { Answer } from './settle-parts.ts'
import { splitLastSeen } from './stale-thread.ts'

export interface SendRequest {
  conversationId: string
  /** The `Idempotency-Key` header as it came. */
  idempotencyKey: string | readonly string[] | undefined
  body: unknown
  /** Which kinds of messages the body may ask for; an agent's are the contract's unless this says otherwise. */
  language?: SendLanguage
  /** What makes two requests of one key the same, where that is not what the body says: of a file its bytes. */
  identity?: object
  /** How far the sender had seen: what came since stays unanswered. Absent: it answers whatever is there. */
  seen?: SeenUpTo | undefined
  /** What the request's other parts were found to lack; thrown once the conversation is known to be there. */
  problem?: Error | undefined
}

export type SendMessage = (sender: Sender, request: SendRequest) => Promise<SendAnswer>

/** The two transactions of a send, which it may share with others. */
interface Writes {
  reserve(send: ReadSend): Promise<Reservation>
  settle(call: AcceptedCall): Promise<Answer | null>
}

// Two transactions of a workspace at a time, and of either step.
const [groups, groupSize] = [2, 64]

/** `sendMessage` for many: agents' sends of one workspace that come in a busy moment share their transactions. */
export function openSend(deps: SendDeps): SendMessage {
  const reserveMany = batch<ReadSend, Reservation>({
    groups,
    groupSize,
    work: (workspaceId, sends) => reserveSends(deps, workspaceId, sends),
    isUndone,
  })
  const settleMany = batch<AcceptedCall, Answer | null>({
    groups,
    groupSize,
    work: (workspaceId, calls) => settleAccepted(deps, workspaceId, calls),
    isUndone,
  })
  const shared: Writes = {
    reserve: (send) => reserveMany(send.sender.workspaceId, send),
    settle: (call) => settleMany(call.reserved.workspaceId, call),
  }
  return (sender, request) => send(deps, shared, sender, request)
}

/**
 * Sends a message to the customer, at most once for each Idempotency-Key of the sender: reserves it, calls the platform
 * outside any transaction, settles what came of it. A repeat is answered with the first answer, word for word. Throws
 * 404, 400, 409 and 422 before anything is stored.
 */
export function sendMessage(deps: SendDeps, sender: Sender, request: SendRequest): Promise<SendAnswer> {
  const own: Writes = {
    reserve: (one) => reserveAlone(deps, one),
    settle: async (call) => (await settleAccepted(deps, call.reserved.workspaceId, [call]))[0] ?? null,
  }
  return send(deps, own, sender, request)
}

async function send(deps: SendDeps, writes: Writes, sender: Sender, request: SendRequest): Promise<SendAnswer> {
  const read = await deps.step('read', () => readSend(deps, sender, request))
  const reservation = await deps.step('reserve', () => reserve(deps, writes, read))
  if (typeof reservation === 'string') return replay(deps, read)
  if ('refused' in reservation) throw reservation.refused

  const { reserved } = reservation
  const { connection, recipient, tries, meaning } = reserved
  const { accepted, refusal, isTaken } = await callPlatform(deps, reserved)
  const answer = await settle(deps, reserved, accepted, writes.settle)
  if (tries !== null && isTaken) await deps.noteAcceptance(connection, tries)
  if (refusal !== null) await deps.noteRefusal(connection, refusal.effect, refusal.errorCode, recipient)
  if (answer === null) throw outcomeNotKnown()
  return { ...answer, isReplay: false, ...meaning }
}

async function reserve(deps: SendDeps, writes: Writes, send: ReadSend): Promise<Reservation> {
  try {
    const reservation = goesAlone(send) ? 'alone' : await writes.reserve(send)
    return reservation === 'alone' ? await reserveAlone(deps, send) : reservation
  } catch (error) {
    // Another node was quicker with this key.
    if (violates(error, 'sends_pkey')) return 'repeated'
    throw error
  }
}

async function readSend(deps: SendDeps, sender: Sender, request: SendRequest): Promise<ReadSend> {
  const conversationId = request.conversationId.toLowerCase()
  if (!isUuid(conversationId)) throw conversationNotFound()
  try {
    return readRequest(sender, { ...request, conversationId })
  } catch (error) {
    // Whether the conversation is there is said before what is wrong with the request.
    if ((await findConversation(deps.db.sql, sender, conversationId)) === undefined) throw conversationNotFound()
    throw error
  }
}

function readRequest(sender: Sender, request: SendRequest): ReadSend {
  const { conversationId, problem, identity, seen } = request
  if (problem !== undefined) throw problem
  const { language = sender.actor.type === 'agent' ? 'contract' : 'whole' } = request
  // The contract's body has no such field: it is refused like any other that is unknown.
  const { lastSeenId, rest } =
    language === 'contract' ? { lastSeenId: null, rest: request.body } : splitLastSeen(request.body)
  const key = readIdempotencyKey(request.idempotencyKey)
  const command = readSendCommand(rest, language)
  return { sender, conversationId, key, command, ...(identity !== undefined && { identity }), seen, lastSeenId }
}
