import type { Clock } from '../../../base/clock.ts'
import type { Db } from '../../../base/db.ts'
import type { Log } from '../../../base/log.ts'
import type { Vault } from '../../../base/sealing/vault.ts'
import type { Receive } from '../../channel-event.ts'
import type { SessionConnection } from '../../connection/connection.ts'
import type { OpenOurFile } from '../../media-way.ts'
import type { Socket, Transport } from '../transport/transport.ts'
import { type Lease, LeaseLost, leaseMs, releaseSession, safetyMs } from './lease.ts'
import type { Session } from './session.ts'
import { freedTopic } from './session-queries.ts'
import { transitionSession } from './session-transition.ts'

export interface HoldDeps {
  db: Db
  vault: Vault
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
    deps.log.error('a session is given up', { connectionId: hold.lease.connectionId }, error)
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
    log.warn('a session did not close', { connectionId: lease.connectionId }, error)
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
  { db, vault, clock }: HoldDeps,
  hold: Hold,
  decide: Parameters<typeof transitionSession>[3],
): Promise<void> {
  const { lease } = hold
  hold.session = await vault.withKeyring(lease.workspaceId, (keyring) =>
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
