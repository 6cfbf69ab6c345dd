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
  /** Returns 0…1, for the jitter of reconnecting. */
  random(): number
  /** Delay between attempts to store received events. */
  retryMs?: number
}

/** A session claimed by this process. */
export interface Hold {
  readonly lease: Lease
  /** State that this process last wrote or read. */
  session: Session
  line: Line | null
  /** Number of the current socket; events of earlier sockets are ignored. */
  epoch: number
  /** Time from which the lease counts as expired, by `performance.now`. */
  endsAtMs: number
  isOver: boolean
  /** Tail of the queue of actions, which run one at a time. */
  doing: Promise<unknown>
  readonly sending: Set<Promise<void>>
  /** When incoming activity was last stored. */
  notedAt: Date | null
  ended(): void
}

/** The socket of a session. */
export interface Line {
  socket: Socket
  isOpen: boolean
  /** We are closing it: its close events are ignored. */
  isLeaving: boolean
  isCodeAsked: boolean
  /** Number of QR codes shown so far. */
  qrs: number
  /** Ids of messages that were sent, or are about to be, and are not acknowledged yet. */
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

/** Returns when the lease expires here. `askedAt` precedes the request, so this is before the database's expiry. */
export const endOfLease = (askedAt: number): number => askedAt + leaseMs - safetyMs

export const isHeld = (hold: Hold): boolean => !hold.isOver && performance.now() < hold.endsAtMs

/** Runs actions one at a time. After an error, drops the session; whichever worker claims it next continues. */
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

/** Drops a session that another process holds or will claim: closes the socket at once and writes nothing. */
export function loseHold({ log }: HoldDeps, hold: Hold): void {
  const { line, lease } = hold
  hold.line = null
  hold.epoch++
  endHold(hold)
  line?.socket.close().catch((error: unknown) => {
    log.warn('linked session did not close in time', { connectionId: lease.connectionId }, error)
  })
}

/** Releases the lease so that others can claim the session. */
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

/** Updates the session in the database and in memory. */
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

/** Resolves when all running work has ended. */
export async function idleHold(hold: Hold): Promise<void> {
  for (let last: unknown; last !== hold.doing; ) {
    last = hold.doing
    await hold.doing
    await Promise.all(hold.sending)
  }
}

export interface Teller {
  connection: SessionConnection
  /** Number of the session's socket. */
  epoch: number
}

type HearLine = (deps: HoldDeps, hold: Hold, from: Teller, event: SocketEvent) => Promise<void>

const closeWithinMs = 5_000
const logoutWithinMs = 10_000

/** Opens a socket with the stored credentials. */
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

// If the phone requests a message again and reading fails, returns null: the transport could not handle an error.
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

/** Closes the socket. Events received before are still processed; none are accepted afterwards. */
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

/** Logs out and closes the socket: the phone no longer lists the device, if the network can be reached. */
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

/** Stops sending and waits briefly for acknowledgements of messages that were just sent. */
export async function settleLine({ line, sending }: Hold): Promise<void> {
  if (line === null) return
  line.isOpen = false
  const endsAt = performance.now() + goodbyeMs
  await Promise.race([Promise.all(sending), sleep(goodbyeMs)])
  while (line.awaited.size > 0 && performance.now() < endsAt) await sleep(lookEveryMs)
}

interface Stop {
  reason: string
  /** Deletes the keys. */
  forgets?: boolean
  /** Clears the phone: it belongs to another connection. */
  phone?: null
}

/** Stops the session until a member acts. */
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
