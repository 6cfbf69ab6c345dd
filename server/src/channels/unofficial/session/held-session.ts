import { setTimeout as sleep } from 'node:timers/promises'
import { withTimeout } from '../../../base/async/loop.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Db } from '../../../base/db.ts'
import { DecryptionError } from '../../../base/encryption/encrypt.ts'
import type { KeyStore } from '../../../base/encryption/key-store.ts'
import type { Log } from '../../../base/log.ts'
import type { ReceiveEvents } from '../../channel-event.ts'
import type { SessionConnection } from '../../connection/connection.ts'
import { findConnection } from '../../connection/queries.ts'
import type { OpenStoredFile } from '../../media-transport.ts'
import { findSentText } from '../send/sends.ts'
import { encryptedAuthStore } from '../transport/encrypted-auth-store.ts'
import type { Socket, SocketEvent, Transport } from '../transport/transport.ts'
import type { Session } from './session.ts'
import { type Lease, LeaseLostError, leaseMarginMs, leaseMs, releaseSession } from './session-lease.ts'
import { releasedTopic } from './session-queries.ts'
import { transitionSession } from './session-transition.ts'

export interface SessionWorkerDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  log: Log
  receive: ReceiveEvents
  openFile: OpenStoredFile
  transportOf(connection: SessionConnection): Transport
  /** Returns 0…1, for the jitter of reconnecting. */
  random(): number
  /** Delay between attempts to store received events. */
  retryMs?: number
}

/** A session claimed by this process. */
export interface HeldSession {
  readonly lease: Lease
  /** State that this process last wrote or read. */
  session: Session
  socketState: SocketState | null
  /** Number of the current socket; events of earlier sockets are ignored. */
  epoch: number
  /** Time from which the lease counts as expired, by `performance.now`. */
  endsAtMs: number
  isOver: boolean
  /** Tail of the queue of actions, which run one at a time. */
  pending: Promise<unknown>
  readonly sending: Set<Promise<void>>
  /** When incoming activity was last stored. */
  activityStoredAt: Date | null
  onEnd(): void
}

/** The socket of a session. */
export interface SocketState {
  socket: Socket
  isOpen: boolean
  /** We are closing it: its close events are ignored. */
  isClosing: boolean
  isCodeRequested: boolean
  /** Number of QR codes shown so far. */
  qrCount: number
  /** Ids of messages that were sent, or are about to be, and are not acknowledged yet. */
  unacknowledged: Set<string>
}

/** `requestedAt`: before the claim of the lease. */
export function createHeldSession(
  claimed: Pick<HeldSession, 'lease' | 'session' | 'onEnd'>,
  requestedAt: number,
): HeldSession {
  return {
    ...claimed,
    socketState: null,
    epoch: 0,
    endsAtMs: endOfLease(requestedAt),
    isOver: false,
    pending: Promise.resolve(),
    sending: new Set(),
    activityStoredAt: null,
  }
}

/** Returns when the lease expires here. `askedAt` precedes the request, so this is before the database's expiry. */
export const endOfLease = (requestedAt: number): number => requestedAt + leaseMs - leaseMarginMs

export const isHeld = (held: HeldSession): boolean => !held.isOver && performance.now() < held.endsAtMs

/** Runs actions one at a time. After an error, drops the session; whichever worker claims it next continues. */
export function enqueueAction(deps: SessionWorkerDeps, held: HeldSession, action: () => Promise<void>): void {
  held.pending = held.pending.then(async () => {
    if (held.isOver) return
    await action().catch((error: unknown) => dropAfterError(deps, held, error))
  })
}

export function dropAfterError(deps: SessionWorkerDeps, held: HeldSession, error: unknown): void {
  if (!(error instanceof LeaseLostError)) {
    deps.log.warn(
      'released linked session after an error; another worker may open it',
      { connectionId: held.lease.connectionId },
      error,
    )
  }
  dropSession(deps, held)
}

/** Drops a session that another process holds or will claim: closes the socket at once and writes nothing. */
export function dropSession({ log }: SessionWorkerDeps, held: HeldSession): void {
  const { socketState, lease } = held
  held.socketState = null
  held.epoch++
  endHeldSession(held)
  socketState?.socket.close().catch((error: unknown) => {
    log.warn('linked session did not close in time', { connectionId: lease.connectionId }, error)
  })
}

/** Releases the lease so that others can claim the session. */
export async function releaseHeldSession({ db }: SessionWorkerDeps, held: HeldSession): Promise<void> {
  const notification = { topic: releasedTopic, id: held.lease.connectionId }
  await db.statement((tx) => releaseSession(tx, held.lease), notification)
  endHeldSession(held)
}

export function endHeldSession(held: HeldSession): void {
  if (held.isOver) return
  held.isOver = true
  held.onEnd()
}

/** Updates the session in the database and in memory. */
export async function updateSession(
  { db, keyStore, clock }: SessionWorkerDeps,
  held: HeldSession,
  decide: Parameters<typeof transitionSession>[3],
): Promise<void> {
  const { lease } = held
  held.session = await keyStore.withKeyring(lease.workspaceId, (keyring) =>
    db.tx((tx) => transitionSession(tx, keyring, lease, decide, clock.now())),
  )
}

/** Resolves when all running work has ended. */
export async function waitUntilIdle(held: HeldSession): Promise<void> {
  for (let last: unknown; last !== held.pending; ) {
    last = held.pending
    await held.pending
    await Promise.all(held.sending)
  }
}

export interface SocketOrigin {
  connection: SessionConnection
  /** Number of the session's socket. */
  epoch: number
}

type HandleSocketEvent = (
  deps: SessionWorkerDeps,
  held: HeldSession,
  from: SocketOrigin,
  event: SocketEvent,
) => Promise<void>

const closeWithinMs = 5_000
const logoutWithinMs = 10_000

/** Opens a socket with the stored credentials. */
export async function openSocket(
  deps: SessionWorkerDeps,
  held: HeldSession,
  handleEvent: HandleSocketEvent,
): Promise<void> {
  const { db, keyStore, log } = deps
  const { lease } = held
  const connection = await keyStore.withKeyring(lease.workspaceId, (keyring) =>
    findConnection(db.sql, keyring, lease.workspaceId, lease.connectionId),
  )
  if (connection?.channel !== 'unofficial' || !isHeld(held)) return dropSession(deps, held)
  const { isPaired } = held.session
  const transition = isPaired ? ({ state: 'connecting', reason: 'reconnecting' } as const) : unlinkedTransition
  await updateSession(deps, held, { ...transition, nextAttemptAt: null })
  const auth = encryptedAuthStore(deps, lease)
  try {
    await auth.readCreds()
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error
    log.error(
      'failed to decrypt session credentials; the phone must be linked again',
      { connectionId: lease.connectionId },
      error,
    )
    return stopSession(deps, held, { reason: 'bad_session' })
  }
  const epoch = ++held.epoch
  const socket = deps.transportOf(connection).open({
    connection,
    auth,
    onEvent: (event) => handleEvent(deps, held, { connection, epoch }, event),
    loadSentText: (id) => sentText(deps, held, id),
  })
  held.socketState = {
    socket,
    isOpen: false,
    isClosing: false,
    isCodeRequested: false,
    qrCount: 0,
    unacknowledged: new Set(),
  }
}

// If the phone requests a message again and reading fails, returns null: the transport could not handle an error.
async function sentText(
  { db, keyStore, log }: SessionWorkerDeps,
  { lease }: HeldSession,
  id: string,
): Promise<string | null> {
  const { workspaceId, connectionId } = lease
  try {
    return await keyStore.withKeyring(workspaceId, (keyring) => findSentText(db.sql, keyring, lease, id))
  } catch (error) {
    log.warn('failed to read a sent message that the network requested again', { connectionId }, error)
    return null
  }
}

const unlinkedTransition = { state: 'pairing', reason: 'pairing' } as const

/** Closes the socket. Events received before are still processed; none are accepted afterwards. */
export async function closeSocket({ log }: SessionWorkerDeps, held: HeldSession): Promise<void> {
  const { socketState, lease } = held
  if (socketState === null) return
  socketState.isOpen = false
  socketState.isClosing = true
  await withTimeout(closeWithinMs, () => socketState.socket.close()).catch((error) =>
    log.warn('linked session did not close in time', { connectionId: lease.connectionId }, error),
  )
  held.socketState = null
  held.epoch++
}

/** Logs out and closes the socket: the phone no longer lists the device, if the network can be reached. */
export async function logoutSocket(deps: SessionWorkerDeps, held: HeldSession): Promise<void> {
  const { socketState, lease, session } = held
  if (socketState?.isOpen && session.isPaired) {
    socketState.isClosing = true
    await withTimeout(logoutWithinMs, () => socketState.socket.logout()).catch((error) =>
      deps.log.warn('linked session did not log out in time', { connectionId: lease.connectionId }, error),
    )
  }
  await closeSocket(deps, held)
}

const drainMs = 2_000
const drainPollMs = 50

/** Stops sending and waits briefly for acknowledgements of messages that were just sent. */
export async function drainSocket({ socketState, sending }: HeldSession): Promise<void> {
  if (socketState === null) return
  socketState.isOpen = false
  const endsAt = performance.now() + drainMs
  await Promise.race([Promise.all(sending), sleep(drainMs)])
  while (socketState.unacknowledged.size > 0 && performance.now() < endsAt) await sleep(drainPollMs)
}

interface StopOptions {
  reason: string
  /** Deletes the keys. */
  forgets?: boolean
  /** Clears the phone: it belongs to another connection. */
  phone?: null
}

/** Stops the session until a member acts. */
export async function stopSession(
  deps: SessionWorkerDeps,
  held: HeldSession,
  { reason, forgets, ...phone }: StopOptions,
): Promise<void> {
  await closeSocket(deps, held)
  await updateSession(deps, held, {
    state: 'stopped',
    reason,
    ...(forgets ? { forgets, isPaired: false, ...phone } : phone),
    pairing: null,
    shownUntil: null,
    attempt: 0,
    nextAttemptAt: null,
  })
  await releaseHeldSession(deps, held)
}
