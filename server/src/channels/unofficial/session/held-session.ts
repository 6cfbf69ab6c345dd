import { setTimeout as sleep } from 'node:timers/promises'
import { withTimeout } from '../../../base/async/loop.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Db } from '../../../base/db.ts'
import { DecryptionError } from '../../../base/encryption/encrypt.ts'
import type { KeyStore } from '../../../base/encryption/key-store.ts'
import type { Log } from '../../../base/log.ts'
import type { Receive } from '../../channel-event.ts'
import type { SessionConnection } from '../../connection/connection.ts'
import { findConnection } from '../../connection/queries.ts'
import type { OpenOurFile } from '../../media-transport.ts'
import { findSentText } from '../send/sends.ts'
import { sealedAuthStore } from '../transport/encrypted-auth-store.ts'
import type { Socket, SocketEvent, Transport } from '../transport/transport.ts'
import type { Session } from './session.ts'
import { type Lease, LeaseLost, leaseMs, releaseSession, safetyMs } from './session-lease.ts'
import { freedTopic } from './session-queries.ts'
import { transitionSession } from './session-transition.ts'

export interface HoldDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  log: Log
  receive: Receive
  openFile: OpenOurFile
  transportOf(connection: SessionConnection): Transport
  /** In 0…1, for the jitter of reconnecting. */
  random(): number
  /** Between two tries to store what was received. */
  retryMs?: number
}

/** A session that this process has claimed. */
export interface Hold {
  readonly lease: Lease
  /** As this process last wrote or read it. */
  session: Session
  line: Line | null
  /** Counts the sockets: events of an earlier one are ignored. */
  epoch: number
  /** When to behave as if the lease were over, by the clock of `performance.now`. */
  endsAtMs: number
  isOver: boolean
  /** What is being done, one thing after another. */
  doing: Promise<unknown>
  readonly sending: Set<Promise<void>>
  /** When something was last noted to have come in. */
  notedAt: Date | null
  ended(): void
}

/** The socket of a session. */
export interface Line {
  socket: Socket
  isOpen: boolean
  /** We end it: its events about that are no news. */
  isLeaving: boolean
  isCodeAsked: boolean
  /** How many QR codes it has shown. */
  qrs: number
  /** Ids of messages that have left, or are about to, and of which the network has said nothing yet. */
  awaited: Set<string>
}

export function newHold(lease: Lease, given: Pick<Hold, 'session' | 'ended'> & { askedAt: number }): Hold {
  const { askedAt, ...rest } = given
  return {
    ...rest,
    lease,
    line: null,
    epoch: 0,
    endsAtMs: endOfLease(askedAt),
    isOver: false,
    doing: Promise.resolve(),
    sending: new Set(),
    notedAt: null,
  }
}

/** `askedAt` is the time before the request for the lease: so it ends here before it ends in the database. */
export const endOfLease = (askedAt: number): number => askedAt + leaseMs - safetyMs

export const isHeld = (hold: Hold): boolean => !hold.isOver && performance.now() < hold.endsAtMs

/** Does one thing after another. One that fails leaves the session to whoever claims it next. */
export function act(deps: HoldDeps, hold: Hold, work: () => Promise<void>): void {
  hold.doing = hold.doing.then(async () => {
    if (hold.isOver) return
    await work().catch((error: unknown) => giveUp(deps, hold, error))
  })
}

export function giveUp(deps: HoldDeps, hold: Hold, error: unknown): void {
  if (!(error instanceof LeaseLost)) {
    deps.log.warn(
      'released linked session after an error; another worker may open it',
      { connectionId: hold.lease.connectionId },
      error,
    )
  }
  loseHold(deps, hold)
}

/** It is another's, or will be: closes the socket at once and writes nothing. */
export function loseHold({ log }: HoldDeps, hold: Hold): void {
  const { line, lease } = hold
  hold.line = null
  hold.epoch++
  endHold(hold)
  line?.socket.close().catch((error: unknown) => {
    log.warn('linked session did not close in time', { connectionId: lease.connectionId }, error)
  })
}

/** Lets others claim the session. */
export async function releaseHold({ db }: HoldDeps, hold: Hold): Promise<void> {
  const news = { topic: freedTopic, id: hold.lease.connectionId }
  await db.statement((tx) => releaseSession(tx, hold.lease), news)
  endHold(hold)
}

export function endHold(hold: Hold): void {
  if (hold.isOver) return
  hold.isOver = true
  hold.ended()
}

/** Changes the session, in the database and here. */
export async function moveHold(
  { db, keyStore, clock }: HoldDeps,
  hold: Hold,
  decide: Parameters<typeof transitionSession>[3],
): Promise<void> {
  const { lease } = hold
  hold.session = await keyStore.withKeyring(lease.workspaceId, (keyring) =>
    db.tx((tx) => transitionSession(tx, keyring, lease, decide, clock.now())),
  )
}

/** Resolves once everything that was begun has ended. */
export async function idleHold(hold: Hold): Promise<void> {
  for (let last: unknown; last !== hold.doing; ) {
    last = hold.doing
    await hold.doing
    await Promise.all(hold.sending)
  }
}

export interface Teller {
  connection: SessionConnection
  /** Which of the session's sockets it is. */
  epoch: number
}

/** Takes an event of a socket. */
type HearLine = (deps: HoldDeps, hold: Hold, from: Teller, event: SocketEvent) => Promise<void>

const closeWithinMs = 5_000
const logoutWithinMs = 10_000

/** Opens a socket with what the session knows. */
export async function openLine(deps: HoldDeps, hold: Hold, hear: HearLine): Promise<void> {
  const { db, keyStore, log } = deps
  const { lease } = hold
  const connection = await keyStore.withKeyring(lease.workspaceId, (keyring) =>
    findConnection(db.sql, keyring, lease.workspaceId, lease.connectionId),
  )
  if (connection?.channel !== 'unofficial' || !isHeld(hold)) return loseHold(deps, hold)
  const { isPaired } = hold.session
  const standing = isPaired ? ({ state: 'connecting', reason: 'reconnecting' } as const) : unlinked
  await moveHold(deps, hold, { ...standing, nextAttemptAt: null })
  const auth = sealedAuthStore(deps, lease)
  try {
    await auth.readCreds()
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error
    log.error(
      'failed to decrypt session credentials; the phone must be linked again',
      { connectionId: lease.connectionId },
      error,
    )
    return stopHold(deps, hold, { reason: 'bad_session' })
  }
  const epoch = ++hold.epoch
  const socket = deps.transportOf(connection).open({
    connection,
    auth,
    hear: (event) => hear(deps, hold, { connection, epoch }, event),
    sentText: (id) => sentText(deps, hold, id),
  })
  hold.line = { socket, isOpen: false, isLeaving: false, isCodeAsked: false, qrs: 0, awaited: new Set() }
}

// A phone that asks again gets nothing rather than an error, which the transport could make nothing of.
async function sentText({ db, keyStore, log }: HoldDeps, { lease }: Hold, id: string): Promise<string | null> {
  const { workspaceId, connectionId } = lease
  try {
    return await keyStore.withKeyring(workspaceId, (keyring) => findSentText(db.sql, keyring, lease, id))
  } catch (error) {
    log.warn('failed to read a sent message that the network requested again', { connectionId }, error)
    return null
  }
}

const unlinked = { state: 'pairing', reason: 'pairing' } as const

/** Closes the socket. What it received before is taken first; nothing is taken after this. */
export async function closeLine({ log }: HoldDeps, hold: Hold): Promise<void> {
  const { line, lease } = hold
  if (line === null) return
  line.isOpen = false
  line.isLeaving = true
  await withTimeout(closeWithinMs, () => line.socket.close()).catch((error) =>
    log.warn('linked session did not close in time', { connectionId: lease.connectionId }, error),
  )
  hold.line = null
  hold.epoch++
}

/** Closes the socket for good: the phone lists the device no more, if the network can be told. */
export async function logoutLine(deps: HoldDeps, hold: Hold): Promise<void> {
  const { line, lease, session } = hold
  if (line?.isOpen && session.isPaired) {
    line.isLeaving = true
    await withTimeout(logoutWithinMs, () => line.socket.logout()).catch((error) =>
      deps.log.warn('linked session did not log out in time', { connectionId: lease.connectionId }, error),
    )
  }
  await closeLine(deps, hold)
}

const goodbyeMs = 2_000
const lookEveryMs = 50

/** Waits a little for the network's word on what has just left, while nothing more is sent. */
export async function settleLine({ line, sending }: Hold): Promise<void> {
  if (line === null) return
  line.isOpen = false
  const endsAt = performance.now() + goodbyeMs
  await Promise.race([Promise.all(sending), sleep(goodbyeMs)])
  while (line.awaited.size > 0 && performance.now() < endsAt) await sleep(lookEveryMs)
}

interface Stop {
  reason: string
  /** The keys are of no use any more. */
  forgets?: boolean
  /** The phone belongs to another connection. */
  phone?: null
}

/** Nothing goes on until a member acts. */
export async function stopHold(deps: HoldDeps, hold: Hold, { reason, forgets, ...phone }: Stop): Promise<void> {
  await closeLine(deps, hold)
  await moveHold(deps, hold, {
    state: 'stopped',
    reason,
    ...(forgets ? { forgets, isPaired: false, ...phone } : phone),
    pairing: null,
    shownUntil: null,
    attempt: 0,
    nextAttemptAt: null,
  })
  await releaseHold(deps, hold)
}
