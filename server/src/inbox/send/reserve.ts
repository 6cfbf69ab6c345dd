import { commitBehind, type Tx } from '../../base/db.ts'
import { momentOf } from '../../base/distribution/spread.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import type { Connector, Outgoing } from '../../channels/connector.ts'
import { claimTry } from '../../channels/health/availability.ts'
import { findTemplate } from '../../channels/templates/templates.ts'
import { commitChange } from '../conversation/commit-change.ts'
import type { ChangeTx } from '../conversation/conversation.ts'
import type { DispatchKey } from '../conversation/dispatches.ts'
import { storeConversations } from '../conversation/many-queries.ts'
import { findTimes, insertMessages, stretchMs } from '../conversation/message-queries.ts'
import { insertWhatTheyCarry } from '../media/media-queries.ts'
import { takeUpload } from '../media/sent-media.ts'
import { type FileToGive, findNamed, namesNothing, namesSomething } from './check-named.ts'
import { type Found, type Known, keyOf, type PlannedSend, planSend, type Thread, type Unplanned } from './plan-send.ts'
import { fingerprintOf } from './replay.ts'
import { type Begun, beginSends, connectionsOf, findUsedKeys, insertSends, lockForSends } from './reserve-queries.ts'
import type { ReadSend, SendDeps } from './send-deps.ts'
import { connectionUnavailable, ThreadMoved } from './send-errors.ts'
import { countSends } from './send-limits.ts'
import { findLeft, findNewerThan } from './stale-thread.ts'

/** A send that is recorded and may go to the platform, in its turn. */
export interface Reserved extends DispatchKey, Pick<PlannedSend, 'message' | 'connection' | 'recipient' | 'meaning'> {
  connector: Connector
  parts: Outgoing[]
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

export type Reservation = { reserved: Reserved } | Unplanned

/**
 * Whether a send needs a transaction of its own: a person's may change the owner, which is undone while calls are under
 * way, and what a send names is locked beside its conversation.
 */
export const goesAlone = ({ sender, command, lastSeenId }: ReadSend): boolean =>
  sender.actor.type !== 'agent' || lastSeenId !== null || namesSomething(command)

/**
 * Judges sends of a workspace under the locks of their conversations, and records those that may go as `pending`, with
 * their keys and their parts, in a handful of statements. A refusal is that send's alone. Waits for nobody: a send to a
 * conversation that somebody else holds, or that is not there, is `alone`.
 */
export function reserveSends(deps: SendDeps, workspaceId: string, sends: readonly ReadSend[]): Promise<Reservation[]> {
  return inTransaction(deps, workspaceId, sends, false)
}

/** The same for one send, which waits for its conversation. */
export async function reserveAlone(deps: SendDeps, send: ReadSend): Promise<Reservation> {
  const [reservation = 'alone'] = await inTransaction(deps, send.sender.workspaceId, [send], true)
  return reservation
}

const inTransaction = (deps: SendDeps, workspaceId: string, sends: readonly ReadSend[], isAlone: boolean) =>
  deps.vault.withKeyring(workspaceId, (keyring) =>
    deps.db.tx((tx) => reserve({ deps, tx, keyring, workspaceId, isAlone }, sends)),
  )

interface Reserving {
  deps: SendDeps
  tx: Tx
  keyring: Keyring
  workspaceId: string
  isAlone: boolean
}

async function reserve(reserving: Reserving, sends: readonly ReadSend[]): Promise<Reservation[]> {
  const { deps, tx, isAlone } = reserving
  const askedAt = performance.now()
  const { asked, known, now } = await deps.step('lock', () => lock(reserving, sends))
  const judged = await deps.step('check', async () => {
    const found = await lookUp(reserving, asked)
    return asked.map((one, n) => planSend(deps, known, one, found[n] ?? nothingFound, { isAlone, now }))
  })
  const planned = judged.flatMap((one) => (typeof one === 'object' && 'message' in one ? [one] : []))
  for (const { connection, draft } of planned) {
    const mayTry = draft.tries === undefined || (await claimTry(tx, connection, draft.tries, now))
    if (!mayTry) throw connectionUnavailable()
  }
  if (planned.length < sends.length) await known.allowance.giveBack()
  const begun = planned.length === 0 ? [] : await deps.step('write', () => write(reserving, planned, now))
  const beginningOf = new Map(begun.map((one) => [one.messageId, one]))
  return judged.map((one) => {
    if (typeof one === 'string' || 'refused' in one) return one
    const { turn = 1, waitMs = null, isAllowed = false } = beginningOf.get(one.message.id) ?? {}
    const start = waitMs === null ? null : { askedAt, waitMs, isAllowed }
    return { reserved: reservedOf(deps, one, { turn, start }) }
  })
}

interface Asked {
  send: ReadSend
  /** Undefined when it is not locked, or the key was used before. */
  thread: Thread | undefined
}

async function lock({ deps, tx, keyring, workspaceId, isAlone }: Reserving, sends: readonly ReadSend[]) {
  const count = (some: readonly ReadSend[]) => countSends(tx, workspaceId, some, deps.clock.now())
  const [locked, used, connections, counted] = await Promise.all([
    lockForSends({ tx, keyring, workspaceId }, sends, isAlone),
    findUsedKeys(
      tx,
      workspaceId,
      sends.map(({ sender, key }) => ({ senderId: sender.actor.id, key })),
    ),
    deps.connectionsIn(tx, keyring, workspaceId, connectionsOf(tx, workspaceId, sends, isAlone)),
    isAlone ? null : count(sends),
  ])
  const now = deps.clock.now()
  const usedKeys = new Set(used.map((place) => keyOf(sends[place])))
  const threads = locked.map((one): Thread => ({ ...one, before: one.conversation, times: new Set() }))
  const byId = new Map(threads.map((thread) => [thread.before.id, thread]))
  // Alone, it may have been asked for by the id of a conversation that was merged into this one.
  const threadOf = (send: ReadSend) => (isAlone ? threads[0] : byId.get(send.conversationId))
  const asked = sends.map((send): Asked => ({ send, thread: usedKeys.has(keyOf(send)) ? undefined : threadOf(send) }))
  const open = asked.flatMap(({ send, thread }) => (thread ? { ...send, conversationId: thread.before.id } : []))
  const known: Known = {
    connections: new Map(connections.map((one) => [one.id, one])),
    usedKeys,
    allowance: counted ?? (await count(open)),
  }
  const busy = asked.flatMap(({ thread }) => (thread && thread.before.lastMessageAt >= now ? [thread] : []))
  await learnTimes(tx, workspaceId, busy, now)
  return { asked, known, now }
}

/** Only where a message is as new as ours the times of others need a look. */
async function learnTimes(tx: Tx, workspaceId: string, busy: readonly Thread[], now: Date): Promise<void> {
  const threads = new Map(busy.map((thread) => [thread.before.id, thread]))
  const to = new Date(now.getTime() + stretchMs)
  const stretches = [...threads.keys()].map((conversationId) => ({ conversationId, from: now, to }))
  for (const { conversationId, at } of await findTimes(tx, workspaceId, stretches)) {
    threads.get(conversationId)?.times.add(at.getTime())
  }
}

const nothingFound: Found = { template: null, named: namesNothing, left: null }

/** What sends are judged by beside their conversations. Makes no statement for words, unless they leave some unanswered. */
async function lookUp(reserving: Reserving, asked: readonly Asked[]): Promise<Found[]> {
  const found = await Promise.all(asked.map((one) => lookUpOne(reserving, one)))
  const seeing = asked.map(({ send, thread }) => ({ conversation: thread?.before ?? null, seen: send.seen ?? null }))
  const left = await findLeft(reserving.tx, reserving.workspaceId, seeing)
  return found.map((one, n) => ({ ...one, left: left[n] ?? null }))
}

async function lookUpOne({ tx, keyring, workspaceId }: Reserving, { send, thread }: Asked): Promise<Found> {
  if (thread === undefined) return nothingFound
  const { sender, command, lastSeenId } = send
  const { id: conversationId, connectionId, channel } = thread.before
  if (lastSeenId !== null) {
    const newer = await findNewerThan(tx, keyring, sender, conversationId, lastSeenId)
    if (newer !== null) throw new ThreadMoved(newer)
  }
  const hasTemplate = command.kind === 'template' && channel !== 'unofficial'
  const [template = null, named] = await Promise.all([
    hasTemplate ? findTemplate(tx, workspaceId, connectionId, command.name, command.language) : undefined,
    findNamed(tx, keyring, { workspaceId, conversationId }, command),
  ])
  return { template, named, left: null }
}

async function write(
  { deps, tx, keyring, workspaceId, isAlone }: Reserving,
  planned: readonly PlannedSend[],
  now: Date,
): Promise<Begun[]> {
  const sends = planned.map(({ send, message, draft }) => ({
    senderId: send.sender.actor.id,
    key: send.key,
    conversationId: message.conversationId,
    connectionId: message.connectionId,
    messageId: message.id,
    fingerprint: fingerprintOf(keyring, message.id, send),
    parts: draft.parts.length,
  }))
  const beginnings = planned.map(({ send, thread, connection, message, draft }) => ({
    messageId: message.id,
    conversationId: message.conversationId,
    connectionId: message.connectionId,
    ownerEpoch: isAgents(send) ? thread.conversation.ownerEpoch : null,
    // The platform is given a file first, which takes its time.
    takesPlace: draft.file === undefined,
    mayStart: isAgents(send) && !thread.isHeld,
    paces: deps.pacesOf(connection),
  }))
  const messages = planned.map(({ message }) => message)
  const moment = await momentOf(tx)
  const writeAll = () =>
    Promise.all([
      insertMessages({ tx, keyring, workspaceId }, messages),
      insertSends(tx, workspaceId, sends, now),
      insertWhatTheyCarry({ tx, keyring, workspaceId }, messages),
      takeUploads(tx, workspaceId, planned, now),
      storeThreads({ tx, keyring, workspaceId, now }, planned),
      // The last, as lines are shared with all others who send: they are held for no longer than the commit takes.
      beginSends(tx, workspaceId, beginnings, moment.now),
    ])
  // Alone, what a statement answers may undo it all.
  const [, , , , , begun] = await (isAlone ? writeAll() : commitBehind(tx, writeAll))
  return begun
}

const isAgents = ({ sender }: ReadSend): boolean => sender.actor.type === 'agent'

async function takeUploads(tx: Tx, workspaceId: string, planned: readonly PlannedSend[], now: Date): Promise<void> {
  for (const { draft, message } of planned) {
    if (draft.file !== undefined) await takeUpload(tx, workspaceId, draft.file.id, message.id, now)
  }
}

/** What a person writes may change more of a conversation than what is said in it. */
async function storeThreads(work: ChangeTx, planned: readonly PlannedSend[]): Promise<void> {
  const answered = new Set(planned.flatMap(({ send, thread }) => (isAgents(send) ? [thread] : [])))
  const changes = [...answered].map(({ before, conversation }) => ({ before, after: conversation }))
  await Promise.all([
    storeConversations(work, changes),
    ...planned.map(({ send, thread: { before, conversation }, events }) => {
      if (isAgents(send)) return null
      const cause = { actor: send.sender.actor, reason: 'sent' } as const
      return commitChange(work, before, { conversation, events }, cause)
    }),
  ])
}

function reservedOf(
  deps: SendDeps,
  { connection, draft, message, recipient, meaning, send }: PlannedSend,
  { turn, start }: Pick<Reserved, 'turn' | 'start'>,
): Reserved {
  return {
    ...{ workspaceId: send.sender.workspaceId, conversationId: message.conversationId, messageId: message.id },
    ...{ message, connection, recipient, meaning, turn, start },
    connector: deps.connectors[connection.channel],
    parts: draft.parts,
    file: draft.file ?? null,
    tries: draft.tries ?? null,
  }
}
