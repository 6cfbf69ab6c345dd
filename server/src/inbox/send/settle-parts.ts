import type { Sql, Tx } from '../../base/db.ts'
import { ApiError } from '../../base/errors.ts'
import { runStep } from '../../base/run-step.ts'
import { type Channel, channels } from '../../channels/connection/connection.ts'
import type { Connector } from '../../channels/connector.ts'
import { type NewEvent, recordEvents } from '../../events/record.ts'
import { releaseReservations } from '../budgets/allowance.ts'
import { messageSent, messageStatusChanged } from '../conversation/change.ts'
import type { Conversation, WorkspaceTx } from '../conversation/conversation.ts'
import {
  type Dispatch,
  type DispatchKey,
  isSendSettled,
  listStrandedSends,
  lockDispatch,
  removeDispatch,
  type Verdict,
} from '../conversation/dispatches.ts'
import { combineParts, type DeliveryState, type Message, nextState, outcomeUnknown } from '../conversation/message.ts'
import { lockConversation } from '../conversation/queries.ts'
import { completeEarlyCharges } from '../costs/record-charges.ts'
import {
  advanceMessages,
  lockSentMessages,
  type Part,
  storeMessageStates,
  storeParts,
} from '../receive/advance-send.ts'
import { consumeEarlyReports } from '../receive/early-statuses.ts'
import { retryWrite, type SendDeps, wakeWaiting } from './send-deps.ts'

/** Maximum number of stranded sends settled per run. */
const batchSize = 100
const notSent = 'not_sent'

/**
 * Why a send is settled: its process has the platform's response (`answered`), its process has died (`abandoned`), or
 * its result has been unknown for too long (`timed_out`).
 */
export type SettleReason = 'answered' | 'abandoned' | 'timed_out'

export interface SettleDeps extends Pick<SendDeps, 'db' | 'keyStore' | 'clock' | 'step'> {
  connectors: Record<Channel, Pick<Connector, 'cancelOrder'>>
}

/**
 * Derives from the parts the message's status, the response for all repeats, and the events. Returns null while the
 * result is unknown: a status from the platform or the timeout decides later. An already settled send keeps its
 * response.
 */
export async function settleSend(
  deps: SettleDeps,
  dispatch: DispatchKey,
  reason: SettleReason,
): Promise<StoredResponse | null> {
  const keyring = await deps.keyStore.keyring(dispatch.workspaceId)
  const scope = { workspaceId: dispatch.workspaceId, connectionIds: [] }
  return retryWrite(() =>
    deps.db.tx(async (tx) => {
      const { workspaceId, conversationId } = dispatch
      const work = { tx, keyring, workspaceId }
      const conversation = await deps.step('lockToSettle', () => lockConversation(work, scope, conversationId))
      if (conversation === undefined) return null
      return deps.step('writeOutcome', () => settle(deps, work, dispatch, conversation, reason))
    }),
  )
}

/**
 * Settles sends whose process has died: as failed with `not_sent` if nothing was sent for certain, by the statuses that
 * the platform has reported since, or ten minutes after the send as failed with `outcome_unknown`. Never sends anything
 * again. Returns the number settled.
 */
export async function settleStrandedSends(deps: Omit<SettleDeps, 'step'>): Promise<number> {
  let count = 0
  const cancellableChannels = channels.filter((channel) => deps.connectors[channel].cancelOrder !== undefined)
  for (const send of await listStrandedSends(deps.db.sql, deps.clock.now(), cancellableChannels, batchSize)) {
    const reason = send.isOverdue ? 'timed_out' : 'abandoned'
    const answer = await settleSend({ ...deps, step: runStep }, send, reason)
    if (answer !== null) count++
  }
  return count
}

async function settle(
  { connectors, clock }: SettleDeps,
  { tx, keyring, workspaceId }: WorkspaceTx,
  { messageId, conversationId }: DispatchKey,
  conversation: Conversation,
  reason: SettleReason,
): Promise<StoredResponse | null> {
  const now = clock.now()
  const work = { tx, keyring, workspaceId, now }
  const [sent, earlier, lockedDispatch] = await Promise.all([
    lockSentMessages(work, [messageId]),
    findResponse(tx, workspaceId, messageId),
    lockDispatch(tx, workspaceId, messageId),
  ])
  const found = sent.get(messageId)
  if (found === undefined) return null
  if (earlier !== null) return earlier
  const { before, parts } = found
  const isUnsent =
    lockedDispatch !== undefined &&
    (await isDefinitelyUnsent({ connectors, clock }, work, { lockedDispatch, conversation, before, parts }))
  const assumedErrorCode = isUnsent ? notSent : reason === 'timed_out' ? outcomeUnknown : null
  const outcome = decideOutcome(messageId, parts, lockedDispatch?.verdict ?? null, assumedErrorCode)
  if (outcome === null) return null

  const message = { ...before, ...nextState(before, outcome.state), settleBy: null }
  const externalIndexes = outcome.parts.flatMap(({ externalIndex }) => externalIndex ?? [])
  const index = outcome.parts.find(({ part }) => part === 1)?.externalIndex ?? null
  const newId = lockedDispatch?.external_id ? { sealed: lockedDispatch.external_id, index } : null
  const changed = outcome.parts.filter((part, n) => part !== parts[n])
  wakeWaiting(tx, conversationId)
  const [early] = await Promise.all([
    consumeEarlyReports(tx, workspaceId, messageId, externalIndexes),
    storeParts(tx, workspaceId, changed),
    storeMessageStates(tx, workspaceId, [{ message, newId }]),
    storeAnswer(tx, workspaceId, messageId, outcome.answer),
    removeDispatch(tx, workspaceId, messageId),
    recordEvents(tx, keyring, workspaceId, eventsOf(conversation, before, message, now), now),
  ])
  if (lockedDispatch?.has_reservations) {
    const failed = outcome.parts.flatMap(({ part, status }) => (status === 'failed' ? part : []))
    await releaseReservations(tx, workspaceId, messageId, failed)
  }
  if (early.length > 0) {
    const { connectionId } = before
    const charged = externalIndexes.map((index) => ({ connectionId, externalIndex: index }))
    await completeEarlyCharges(work, charged)
    await advanceMessages(work, [{ conversation, messageId, reports: early }])
  }
  return outcome.answer
}

interface OpenSend {
  lockedDispatch: Dispatch
  conversation: Conversation
  before: Message
  parts: readonly Part[]
}

/**
 * Returns whether the pending part was not sent and never will be: the process is dead, and no call was allowed or the
 * channel has cancelled it. Channels are not asked about overdue sends, because they forget.
 */
async function isDefinitelyUnsent(
  { connectors, clock }: Pick<SettleDeps, 'connectors' | 'clock'>,
  { tx, keyring, workspaceId }: WorkspaceTx,
  { lockedDispatch, conversation: { channel }, before: { id, connectionId, settleBy }, parts }: OpenSend,
): Promise<boolean> {
  if (!lockedDispatch.is_dead || !lockedDispatch.is_calling) return lockedDispatch.is_dead
  const open = parts.find(({ status }) => status === 'pending')
  if (open === undefined || settleBy === null || settleBy <= clock.now()) return false
  const order = { workspaceId, connectionId, correlator: `${id}:${open.part}` }
  return (await connectors[channel].cancelOrder?.(tx, keyring, order)) ?? false
}

// A status may have arrived before the platform's response: then `inbox.message.sent` was already recorded.
function eventsOf(conversation: Conversation, before: Message, after: Message, now: Date): NewEvent[] {
  if (before.status === 'pending') return [messageSent(conversation, after)]
  if (before.status === after.status) return []
  return [messageStatusChanged(conversation, after.id, after, now)]
}

interface SettledState {
  /** State of the message, from its parts. */
  state: DeliveryState
  parts: Part[]
  answer: StoredResponse
}

/**
 * Returns the result of a send with these parts; null while a part is pending. `assumedErrorCode` is the error code for
 * parts with an unknown result; null while a report may still arrive.
 */
function decideOutcome(
  messageId: string,
  parts: readonly Part[],
  verdict: Verdict | null,
  assumedErrorCode: string | null,
): SettledState | null {
  const closed = parts.map((part) =>
    part.status === 'pending' ? { ...part, ...assumedState(part, parts, assumedErrorCode) } : part,
  )
  const state = combineParts(closed)
  if (state.status === 'pending') return null
  if (state.status !== 'failed') return { state, parts: closed, answer: acceptedResponse(messageId, 'sent') }
  const answer = verdict === 'undelivered' ? undeliveredResponse(messageId) : acceptedResponse(messageId, 'failed')
  return { state, parts: closed, answer }
}

// No part after a failed one is sent; a part without a result for too long counts as failed.
function assumedState({ part }: Part, parts: readonly Part[], assumedErrorCode: string | null): DeliveryState {
  const failed = parts.filter(({ status }) => status === 'failed')
  const isBehind = failed.some((other) => other.part < part)
  const errorCode = isBehind ? notSent : (assumedErrorCode ?? (failed.length > 0 ? outcomeUnknown : null))
  return { status: errorCode === null ? 'pending' : 'failed', errorCode }
}

function undeliveredResponse(messageId: string): StoredResponse {
  const statusMessage = 'The chat platform did not deliver the message'
  const data = { code: 'DELIVERY_FAILED', message_id: messageId }
  return { status: 502, body: JSON.stringify({ statusCode: 502, statusMessage, data }) }
}

// A row of `sends` has the key and its response, `message_parts` the result of each platform message.

/** Response to a send, byte for byte the same for all repeats. */
export interface StoredResponse {
  status: number
  body: string
}

/** Returns the response to a send that was accepted completely or has definitely failed. */
export function acceptedResponse(messageId: string, status: 'sent' | 'failed'): StoredResponse {
  return { status: 202, body: JSON.stringify({ message_id: messageId, status }) }
}

interface SendOutcome {
  message_id: string
  status: 'sent' | 'failed'
}

/** Parses the response of a send; throws the error if it holds one. */
export function parseSendOutcome({ status, body }: { status: number; body: string }): SendOutcome {
  const responseBody = JSON.parse(body)
  if (status === 202) return { message_id: responseBody.message_id, status: responseBody.status }
  const { statusMessage, data } = responseBody as { statusMessage: string; data?: Record<string, unknown> }
  throw new ApiError(status, statusMessage, { ...(data !== undefined && { data }) })
}

export interface StoredResponseRow {
  answer_status: number | null
  answer_body: string | null
  /** Whether its dispatch was deleted, which happens when the send is settled. */
  is_settled: boolean
}

/** Returns null while the send is not settled. A settled send without a stored response was accepted in a batch. */
export function responseOf(messageId: string, row: StoredResponseRow): StoredResponse | null {
  const { answer_status: status, answer_body: body, is_settled: isSettled } = row
  if (status !== null && body !== null) return { status, body }
  return isSettled ? acceptedResponse(messageId, 'sent') : null
}

async function findResponse(sql: Sql, workspaceId: string, messageId: string): Promise<StoredResponse | null> {
  const [row] = await sql<StoredResponseRow[]>`
    select s.answer_status, s.answer_body, ${isSendSettled(sql, workspaceId, sql`s.message_id`)} as is_settled
    from sends s
    where s.workspace_id = ${workspaceId}
      and s.message_id = ${messageId}`
  return row === undefined ? null : responseOf(messageId, row)
}

async function storeAnswer(tx: Tx, workspaceId: string, messageId: string, { status, body }: StoredResponse) {
  await tx`
    update sends
    set answer_status = ${status},
      answer_body = ${body}
    where workspace_id = ${workspaceId}
      and message_id = ${messageId}`
}
