import { commitBehind, type Tx } from '../../base/db.ts'
import { momentOf } from '../../base/distribution/spread.ts'
import { ApiError } from '../../base/errors.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Connection } from '../../channels/connection/connection.ts'
import type { Template } from '../../channels/templates/template.ts'
import { findTemplate } from '../../channels/templates/templates.ts'
import { withOutbound } from '../conversation/change.ts'
import type { Conversation } from '../conversation/conversation.ts'
import type { Left } from '../conversation/conversation-state.ts'
import { type Message, uniqueTime } from '../conversation/message.ts'
import { findTimes, insertMessages, stretchMs } from '../conversation/message-queries.ts'
import { beginSends } from './begin-sends.ts'
import { namesNothing } from './named-by-send.ts'
import { checkSend, type Draft } from './send-checks.ts'
import type { ReadSend, SendDeps } from './send-deps.ts'
import { type Allowance, countSends } from './send-limits.ts'
import { fingerprintOf } from './send-recall.ts'
import { newMessage, type Reserved, recipientOf } from './send-reserve.ts'
import { findLeft, type SeeingSend } from './thread-moved.ts'
import {
  connectionsOf,
  findUsedKeys,
  insertSends,
  type LockedConversation,
  lockFreeConversations,
  storeOutbound,
} from './together-queries.ts'

/** What became of one of them: null where it is left to `reserveSend`, which looks at more. */
export type Judged = { reserved: Reserved } | { refused: ApiError } | null

/**
 * Reserves agents' sends of a busy moment in a handful of statements: their conversations are locked, each send is judged
 * in memory by the rules that hold for one alone, all are written. What these do not decide is left: a repeat, a
 * conversation that somebody else holds, or that is not there. A refusal is that send's alone.
 */
export function reserveTogether(deps: SendDeps, workspaceId: string, sends: readonly ReadSend[]): Promise<Judged[]> {
  return deps.vault.withKeyring(workspaceId, (keyring) =>
    deps.db.tx((tx) => reserve(deps, tx, keyring, workspaceId, sends)),
  )
}

async function reserve(
  deps: SendDeps,
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  sends: readonly ReadSend[],
): Promise<Judged[]> {
  const askedAt = performance.now()
  const ids = [...new Set(sends.map(({ conversationId }) => conversationId))]
  const keys = sends.map(({ sender, key }) => ({ senderId: sender.actor.id, key }))
  const [locked, used, connections, allowance] = await deps.step('lock', () =>
    Promise.all([
      lockFreeConversations(tx, keyring, workspaceId, ids),
      findUsedKeys(tx, workspaceId, keys),
      deps.connectionsIn(tx, keyring, workspaceId, connectionsOf(tx, workspaceId, ids)),
      countSends(tx, workspaceId, sends, deps.clock.now()),
    ]),
  )
  const now = deps.clock.now()
  const known: Known = {
    threads: new Map(locked.map((one) => [one.conversation.id, threadOf(one)])),
    connections: new Map(connections.map((one) => [one.id, one])),
    usedKeys: new Set(used.map((place) => keyOf(sends[place]))),
    allowance,
  }
  await learnTimes(tx, workspaceId, known, now)
  const judged = await deps.step('check', async () => {
    const templates = await Promise.all(sends.map((send) => templateOf(tx, known, send)))
    const left = await findLeft(tx, workspaceId, sends.map(seeingSend(known)))
    return sends.map((send, n) =>
      plan(deps, known, send, { template: templates[n] ?? null, left: left[n] ?? null }, now),
    )
  })
  const planned = judged.flatMap((one) => (one !== null && 'message' in one ? [one] : []))
  if (planned.length < sends.length) await allowance.giveBack()
  if (planned.length === 0) return judged.map((one) => (one !== null && 'refused' in one ? one : null))
  const begun = await deps.step('write', () => write(deps, tx, keyring, workspaceId, planned, now))
  const startOf = new Map(begun.map((one) => [one.messageId, one]))
  return judged.map((one) => {
    if (one === null || 'refused' in one) return one
    const { turn = 1, waitMs = null, isAllowed = false } = startOf.get(one.message.id) ?? {}
    return { reserved: reservedOf(deps, one, turn, waitMs === null ? null : { askedAt, waitMs, isAllowed }) }
  })
}

/** A locked conversation as it will stand, and the times that its messages are known to have. */
interface Thread extends LockedConversation {
  lastMessageAt: Date
  times: Set<number>
}

interface Known {
  threads: Map<string, Thread>
  connections: Map<string, Connection>
  /** Of those that were used before, and of those that are reserved now. */
  usedKeys: Set<string>
  allowance: Allowance
}

interface Planned {
  send: ReadSend
  thread: Thread
  connection: Connection
  draft: Draft
  message: Message
  recipient: Reserved['recipient']
  isUnasked: boolean
  leavesSome: boolean
  readsSome: boolean
}

const threadOf = (one: LockedConversation): Thread => ({
  ...one,
  lastMessageAt: one.conversation.lastMessageAt,
  times: new Set(),
})

const keyOf = (send: ReadSend | undefined): string => `${send?.sender.actor.id} ${send?.key}`

/** Only where a message is as new as ours the times of others need a look. */
async function learnTimes(tx: Tx, workspaceId: string, { threads }: Known, now: Date): Promise<void> {
  const busy = [...threads.values()].filter(({ lastMessageAt }) => lastMessageAt >= now)
  const to = new Date(now.getTime() + stretchMs)
  const stretches = busy.map(({ conversation }) => ({ conversationId: conversation.id, from: now, to }))
  for (const { conversationId, at } of await findTimes(tx, workspaceId, stretches)) {
    threads.get(conversationId)?.times.add(at.getTime())
  }
}

async function templateOf(tx: Tx, { threads }: Known, send: ReadSend): Promise<Template | null> {
  const { command, sender, conversationId } = send
  const thread = threads.get(conversationId)
  if (command.kind !== 'template' || thread === undefined || thread.conversation.channel === 'unofficial') return null
  const { connectionId } = thread.conversation
  return (await findTemplate(tx, sender.workspaceId, connectionId, command.name, command.language)) ?? null
}

function plan(
  deps: SendDeps,
  { threads, connections, usedKeys, allowance }: Known,
  send: ReadSend,
  { template, left }: { template: Template | null; left: Left | null },
  now: Date,
): Planned | { refused: ApiError } | null {
  const thread = threads.get(send.conversationId)
  if (thread === undefined || usedKeys.has(keyOf(send)) || !mayUse(send, thread.conversation)) return null
  const occurredAt = uniqueTime(now, (timeMs) => thread.times.has(timeMs))
  if (occurredAt.getTime() >= now.getTime() + stretchMs) return null
  const { conversation } = thread
  const connection = connections.get(conversation.connectionId) ?? null
  try {
    const { sender, command } = send
    const { maxTextLength, takesChoices = false } = deps.connectors[conversation.channel]
    const draft = checkSend({
      command,
      sender,
      conversation,
      readiness: connection,
      template,
      maxTextLength,
      takesChoices,
      // Those that name something go alone.
      named: namesNothing,
      mediaWay: undefined,
      now,
    })
    const recipient = recipientOf(conversation)
    // Whether it is the one to try is decided under the connection's lock.
    if (connection === null || draft.tries !== undefined) return null
    allowance.check(send)
    allowance.use(send)
    const message = { ...newMessage(conversation, sender, draft, now), occurredAt }
    usedKeys.add(keyOf(send))
    thread.times.add(occurredAt.getTime())
    thread.conversation = withOutbound(conversation, message, now, send.seen ?? null, left)
    const isUnasked = conversation.unansweredSince === null
    const readsSome = thread.conversation.unreadCount < conversation.unreadCount
    return { send, thread, connection, draft, message, recipient, isUnasked, leavesSome: left !== null, readsSome }
  } catch (error) {
    if (error instanceof ApiError) return { refused: error }
    throw error
  }
}

/** What comes while a conversation is locked comes after all of these. */
const seeingSend =
  ({ threads }: Known) =>
  ({ conversationId, seen }: ReadSend): SeeingSend => ({
    conversation: threads.get(conversationId)?.conversation ?? null,
    seen: seen ?? null,
  })

const mayUse = ({ sender }: ReadSend, { connectionId }: Conversation): boolean =>
  sender.connectionIds.length === 0 || sender.connectionIds.includes(connectionId)

async function write(
  deps: SendDeps,
  tx: Tx,
  keyring: Keyring,
  workspaceId: string,
  planned: readonly Planned[],
  now: Date,
) {
  const sends = planned.map(({ send, message, draft }) => ({
    senderId: send.sender.actor.id,
    key: send.key,
    conversationId: message.conversationId,
    connectionId: message.connectionId,
    messageId: message.id,
    fingerprint: fingerprintOf(keyring, message.id, send),
    parts: draft.parts.length,
  }))
  const beginnings = planned.map(({ thread, connection, message }) => ({
    messageId: message.id,
    conversationId: message.conversationId,
    connectionId: message.connectionId,
    ownerEpoch: thread.conversation.ownerEpoch,
    isHeld: thread.isHeld,
    paces: deps.pacesOf(connection),
  }))
  const messages = planned.map(({ message }) => message)
  const conversations = [...new Set(planned.map(({ thread }) => thread))].map(({ conversation }) => conversation)
  const moment = await momentOf(tx)
  const [, , , begun] = await commitBehind(tx, () =>
    Promise.all([
      insertMessages(tx, keyring, workspaceId, messages),
      insertSends(tx, workspaceId, sends, now),
      storeOutbound(tx, keyring, workspaceId, conversations),
      // The last, as lines are shared with all others who send: they are held for no longer than the commit takes.
      beginSends(tx, workspaceId, beginnings, moment.now),
    ]),
  )
  return begun
}

function reservedOf(
  deps: SendDeps,
  { connection, draft, message, recipient, isUnasked, leavesSome, readsSome, send }: Planned,
  turn: number,
  start: Reserved['start'],
): Reserved {
  return {
    workspaceId: send.sender.workspaceId,
    conversationId: message.conversationId,
    messageId: message.id,
    message,
    connection,
    connector: deps.connectors[connection.channel],
    recipient,
    parts: draft.parts,
    isUnasked,
    leavesSome,
    readsSome,
    file: null,
    tries: null,
    turn,
    start,
  }
}
