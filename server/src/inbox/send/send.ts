import { isUuid } from '../../base/id.ts'
import type { SeenUpTo } from '../conversation/conversation-state.ts'
import { conversationNotFound } from '../conversation/errors.ts'
import { readIdempotencyKey } from '../conversation/idempotency-key.ts'
import { findConversation } from '../conversation/queries.ts'
import { readSendCommand, type SendLanguage } from './send-command.ts'
import type { SendAnswer, SendAttempt, SendDeps, Sender } from './send-deps.ts'
import { dispatchSend, type Settle } from './send-dispatch.ts'
import { outcomeNotKnown } from './send-errors.ts'
import type { Answer } from './send-queries.ts'
import { recallAnswer } from './send-recall.ts'
import { type Reserved, reserveSend } from './send-reserve.ts'
import { settleSend } from './send-settle.ts'
import { splitLastSeen } from './thread-moved.ts'

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

/**
 * Sends a message to the customer, at most once for each Idempotency-Key of the sender: reserves it, calls the platform
 * outside any transaction, settles what came of it. A repeat is answered with the first answer, word for word. Throws
 * 404, 400, 409 and 422 before anything is stored.
 */
export async function sendMessage(deps: SendDeps, sender: Sender, request: SendRequest): Promise<SendAnswer> {
  const attempt = await deps.step('read', () => readAttempt(deps, sender, request))
  const earlier = await recallAnswer(deps, attempt)
  if (earlier !== null) return earlier

  const reserved = await deps.step('reserve', () => reserveSend(deps, attempt))
  if (reserved === null) return (await recallAnswer(deps, attempt)) ?? unknown()
  return finishSend(deps, reserved, null)
}

/** Takes a reserved send to the platform, and settles what came of it: by `settle` with others where that can be. */
export async function finishSend(deps: SendDeps, reserved: Reserved, settle: Settle | null): Promise<SendAnswer> {
  const { answer: settled, refusal, isTaken } = await dispatchSend(deps, reserved, settle)
  const answer = await deps.step('settle', async () => settled ?? (await settleAlone(deps, reserved)))
  if (reserved.tries !== null && isTaken) await deps.noteAcceptance(reserved.connection, reserved.tries)
  if (refusal !== null)
    await deps.noteRefusal(reserved.connection, refusal.effect, refusal.errorCode, reserved.recipient)
  if (answer === null) return unknown()
  const { isUnasked, leavesSome, readsSome } = reserved
  return { ...answer, isReplay: false, isUnasked, leavesSome, readsSome }
}

async function settleAlone(deps: SendDeps, reserved: Reserved): Promise<Answer | null> {
  return settleSend(deps, await deps.vault.keyring(reserved.workspaceId), reserved, 'answered')
}

async function readAttempt(deps: SendDeps, sender: Sender, request: SendRequest): Promise<SendAttempt> {
  const conversationId = request.conversationId.toLowerCase()
  const row = isUuid(conversationId) ? await findConversation(deps.db.sql, sender, conversationId) : undefined
  if (row === undefined) throw conversationNotFound()
  if (request.problem !== undefined) throw request.problem
  const { language = sender.actor.type === 'agent' ? 'contract' : 'whole' } = request
  // The contract's body has no such field: it is refused like any other that is unknown.
  const { lastSeenId, rest } =
    language === 'contract' ? { lastSeenId: null, rest: request.body } : splitLastSeen(request.body)
  return {
    sender,
    conversationId,
    connectionId: row.connection_id,
    key: readIdempotencyKey(request.idempotencyKey),
    command: readSendCommand(rest, language),
    ...(request.identity !== undefined && { identity: request.identity }),
    seen: request.seen,
    lastSeenId,
    keyring: await deps.vault.keyring(sender.workspaceId),
  }
}

function unknown(): never {
  throw outcomeNotKnown()
}
