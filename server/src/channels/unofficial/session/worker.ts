import { type Loop, type Repeat, repeatImmediately, withTimeout } from '../../../base/async/loop.ts'
import { byWorkspace, isDistributed } from '../../../base/citus/distributed-sql.ts'
import type { Db } from '../../../base/db.ts'
import type { Log } from '../../../base/log.ts'
import type { Outgoing } from '../../../base/outgoing/guarded-fetch.ts'
import { watchDue } from '../../../base/pubsub.ts'
import type { SessionConnection } from '../../connection/connection.ts'
import { listWaiting, waitingTopic } from '../send/sends.ts'
import { baileysTransport } from '../transport/baileys-transport.ts'
import { simulatedTransport } from '../transport/simulated-transport.ts'
import type { Transport } from '../transport/transport.ts'
import {
  act,
  closeLine,
  endOfLease,
  type Hold,
  type HoldDeps,
  idleHold,
  isHeld,
  loseHold,
  newHold,
  releaseHold,
  settleLine,
} from './held-session.ts'
import { openSession } from './session.ts'
import { beginHold, reopenWhenDue, runSessionCommands } from './session-commands.ts'
import {
  type ClaimedSession,
  claimSessions,
  endLeasesOf,
  listClaimable,
  listDeadHolders,
  readStanding,
  renewLeases,
} from './session-lease.ts'
import { freedTopic, wishTopic } from './session-queries.ts'
import { sendSoon } from './socket-events.ts'

const lookEveryMs = 1_000
const lookForDeadEveryMs = 1_000
/** Poll interval, in case a notification is lost. */
const pollEveryMs = 5_000
const renewEveryMs = 4_000
const sendEveryMs = 1_000
const tickEveryMs = 250

/** Starts the worker that runs QR sessions, alongside any number of other processes. */
export function startSessions({ repeat = repeatImmediately, ...deps }: HoldDeps & { repeat?: Repeat }): Loop {
  const holder = createSessionHolder(deps)
  const onError = (error: unknown) => deps.log.warn('failed to run linked sessions; retrying', {}, error)
  const stopListening = listen(deps, holder, onError)
  const loop = (pauseMs: number, work: () => Promise<unknown>) => repeat(pauseMs, work, onError)
  // If no other process holds sessions, dead processes need not be searched for.
  let isHeldByOthers = false
  const nextAt = async (now: Date) => {
    const standing = await readStanding(deps.db.sql)
    isHeldByOthers = standing.isHeldByOthers
    return standing.freeInMs === null ? null : new Date(now.getTime() + standing.freeInMs)
  }
  const watchedTopics = [{ topic: wishTopic }, { topic: freedTopic }]
  const watch = watchDue(deps, { nextAt, pollEveryMs, watchedTopics })
  // Notifications may be lost, so every loop also polls.
  const loops = [
    loop(tickEveryMs, async () => holder.tick()),
    loop(renewEveryMs, () => holder.renew()),
    loop(sendEveryMs, () => holder.send()),
    loop(lookEveryMs, async () => (await watch.isDue()) && holder.look()),
    loop(lookForDeadEveryMs, async () => {
      if (isHeldByOthers && (await holder.lookForDead())) await holder.look()
    }),
  ]
  return {
    stop: async () => {
      stopListening()
      await Promise.all([holder.stop(), ...loops.map((one) => one.stop())])
    },
  }
}

/** Subscribes to notifications and acts on them at once. */
function listen({ db }: HoldDeps, holder: SessionHolder, onError: (error: unknown) => void): () => void {
  const stops = [
    db.subscribe(wishTopic, (connectionId) => void holder.renew(connectionId).then(holder.look).catch(onError)),
    db.subscribe(waitingTopic, (connectionId) => void holder.send(connectionId).catch(onError)),
  ]
  return () => {
    for (const stop of stops) stop()
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
const deadLooks = 3
const maxStopMs = 8_000

export type SessionHolder = ReturnType<typeof createSessionHolder>

/** Manages the sessions that this process holds. */
export function createSessionHolder(deps: HoldDeps) {
  const holds = new Map<string, Hold>()
  let isStopping = false
  const some = (connectionId?: string) =>
    [...holds.values()].filter(({ lease }) => connectionId === undefined || lease.connectionId === connectionId)

  return {
    /** Claims free sessions. Returns how many were opened. */
    look: async (): Promise<number> => {
      const room = maxHeld - holds.size
      if (isStopping || room <= 0) return 0
      const askedAt = performance.now()
      const begun: Promise<void>[] = []
      await claimFree(deps.db, room, (row) => void begun.push(begin(deps, holds, row, askedAt)))
      await Promise.all(begun)
      // Sessions claimed after `stop` started are released by it, or their leases expire.
      return begun.length
    },
    /** Renews the lease of one session or of all, and runs the commands that members have requested. */
    renew: (connectionId?: string) => renewAll(deps, some(connectionId)),
    /** Sends waiting messages, of one session or of all. */
    send: async (connectionId?: string): Promise<void> => {
      const leases = some(connectionId).flatMap(({ line, lease }) => (line?.isOpen ? [lease] : []))
      for (const id of await listWaiting(deps.db.sql, leases)) {
        const hold = holds.get(id)
        if (hold !== undefined) sendSoon(deps, hold)
      }
    },
    /** Drops sessions whose lease is about to expire and reopens sockets that are due. Makes no queries. */
    tick: (): void => {
      for (const hold of some()) {
        if (isHeld(hold)) reopenWhenDue(deps, hold)
        else loseHold(deps, hold)
      }
    },
    /** Ends the leases of dead processes. Returns whether there were any. */
    lookForDead: deadFinder(deps),
    count: () => holds.size,
    /** Resolves when all running work has ended. */
    idle: async (): Promise<void> => {
      await Promise.all(some().map(idleHold))
    },
    stop: async (): Promise<void> => {
      isStopping = true
      for (const hold of some()) act(deps, hold, () => giveBack(deps, hold))
      await withTimeout(maxStopMs, () => Promise.all(some().map(({ doing }) => doing))).catch((error) =>
        deps.log.warn('failed to release linked sessions; their leases will expire', {}, error),
      )
      for (const hold of some()) loseHold(deps, hold)
    },
  }
}

/** Claims sessions and calls `take` for each at once. On Citus, claims per workspace with free sessions. */
async function claimFree(db: Db, room: number, take: (claimed: ClaimedSession) => void): Promise<void> {
  const workspaces = isDistributed(db.sql) ? new Set(await listClaimable(db.sql, room)) : [null]
  let left = room
  for (const only of workspaces) {
    if (left === 0) return
    const claimed = await db.statement((tx) => claimSessions(tx, left, only))
    claimed.forEach(take)
    left -= claimed.length
  }
}

async function begin(deps: HoldDeps, holds: Map<string, Hold>, row: ClaimedSession, askedAt: number): Promise<void> {
  const { workspaceId, connectionId, fence } = row
  try {
    const session = await deps.keyStore.withKeyring(workspaceId, (keyring) => openSession(keyring, row))
    const before = holds.get(connectionId)
    if (before !== undefined) loseHold(deps, before)
    const ended = () => {
      if (holds.get(connectionId) === hold) holds.delete(connectionId)
    }
    const hold = newHold({ workspaceId, connectionId, fence }, { session, askedAt, ended })
    holds.set(connectionId, hold)
    beginHold(deps, hold)
  } catch (error) {
    // The lease delays the next attempt.
    deps.log.warn('failed to open linked session; retrying', { connectionId }, error)
  }
}

async function renewAll(deps: HoldDeps, holds: readonly Hold[]): Promise<void> {
  if (holds.length === 0) return
  const askedAt = performance.now()
  const leases = holds.map(({ lease }) => lease)
  const rows = await byWorkspace(
    deps.db.sql,
    leases,
    ({ workspaceId }) => workspaceId,
    (some, only) => deps.db.statement((tx) => renewLeases(tx, some, only)),
  )
  const rowOf = new Map(rows.map((row) => [row.connectionId, row]))
  for (const hold of holds) {
    const row = rowOf.get(hold.lease.connectionId)
    if (row === undefined) {
      loseHold(deps, hold)
      continue
    }
    hold.endsAtMs = endOfLease(askedAt)
    if (row.wish !== null) runSessionCommands(deps, hold)
  }
}

async function giveBack(deps: HoldDeps, hold: Hold): Promise<void> {
  await settleLine(hold)
  await closeLine(deps, hold)
  await releaseHold(deps, hold)
}

function deadFinder({ db }: HoldDeps): () => Promise<boolean> {
  let suspects = new Map<string, number>()
  return async () => {
    const dead = await listDeadHolders(db.sql)
    suspects = new Map(dead.map((name) => [name, (suspects.get(name) ?? 0) + 1]))
    const sure = dead.filter((name) => (suspects.get(name) ?? 0) >= deadLooks)
    if (sure.length === 0) return false
    await db.statement((tx) => endLeasesOf(tx, sure))
    return true
  }
}
