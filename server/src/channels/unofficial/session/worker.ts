import { type Loop, type Repeat, repeatImmediately, withTimeout } from '../../../base/async/loop.ts'
import { byWorkspace, isDistributed } from '../../../base/citus/distributed-sql.ts'
import type { Db } from '../../../base/db.ts'
import type { Log } from '../../../base/log.ts'
import type { Outgoing } from '../../../base/outgoing/guarded-fetch.ts'
import { watchDueWork } from '../../../base/pubsub.ts'
import type { SessionConnection } from '../../connection/connection.ts'
import { sendWaitingMessages } from '../send/outbox.ts'
import { listWaiting, waitingTopic } from '../send/sends.ts'
import { baileysTransport } from '../transport/baileys-transport.ts'
import { simulatedTransport } from '../transport/simulated-transport.ts'
import type { Transport } from '../transport/transport.ts'
import {
  closeSocket,
  createHeldSession,
  drainSocket,
  dropSession,
  endHeldSession,
  endOfLease,
  enqueueAction,
  type HeldSession,
  isHeld,
  logoutSocket,
  openSocket,
  releaseHeldSession,
  type SessionWorkerDeps,
  updateSession,
  waitUntilIdle,
} from './held-session.ts'
import { blankPairing, decryptSession, type Session, type SessionCommand } from './session.ts'
import {
  type ClaimedSession,
  claimSessions,
  endLeasesOf,
  LeaseLostError,
  listClaimable,
  listDeadHolders,
  readLeaseOverview,
  renewLeases,
} from './session-lease.ts'
import { commandTopic, deleteSession, findSession, releasedTopic } from './session-queries.ts'
import { handleSocketEvent } from './socket-events.ts'

const claimEveryMs = 1_000
const deadCheckEveryMs = 1_000
/** Poll interval, in case a notification is lost. */
const pollEveryMs = 5_000
const renewEveryMs = 4_000
const sendEveryMs = 1_000
const tickEveryMs = 250

/** Starts the worker that runs QR sessions, alongside any number of other processes. */
export function startSessionWorker({
  repeat = repeatImmediately,
  ...deps
}: SessionWorkerDeps & { repeat?: Repeat }): Loop {
  const manager = createSessionManager(deps)
  const onError = (error: unknown) => deps.log.warn('failed to run linked sessions; retrying', {}, error)
  // Acts on notifications at once.
  const stopListening = [
    deps.db.subscribe(
      commandTopic,
      (connectionId) => void manager.renew(connectionId).then(manager.claimFreeSessions).catch(onError),
    ),
    deps.db.subscribe(waitingTopic, (connectionId) => void manager.send(connectionId).catch(onError)),
  ]
  const loop = (pauseMs: number, work: () => Promise<unknown>) => repeat(pauseMs, work, onError)
  // If no other process holds sessions, dead processes need not be searched for.
  let isHeldByOthers = false
  const nextAt = async (now: Date) => {
    const overview = await readLeaseOverview(deps.db.sql)
    isHeldByOthers = overview.isHeldByOthers
    return overview.freeInMs === null ? null : new Date(now.getTime() + overview.freeInMs)
  }
  const watchedTopics = [{ topic: commandTopic }, { topic: releasedTopic }]
  const watch = watchDueWork(deps, { nextAt, pollEveryMs, watchedTopics })
  // Notifications may be lost, so every loop also polls.
  const loops = [
    loop(tickEveryMs, async () => manager.tick()),
    loop(renewEveryMs, () => manager.renew()),
    loop(sendEveryMs, () => manager.send()),
    loop(claimEveryMs, async () => (await watch.isDue()) && manager.claimFreeSessions()),
    loop(deadCheckEveryMs, async () => {
      if (isHeldByOthers && (await manager.endDeadLeases())) await manager.claimFreeSessions()
    }),
  ]
  return {
    stop: async () => {
      for (const stop of stopListening) stop()
      await Promise.all([manager.stop(), ...loops.map((one) => one.stop())])
    },
  }
}

/** Returns the transport of each connection: Baileys for the real network, or the simulator. */
export function openTransports(deps: { log: Log; outgoing: Outgoing }): (connection: SessionConnection) => Transport {
  const real = baileysTransport(deps)
  const simulated = simulatedTransport(deps.outgoing)
  return ({ settings }) => (settings.baseUrl === null ? real : simulated)
}

const maxHeld = 200
/** A process without database sessions counts as dead after this many consecutive checks: it may be reconnecting. */
const deadChecks = 3
const maxStopMs = 8_000

export type SessionManager = ReturnType<typeof createSessionManager>

/** Manages the sessions that this process holds. */
export function createSessionManager(deps: SessionWorkerDeps) {
  const heldSessions = new Map<string, HeldSession>()
  let isStopping = false
  const selectHeld = (connectionId?: string) =>
    [...heldSessions.values()].filter(({ lease }) => connectionId === undefined || lease.connectionId === connectionId)

  return {
    /** Claims free sessions. Returns how many were opened. */
    claimFreeSessions: async (): Promise<number> => {
      const capacity = maxHeld - heldSessions.size
      if (isStopping || capacity <= 0) return 0
      const requestedAt = performance.now()
      const openings: Promise<void>[] = []
      await claimFree(deps.db, capacity, (row) => void openings.push(openClaimed(deps, heldSessions, row, requestedAt)))
      await Promise.all(openings)
      // Sessions claimed after `stop` started are released by it, or their leases expire.
      return openings.length
    },
    /** Renews the lease of one session or of all, and runs the commands that members have requested. */
    renew: (connectionId?: string) => renewAll(deps, selectHeld(connectionId)),
    /** Sends waiting messages, of one session or of all. */
    send: async (connectionId?: string): Promise<void> => {
      const leases = selectHeld(connectionId).flatMap(({ socketState, lease }) => (socketState?.isOpen ? [lease] : []))
      for (const id of await listWaiting(deps.db.sql, leases)) {
        const held = heldSessions.get(id)
        if (held !== undefined) sendWaitingMessages(deps, held)
      }
    },
    /** Drops sessions whose lease is about to expire and reopens sockets that are due. Makes no queries. */
    tick: (): void => {
      for (const held of selectHeld()) {
        if (isHeld(held)) reopenWhenDue(deps, held)
        else dropSession(deps, held)
      }
    },
    /** Ends the leases of dead processes. Returns whether there were any. */
    endDeadLeases: createDeadHolderCheck(deps),
    count: () => heldSessions.size,
    /** Resolves when all running work has ended. */
    whenIdle: async (): Promise<void> => {
      await Promise.all(selectHeld().map(waitUntilIdle))
    },
    stop: async (): Promise<void> => {
      isStopping = true
      for (const held of selectHeld()) enqueueAction(deps, held, () => closeAndRelease(deps, held))
      await withTimeout(maxStopMs, () => Promise.all(selectHeld().map(({ pending }) => pending))).catch((error) =>
        deps.log.warn('failed to release linked sessions; their leases will expire', {}, error),
      )
      for (const held of selectHeld()) dropSession(deps, held)
    },
  }
}

/** Claims sessions and calls `take` for each at once. On Citus, claims per workspace with free sessions. */
async function claimFree(db: Db, capacity: number, onClaimed: (claimed: ClaimedSession) => void): Promise<void> {
  const workspaces = isDistributed(db.sql) ? new Set(await listClaimable(db.sql, capacity)) : [null]
  let left = capacity
  for (const only of workspaces) {
    if (left === 0) return
    const claimed = await db.statement((tx) => claimSessions(tx, left, only))
    claimed.forEach(onClaimed)
    left -= claimed.length
  }
}

async function openClaimed(
  deps: SessionWorkerDeps,
  heldSessions: Map<string, HeldSession>,
  row: ClaimedSession,
  requestedAt: number,
): Promise<void> {
  const { workspaceId, connectionId, fence } = row
  try {
    const session = await deps.keyStore.withKeyring(workspaceId, (keyring) => decryptSession(keyring, row))
    const before = heldSessions.get(connectionId)
    if (before !== undefined) dropSession(deps, before)
    const onEnd = () => {
      if (heldSessions.get(connectionId) === held) heldSessions.delete(connectionId)
    }
    const held = createHeldSession({ lease: { workspaceId, connectionId, fence }, session, onEnd }, requestedAt)
    heldSessions.set(connectionId, held)
    startHeldSession(deps, held)
  } catch (error) {
    // The lease delays the next attempt.
    deps.log.warn('failed to open linked session; retrying', { connectionId }, error)
  }
}

async function renewAll(deps: SessionWorkerDeps, heldSessions: readonly HeldSession[]): Promise<void> {
  if (heldSessions.length === 0) return
  const requestedAt = performance.now()
  const leases = heldSessions.map(({ lease }) => lease)
  const rows = await byWorkspace(
    deps.db.sql,
    leases,
    ({ workspaceId }) => workspaceId,
    (selectHeld, only) => deps.db.statement((tx) => renewLeases(tx, selectHeld, only)),
  )
  const rowOf = new Map(rows.map((row) => [row.connectionId, row]))
  for (const held of heldSessions) {
    const row = rowOf.get(held.lease.connectionId)
    if (row === undefined) {
      dropSession(deps, held)
      continue
    }
    held.endsAtMs = endOfLease(requestedAt)
    if (row.wish !== null) enqueueAction(deps, held, () => runSessionCommand(deps, held))
  }
}

async function closeAndRelease(deps: SessionWorkerDeps, held: HeldSession): Promise<void> {
  await drainSocket(held)
  await closeSocket(deps, held)
  await releaseHeldSession(deps, held)
}

function createDeadHolderCheck({ db }: SessionWorkerDeps): () => Promise<boolean> {
  let suspects = new Map<string, number>()
  return async () => {
    const dead = await listDeadHolders(db.sql)
    suspects = new Map(dead.map((name) => [name, (suspects.get(name) ?? 0) + 1]))
    const confirmed = dead.filter((name) => (suspects.get(name) ?? 0) >= deadChecks)
    if (confirmed.length === 0) return false
    await db.statement((tx) => endLeasesOf(tx, confirmed))
    return true
  }
}

/** Starts a claimed session: runs its pending command, otherwise opens its socket unless it is waiting. */
function startHeldSession(deps: SessionWorkerDeps, held: HeldSession): void {
  enqueueAction(deps, held, async () => {
    const { wish, state } = held.session
    if (wish !== null) return runSessionCommand(deps, held)
    if (state !== 'waiting' || isDue(deps, held)) await openSocket(deps, held, handleSocketEvent)
  })
}

/** Reopens the socket when it is due. */
function reopenWhenDue(deps: SessionWorkerDeps, held: HeldSession): void {
  const isWaiting = () => held.socketState === null && held.session.state === 'waiting' && isDue(deps, held)
  if (!isWaiting()) return
  enqueueAction(deps, held, async () => {
    if (isWaiting()) await openSocket(deps, held, handleSocketEvent)
  })
}

function isDue({ clock }: SessionWorkerDeps, { session }: HeldSession): boolean {
  return session.nextAttemptAt === null || session.nextAttemptAt <= clock.now()
}

/** Runs the commands requested by members until none is left. */
async function runSessionCommand(deps: SessionWorkerDeps, held: HeldSession): Promise<void> {
  const { lease } = held
  const session = await deps.keyStore.withKeyring(lease.workspaceId, (keyring) =>
    findSession(deps.db.sql, keyring, lease),
  )
  if (session === undefined) throw new LeaseLostError()
  held.session = session
  if (session.wish === null) return
  await commandHandlers[session.wish](deps, held)
  if (!held.isOver && held.session.wish !== null) await runSessionCommand(deps, held)
}

const commandHandlers: Record<SessionCommand, (deps: SessionWorkerDeps, held: HeldSession) => Promise<void>> = {
  open,
  pair,
  unpair,
}

async function open(deps: SessionWorkerDeps, held: HeldSession): Promise<void> {
  await updateSession(deps, held, (before) => ({ wish: remainingCommand('open', before), attempt: 0 }))
  if (held.socketState === null) await openSocket(deps, held, handleSocketEvent)
}

async function pair(deps: SessionWorkerDeps, held: HeldSession): Promise<void> {
  await logoutSocket(deps, held)
  await updateSession(deps, held, (before) => ({
    ...blankPairing(before),
    wish: remainingCommand('pair', before),
    state: 'pairing',
    reason: 'pairing',
    forgets: true,
    isPaired: false,
  }))
  await openSocket(deps, held, handleSocketEvent)
}

async function unpair(deps: SessionWorkerDeps, held: HeldSession): Promise<void> {
  await logoutSocket(deps, held)
  if (await deps.db.tx((tx) => deleteSession(tx, held.lease))) return endHeldSession(held)
  await updateSession(deps, held, (before) => ({
    ...blankPairing(before),
    pairing: null,
    wish: remainingCommand('unpair', before),
    state: 'unpaired',
    reason: 'logged_out',
    forgets: true,
    isPaired: false,
    phone: null,
  }))
  if (held.session.wish === null) await releaseHeldSession(deps, held)
}

/** Returns null if this command is done, otherwise the newer command, which remains pending. */
const remainingCommand = (completed: SessionCommand, { wish }: Session): SessionCommand | null =>
  wish === completed ? null : wish
