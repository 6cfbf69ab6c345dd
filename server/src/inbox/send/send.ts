import { batch } from '../../base/async/batch.ts'
import { isRolledBack, violates } from '../../base/db.ts'
import { isUuid } from '../../base/id.ts'
import { BudgetReached, notifyReached } from '../budgets/alerts.ts'
import { recountForSend } from '../budgets/count-ledger.ts'
import { type Conversation, conversationNotFound } from '../conversation/conversation.ts'
import type { SeenPosition } from '../conversation/conversation-state.ts'
import type { Source } from '../conversation/message.ts'
import { requireConversation } from '../conversation/queries.ts'
import { callPlatform } from './call-platform.ts'
import { replay } from './idempotent-replay.ts'
import { needsOwnTransaction, type Reservation, reserveOne, reserveSends } from './reserve.ts'
import { parseIdempotencyKey, parseSendCommand, type QuickReply, type SendSyntax } from './send-command.ts'
import type {
  DraftApproval,
  LockedCheck,
  ParsedSend,
  ReservedHook,
  SendDeps,
  Sender,
  SendResponse,
} from './send-deps.ts'
import { outcomeUnknownYet } from './send-errors.ts'
import { type AcceptedCall, settle, settleAccepted } from './settle.ts'
import type { StoredResponse } from './settle-parts.ts'
import { splitMemberFields } from './stale-thread.ts'

export interface SendRequest {
  conversationId: string
  /** Raw value of the `Idempotency-Key` header. */
  idempotencyKey: string | readonly string[] | undefined
  body: unknown
  /** Accepted message kinds; for agents those of the contract by default. */
  syntax?: SendSyntax
  /** What is compared with an earlier request of the same key, if not the body: for a file, its bytes. */
  identity?: object
  /** How far the sender had seen: newer messages stay unanswered. If absent, the send answers all. */
  seen?: SeenPosition | undefined
  /** The draft that this send approves. */
  draft?: DraftApproval
  /** Articles that it used, for people: the caller has checked them. */
  sources?: readonly Source[]
  /** Checked under the conversation's lock: otherwise 409, and nothing is sent. */
  onlyIf?: (conversation: Conversation) => boolean
  /** Runs before the send is judged, unless it is a repeat. */
  check?: LockedCheck
  /** Runs in the transaction that reserves it, with its message. */
  reserved?: ReservedHook
  /** What the answers by quick replies of a template contain. */
  quickReplies?: readonly QuickReply[]
  /** Whether a message of a rule answers the customer; those of the service never do. */
  isAnswer?: boolean
  /** Validation error of other parts of the request; thrown once the conversation is known to exist. */
  problem?: Error | undefined
}

export type SendMessage = (sender: Sender, request: SendRequest) => Promise<SendResponse>

/** The two transactions of a send, which can be shared with other sends. */
interface SendTransactions {
  reserve(send: ParsedSend): Promise<Reservation>
  settle(call: AcceptedCall): Promise<StoredResponse | null>
}

// At most two concurrent transactions per workspace and step.
const [maxGroups, maxGroupSize] = [2, 64]

/** Returns a `sendMessage` that batches transactions: concurrent sends of agents in one workspace share them. */
export function createSend(deps: SendDeps): SendMessage {
  const reserveMany = batch<ParsedSend, Reservation>({
    maxGroups,
    maxGroupSize,
    work: (workspaceId, sends) => reserveSends(deps, workspaceId, sends),
    isRolledBack,
  })
  const settleMany = batch<AcceptedCall, StoredResponse | null>({
    maxGroups,
    maxGroupSize,
    work: (workspaceId, calls) => settleAccepted(deps, workspaceId, calls),
    isRolledBack,
  })
  const shared: SendTransactions = {
    reserve: (send) => reserveMany(send.sender.workspaceId, send),
    settle: (call) => settleMany(call.reserved.workspaceId, call),
  }
  return (sender, request) => send(deps, shared, sender, request)
}

/**
 * Sends a message to the customer, at most once per Idempotency-Key of the sender: reserves it, calls the platform
 * outside of any transaction, and settles the result. A repeat gets the first response, byte for byte. Throws 404, 400,
 * 409 and 422 before anything is stored.
 */
export function sendMessage(deps: SendDeps, sender: Sender, request: SendRequest): Promise<SendResponse> {
  const own: SendTransactions = {
    reserve: (one) => reserveOne(deps, one),
    settle: async (call) => (await settleAccepted(deps, call.reserved.workspaceId, [call]))[0] ?? null,
  }
  return send(deps, own, sender, request)
}

async function send(
  deps: SendDeps,
  writes: SendTransactions,
  sender: Sender,
  request: SendRequest,
): Promise<SendResponse> {
  const parsed = await deps.step('read', () => parseSend(deps, sender, request))
  const reservation = await deps.step('reserve', () => reserve(deps, writes, parsed))
  if (typeof reservation === 'string') return replay(deps, parsed)
  if ('refused' in reservation) throw reservation.refused

  const { reserved } = reservation
  const { connection, recipient, probedHold, effects } = reserved
  const { accepted, refusal, hasAcceptedPart } = await callPlatform(deps, reserved)
  const answer = await settle(deps, reserved, accepted, writes.settle)
  if (probedHold !== null && hasAcceptedPart) await deps.recordAcceptance(connection, probedHold)
  if (refusal !== null) await deps.recordRefusal(connection, refusal.effect, refusal.errorCode, recipient)
  if (answer === null) throw outcomeUnknownYet()
  return { ...answer, isReplay: false, ...effects }
}

/** A refusal by a budget stands only after a fresh count: what is reserved may have turned out to be free. */
async function reserve(deps: SendDeps, writes: SendTransactions, send: ParsedSend): Promise<Reservation> {
  const first = await tryToReserve(deps, writes, send)
  if (!isOverBudget(first)) return first
  const isCounted = await recountForSend(deps, send.sender.workspaceId)
  const reservation = isCounted ? await tryToReserve(deps, writes, send) : first
  if (isOverBudget(reservation)) await notifyReached(deps, send.sender.workspaceId, reservation.refused.budget)
  return reservation
}

const isOverBudget = (reservation: Reservation): reservation is { refused: BudgetReached } =>
  typeof reservation === 'object' && 'refused' in reservation && reservation.refused instanceof BudgetReached

async function tryToReserve(deps: SendDeps, writes: SendTransactions, send: ParsedSend): Promise<Reservation> {
  try {
    const reservation = needsOwnTransaction(send) ? 'alone' : await writes.reserve(send)
    return reservation === 'alone' ? await reserveOne(deps, send) : reservation
  } catch (error) {
    // Another node has just used this key.
    if (violates(error, 'sends_pkey')) return 'repeated'
    throw error
  }
}

async function parseSend(deps: SendDeps, sender: Sender, request: SendRequest): Promise<ParsedSend> {
  const conversationId = request.conversationId.toLowerCase()
  if (!isUuid(conversationId)) throw conversationNotFound()
  try {
    return parseRequest(sender, { ...request, conversationId })
  } catch (error) {
    // A missing conversation is reported before other errors of the request.
    await requireConversation(deps.db.sql, sender, conversationId)
    throw error
  }
}

function parseRequest(sender: Sender, request: SendRequest): ParsedSend {
  const { conversationId, problem, identity, seen, draft, sources, onlyIf, check, isAnswer, reserved } = request
  if (problem !== undefined) throw problem
  const { syntax = sender.actor.type === 'agent' ? 'contract' : 'whole' } = request
  // The contract's body has no such field, so it is rejected like any unknown field.
  const { lastSeenId, isOverBudget, rest } =
    syntax === 'contract'
      ? { lastSeenId: null, isOverBudget: false, rest: request.body }
      : splitMemberFields(request.body)
  const key = parseIdempotencyKey(request.idempotencyKey)
  const parsed = parseSendCommand(rest, syntax)
  const { quickReplies } = request
  const command = parsed.kind === 'template' && quickReplies !== undefined ? { ...parsed, quickReplies } : parsed
  const compared = identity === undefined ? {} : { identity }
  const checks = { onlyIf, check, isAnswer, reserved }
  const known = { seen, lastSeenId, isOverBudget, draft, sources }
  return { sender, conversationId, key, command, ...compared, ...known, ...checks }
}
