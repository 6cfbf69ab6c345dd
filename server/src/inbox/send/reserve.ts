import { sharedTime } from '../../base/citus/distributed-sql.ts'
import { pipelineCommit, type Tx } from '../../base/db.ts'
import { isOfficial } from '../../channels/connection/connection.ts'
import type { Connector, OutgoingMessage } from '../../channels/connector.ts'
import { claimProbe } from '../../channels/health/availability.ts'
import { noDecisions } from '../../consents/consent.ts'
import { type ServiceSettings, serviceReader } from '../../workspaces/service/service-settings.ts'
import { type BudgetAllowance, lockBudgets, noBudgets, type ReservedMessage } from '../budgets/allowance.ts'
import { storeConversations } from '../conversation/batch-queries.ts'
import { commitChange, recordActivities } from '../conversation/commit-change.ts'
import type { ChangeTx, WorkspaceTx } from '../conversation/conversation.ts'
import type { DispatchKey } from '../conversation/dispatches.ts'
import { findTimes, insertMessages, rangeMs } from '../conversation/message-queries.ts'
import { countryOf } from '../costs/markets.ts'
import { closeDraft, lockDraft } from '../drafts/close-draft.ts'
import { attachUpload } from '../media/attached-uploads.ts'
import { insertAttachments } from '../media/media-queries.ts'
import { findReferences, hasReferences, noReferences, type OutgoingFile } from './check-references.ts'
import { fingerprintOf } from './idempotent-replay.ts'
import {
  keyOf,
  type PlannedSend,
  planSend,
  type SendBatch,
  type SendFacts,
  type SendThread,
  type UnreservedSend,
} from './plan-send.ts'
import {
  connectionsOf,
  findUsedKeys,
  insertSends,
  lockForSends,
  type StartedDispatch,
  startDispatches,
} from './reserve-queries.ts'
import { actorOfSender, type ParsedSend, type SendDeps } from './send-deps.ts'
import { connectionUnavailable, StaleThread } from './send-errors.ts'
import { countSends } from './send-limits.ts'
import { findNewerThan, findUnseen } from './stale-thread.ts'
import { findTemplateFacts } from './template-facts.ts'

/** A recorded send that may go to the platform in its turn. */
export interface ReservedSend
  extends DispatchKey,
    Pick<PlannedSend, 'message' | 'connection' | 'recipient' | 'effects'> {
  connector: Connector
  parts: OutgoingMessage[]
  /** File to upload to the platform first; null for text. */
  file: OutgoingFile | null
  /** Reason of the connection's hold that this send probes; null without one. */
  probedHold: string | null
  turn: number
  /** Slot assigned with the reservation; null if the first part has to request one. */
  start: SendStart | null
}

/** Rate limit slot of the first part, and whether it may start. */
export interface SendStart {
  /** From `performance.now()`, taken before the database query. */
  requestedAt: number
  waitMs: number
  isAllowed: boolean
}

export type Reservation = { reserved: ReservedSend } | UnreservedSend

/**
 * Returns whether a send needs its own transaction: a person's may change the owner, which is rolled back while calls
 * are in progress, and referenced rows are locked with the conversation.
 */
export const needsOwnTransaction = ({ sender, command, lastSeenId, draft, check }: ParsedSend): boolean =>
  sender.actor.type !== 'agent' ||
  [draft, check].some((one) => one !== undefined) ||
  lastSeenId !== null ||
  hasReferences(command)

/**
 * Validates sends of a workspace under their conversations' locks and records the valid ones as `pending`, with keys
 * and parts, in a few statements. An error affects only its own send. Does not wait for locks: a send whose
 * conversation is locked by others, or does not exist, is `alone`.
 */
export function reserveSends(
  deps: SendDeps,
  workspaceId: string,
  sends: readonly ParsedSend[],
): Promise<Reservation[]> {
  return inTransaction(deps, workspaceId, sends, false)
}

/** Reserves one send in its own transaction, waiting for its conversation's lock. */
export async function reserveOne(deps: SendDeps, send: ParsedSend): Promise<Reservation> {
  const [reservation = 'alone'] = await inTransaction(deps, send.sender.workspaceId, [send], true)
  return reservation
}

async function inTransaction(deps: SendDeps, workspaceId: string, sends: readonly ParsedSend[], isAlone: boolean) {
  // Before the transaction: one that holds a connection must not wait for another.
  const service = await serviceReader(deps.db)(workspaceId)
  return deps.keyStore.withKeyring(workspaceId, (keyring) =>
    deps.db.tx((tx) => reserve({ deps, tx, keyring, workspaceId, service, isAlone }, sends)),
  )
}

interface ReserveContext extends WorkspaceTx {
  deps: SendDeps
  service: ServiceSettings
  isAlone: boolean
}

async function reserve(context: ReserveContext, sends: readonly ParsedSend[]): Promise<Reservation[]> {
  const { deps, tx, keyring, workspaceId, isAlone } = context
  const requestedAt = performance.now()
  const { sendsInThreads, known, now } = await deps.step('lock', () => lock(context, sends))
  const work = { tx, keyring, workspaceId, now }
  const { decisions, budgets } = await deps.step('check', async () => {
    const found = await readFacts(work, sendsInThreads, known.connections)
    const budgets = await lockBudgetsOf(work, sendsInThreads, known.connections)
    const inBatch = { ...known, budgets, service: context.service }
    const decisions = sendsInThreads.map((one, n) =>
      planSend(deps, inBatch, one, found[n] ?? noFacts, { isAlone, now }),
    )
    return { decisions, budgets }
  })
  const planned = decisions.flatMap((one) => (typeof one === 'object' && 'message' in one ? [one] : []))
  for (const { connection, draft } of planned) {
    const mayTry = draft.probedHold === undefined || (await claimProbe(tx, connection, draft.probedHold, now))
    if (!mayTry) throw connectionUnavailable()
  }
  if (planned.length < sends.length) await known.allowance.release()
  const started = planned.length === 0 ? [] : await deps.step('write', () => write(context, work, planned, budgets))
  const startedById = new Map(started.map((one) => [one.messageId, one]))
  return decisions.map((one) => {
    if (typeof one === 'string' || 'refused' in one) return one
    const { turn = 1, waitMs = null, isAllowed = false } = startedById.get(one.message.id) ?? {}
    const start = waitMs === null ? null : { requestedAt, waitMs, isAllowed }
    return { reserved: toReservedSend(deps, one, { turn, start }) }
  })
}

type Connections = SendBatch['connections']

interface SendInThread {
  send: ParsedSend
  /** Undefined if it was not locked, or the key was used before. */
  thread: SendThread | undefined
}

async function lock(context: ReserveContext, sends: readonly ParsedSend[]) {
  const { deps, tx, keyring, workspaceId, isAlone } = context
  const count = (some: readonly ParsedSend[]) => countSends({ tx, workspaceId, now: deps.clock.now() }, some)
  const keys = sends.map(({ sender, key }) => ({ senderId: sender.actor.id, key }))
  const [locked, used, connections, counted] = await Promise.all([
    lockForSends(context, sends, isAlone),
    findUsedKeys(tx, workspaceId, keys),
    deps.connectionsIn(tx, keyring, workspaceId, connectionsOf(tx, workspaceId, sends, isAlone)),
    isAlone ? null : count(sends),
  ])
  const now = deps.clock.now()
  const usedKeys = new Set(used.map((place) => keyOf(sends[place])))
  const threads = locked.map((one): SendThread => ({ ...one, before: one.conversation, times: new Set() }))
  const byId = new Map(threads.map((thread) => [thread.before.id, thread]))
  // A single send may use the id of a conversation that was merged into this one.
  const threadOf = (send: ParsedSend) => (isAlone ? threads[0] : byId.get(send.conversationId))
  const sendsInThreads = sends.map(
    (send): SendInThread => ({ send, thread: usedKeys.has(keyOf(send)) ? undefined : threadOf(send) }),
  )
  const lockedSends = sendsInThreads.flatMap(({ send, thread }) =>
    thread ? { ...send, conversationId: thread.before.id } : [],
  )
  const known: Omit<SendBatch, 'budgets' | 'service'> = {
    connections: new Map(connections.map((one) => [one.id, one])),
    usedKeys,
    allowance: counted ?? (await count(lockedSends)),
  }
  const busy = sendsInThreads.flatMap(({ thread }) => (thread && thread.before.lastMessageAt >= now ? [thread] : []))
  await loadTimes(tx, workspaceId, busy, now)
  return { sendsInThreads, known, now }
}

/** Reads the times of other messages only if one is as new as ours. */
async function loadTimes(tx: Tx, workspaceId: string, busy: readonly SendThread[], now: Date): Promise<void> {
  const threads = new Map(busy.map((thread) => [thread.before.id, thread]))
  const to = new Date(now.getTime() + rangeMs)
  const ranges = [...threads.keys()].map((conversationId) => ({ conversationId, from: now, to }))
  for (const { conversationId, at } of await findTimes(tx, workspaceId, ranges)) {
    threads.get(conversationId)?.times.add(at.getTime())
  }
}

const noFacts: SendFacts = {
  ...{ template: null, consents: noDecisions, isFree: true },
  ...{ references: noReferences, unseen: null },
}

/** Reads what sends are validated against. Runs no statement for plain text unless it leaves messages unanswered. */
async function readFacts(work: ChangeTx, sendsInThreads: readonly SendInThread[], connections: Connections) {
  const found = await Promise.all(sendsInThreads.map((one) => readFactsOfOne(work, one, connections)))
  const agentSends = sendsInThreads.map(({ send, thread }) => ({
    conversation: thread?.before ?? null,
    seen: send.seen ?? null,
  }))
  const unseen = await findUnseen(work.tx, work.workspaceId, agentSends)
  return found.map((one, n) => ({ ...one, unseen: unseen[n] ?? null }))
}

async function readFactsOfOne(work: ChangeTx, { send, thread }: SendInThread, connections: Connections) {
  if (thread === undefined) return noFacts
  const { sender, command, lastSeenId, draft } = send
  const { id: conversationId, connectionId, channel, contact } = thread.before
  if (lastSeenId !== null) {
    const newer = await findNewerThan(work, sender.actor, conversationId, lastSeenId)
    if (newer !== null) throw new StaleThread(newer)
  }
  if (draft !== undefined) await lockDraft(work, thread.before, draft.id)
  await send.check?.(work, thread.before)
  const recipient = { connectionId, conversationId, customer: contact }
  const [facts, references] = await Promise.all([
    command.kind === 'template' && isOfficial(channel)
      ? findTemplateFacts(work, command, recipient, connections.get(connectionId) ?? { holds: [] })
      : noFacts,
    findReferences(work, conversationId, command),
  ])
  return { ...facts, references, unseen: null }
}

/** Locks the budgets that limit these sends. Runs no statement in a workspace without budgets. */
async function lockBudgetsOf(work: ChangeTx, sendsInThreads: readonly SendInThread[], connections: Connections) {
  const conversations = sendsInThreads.flatMap(({ thread }) => (thread?.hasBudgets ? thread.before : []))
  if (conversations.length === 0) return noBudgets
  const numberIds = conversations.flatMap(({ connectionId }) => connections.get(connectionId)?.numberId ?? [])
  const sends = {
    conversationIds: [...new Set(conversations.map(({ id }) => id))],
    numberIds: [...new Set(numberIds)],
    countries: [...new Set(conversations.map(({ contact }) => countryOf(contact)))],
  }
  return lockBudgets(work, sends)
}

async function write(
  { deps, isAlone }: ReserveContext,
  work: ChangeTx,
  planned: readonly PlannedSend[],
  budgets: BudgetAllowance,
): Promise<StartedDispatch[]> {
  const { tx, keyring, workspaceId, now } = work
  await budgets.recordAlerts()
  const sends = planned.map(({ send, message, draft }) => ({
    senderId: send.sender.actor.id,
    key: send.key,
    conversationId: message.conversationId,
    connectionId: message.connectionId,
    messageId: message.id,
    fingerprint: fingerprintOf(keyring, message.id, send),
    parts: draft.parts.length,
  }))
  const starts = planned.map(({ send, thread, connection, message, draft }) => ({
    messageId: message.id,
    conversationId: message.conversationId,
    connectionId: message.connectionId,
    ownerEpoch: isAgentSend(send) ? thread.conversation.ownerEpoch : null,
    // The file upload comes first and takes time.
    takesPlace: draft.file === undefined,
    mayStart: isAgentSend(send) && !thread.isHeld,
    rates: deps.sendRatesOf(connection),
  }))
  const messages = planned.map(({ message }) => message)
  const databaseTime = await sharedTime(tx)
  const writeAll = () =>
    Promise.all([
      insertMessages(work, messages),
      insertSends(tx, workspaceId, sends, now),
      insertAttachments(work, messages),
      attachUploads(work, planned),
      storeThreads(work, planned),
      recordOverBudget(work, planned),
      budgets.store(planned.flatMap(reservedMessageOf)),
      closeDrafts(work, planned),
      // Last, because rate limits are shared with all other senders: their rows stay locked only until the commit.
      startDispatches(tx, workspaceId, starts, databaseTime.now),
    ])
  // A single send can still be rolled back by the result of a statement.
  const [, , , , , , , , started] = await (isAlone ? writeAll() : pipelineCommit(tx, writeAll))
  return started
}

function reservedMessageOf({ send, message, connection, cost }: PlannedSend): ReservedMessage[] {
  if (cost === null) return []
  const { id: connectionId, numberId } = connection
  return [
    { messageId: message.id, connectionId, numberId, keyId: isAgentSend(send) ? send.sender.actor.id : null, cost },
  ]
}

/** Records who sent although a budget was used up. */
async function recordOverBudget(work: ChangeTx, planned: readonly PlannedSend[]) {
  for (const { send, thread, cost } of planned) {
    if (!cost?.isOver) continue
    const cause = { actor: actorOfSender(send.sender), reason: null }
    await recordActivities(work, [{ conversation: thread.conversation, detail: { kind: 'over_budget' } }], cause)
  }
}

const isAgentSend = ({ sender }: ParsedSend): boolean => sender.actor.type === 'agent'

async function attachUploads(work: ChangeTx, planned: readonly PlannedSend[]): Promise<void> {
  for (const { draft, message } of planned) {
    if (draft.file !== undefined) await attachUpload(work, draft.file.id, message.id)
  }
}

/** Ends drafts that became messages, and runs what the sends want in this transaction. */
async function closeDrafts(work: ChangeTx, planned: readonly PlannedSend[]): Promise<void> {
  for (const { send, thread, message } of planned) {
    if (send.draft !== undefined) await closeDraft(work, thread.before, send.sender.actor.id, send.draft, message.id)
    await send.reserved?.(work, message)
  }
}

/** A person's send can change more of a conversation than its messages. */
async function storeThreads(work: ChangeTx, planned: readonly PlannedSend[]): Promise<void> {
  const agentThreads = new Set(planned.flatMap(({ send, thread }) => (isAgentSend(send) ? [thread] : [])))
  const changes = [...agentThreads].map(({ before, conversation }) => ({ before, after: conversation }))
  await Promise.all([
    storeConversations(work, changes),
    ...planned.map(({ send, thread: { before, conversation }, events }) => {
      if (isAgentSend(send)) return null
      const cause = { actor: actorOfSender(send.sender), reason: 'sent' } as const
      return commitChange(work, before, { conversation, events }, cause)
    }),
  ])
}

function toReservedSend(
  deps: SendDeps,
  { connection, draft, message, recipient, effects, send }: PlannedSend,
  { turn, start }: Pick<ReservedSend, 'turn' | 'start'>,
): ReservedSend {
  return {
    ...{ workspaceId: send.sender.workspaceId, conversationId: message.conversationId, messageId: message.id },
    ...{ message, connection, recipient, effects, turn, start },
    connector: deps.connectors[connection.channel],
    parts: draft.parts,
    file: draft.file ?? null,
    probedHold: draft.probedHold ?? null,
  }
}
