import { setTimeout as sleep } from 'node:timers/promises'
import { withTimeout } from '../../../base/async/loop.ts'
import { SealBroken } from '../../../base/sealing/seal.ts'
import type { SessionConnection } from '../../connection/connection.ts'
import { findConnection } from '../../connection/queries.ts'
import { findSentText } from '../send/sends.ts'
import { sealedAuthStore } from '../transport/sealed-auth-store.ts'
import type { SocketEvent } from '../transport/transport.ts'
import { type Hold, type HoldDeps, isHeld, loseHold, moveHold, releaseHold } from './hold.ts'

export interface Teller {
  connection: SessionConnection
  /** Which of the session's sockets it is. */
  epoch: number
}

/** Takes an event of a socket. */
export type HearLine = (deps: HoldDeps, hold: Hold, from: Teller, event: SocketEvent) => Promise<void>

const closeWithinMs = 5_000
const logoutWithinMs = 10_000

/** Opens a socket with what the session knows. */
export async function openLine(deps: HoldDeps, hold: Hold, hear: HearLine): Promise<void> {
  const { db, vault, log } = deps
  const { lease } = hold
  const connection = await vault.withKeyring(lease.workspaceId, (keyring) =>
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
    if (!(error instanceof SealBroken)) throw error
    log.error('the credentials of a session do not open', { connectionId: lease.connectionId }, error)
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
async function sentText({ db, vault, log }: HoldDeps, { lease }: Hold, id: string): Promise<string | null> {
  const { workspaceId, connectionId } = lease
  try {
    return await vault.withKeyring(workspaceId, (keyring) => findSentText(db.sql, keyring, lease, id))
  } catch (error) {
    log.warn('what was sent cannot be read again', { connectionId }, error)
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
    log.warn('a session did not close', { connectionId: lease.connectionId }, error),
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
      deps.log.warn('a session did not log out', { connectionId: lease.connectionId }, error),
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

export interface Stop {
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
