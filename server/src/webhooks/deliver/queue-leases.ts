import { setTimeout as sleep } from 'node:timers/promises'
import { byWorkspace, isDistributed } from '../../base/citus/distributed-sql.ts'
import type { Db } from '../../base/db.ts'
import {
  type ClaimedQueue,
  type ClaimScope,
  claimQueues,
  listClaimable,
  renewLeases,
} from '../endpoint/queue-queries.ts'
import { drainQueue, finishQueue, markLeaseLost, openQueue, refreshQueue, runQueue } from './delivery-loop.ts'
import { type DeliveryLoopDeps, isPausedNow, type Queue } from './queue.ts'
import type { RebalanceRequest } from './rebalance.ts'

const maxQueues = 500
/** Milliseconds that an idle queue is kept: the next event then needs no claim. */
const lingerMs = 2000
const maxDrainMs = 8000
/** With all slots in use, queues held for this many milliseconds are drained, at most `maxDrained` at a time. */
const maxWorkMs = 10_000
const maxDrained = 50
/** Deliveries in memory, of all queues together. */
const maxInMemory = 20_000
const minInMemory = 20

/** Queues that this process has leased, each with its own loop. */
export type QueueLeases = ReturnType<typeof createQueueLeases>

type QueueLeasesDeps = Omit<DeliveryLoopDeps, 'maxInMemory'>

/** Manages leased queues. Releases idle queues at once unless they may linger; calls `onReleased` for each. */
export function createQueueLeases(options: QueueLeasesDeps, mayLinger: () => boolean, onReleased = () => {}) {
  const memoryShare = () => Math.max(minInMemory, Math.floor(maxInMemory / Math.max(working.size, 1)))
  const deps: DeliveryLoopDeps = { ...options, maxInMemory: memoryShare }
  const { db, log, clock } = deps
  /** By lease owner. */
  const working = new Map<string, { queue: Queue; done: Promise<void> }>()
  const claims = new Set<Promise<number>>()
  const left = createLeftovers()
  let isStopping = false

  const startQueue = async (claimed: ClaimedQueue, requestedAt: number): Promise<void> => {
    try {
      const queue = await deps.step('open', () => openQueue(deps, claimed, requestedAt))
      if (isStopping) drainQueue(queue)
      const done = runLease(queue).finally(() => {
        if (working.delete(claimed.owner)) onReleased()
        scheduleCheck(queue).catch((error) => log.warn('failed to claim webhook queues; retrying', {}, error))
      })
      working.set(claimed.owner, { queue, done })
    } catch (error) {
      log.error('failed to decrypt webhook endpoint settings; skipping it', { endpointId: claimed.id }, error)
    }
  }
  const runLease = async (queue: Queue): Promise<void> => {
    do await runQueue(deps, queue)
    while (await hasMore(queue))
    const failed = (error: unknown) => log.warn('failed to release webhook queues; their leases will expire', {}, error)
    await finishQueue(deps, queue).catch(failed)
    if (queue.isEnding || queue.isLost || queue.mayHaveMore) left.note()
  }
  const hasMore = (queue: Queue) => mayLinger() && working.size < maxQueues && isDueWithin(lingerMs, queue, clock.now())
  // A notification during the release of a queue finds it neither free nor held.
  const scheduleCheck = async ({ lease, mayHaveMore }: Queue) => {
    if (mayHaveMore && mayLinger()) await claim([lease.workspaceId])
  }
  /**
   * Claims queues with deliveries to send, and returns how many. Widens `due` to `all` if queues were left out since
   * the last full claim, for lack of slots or after a failure.
   */
  const claim = async (request: ClaimScope): Promise<number> => {
    const claiming = claimNow(left.scopeFor(request)).catch(left.noteAndThrow)
    claims.add(claiming)
    return claiming.finally(() => claims.delete(claiming))
  }
  const claimNow = async (scope: ClaimScope): Promise<number> => {
    const capacity = maxQueues - working.size
    if (isStopping) return 0
    if (capacity <= 0) {
      left.note()
      if (scope === 'all') drainOldest(held())
      return 0
    }
    const [requestedAt, started] = [performance.now(), [] as Promise<void>[]]
    const start = (row: ClaimedQueue) => void started.push(startQueue(row, requestedAt))
    const isAll = await claimAvailable(db, { scope, capacity, now: clock.now() }, start)
    if (!isAll) left.note()
    await Promise.all(started)
    return started.length
  }
  const held = () => [...working.values()].map(({ queue }) => queue)
  const done = () =>
    Promise.allSettled(claims).then(() => Promise.all([...working.values()].map((entry) => entry.done)))

  return {
    claim,
    hasLeft: left.hasSome,
    /** Renews leases and applies changes of the endpoints. */
    renew: (queues: readonly Queue[]) => renewAll(deps, queues),
    /** Releases queues to another worker if this process is the one it asked. */
    transfer: (request: RebalanceRequest) => transferTo(held(), request),
    held,
    count: () => working.size,
    heldIn: (workspaceId: string) => held().filter(({ lease }) => lease.workspaceId === workspaceId),
    /** Resolves when all queues are released. */
    done,
    stop: async (): Promise<void> => {
      isStopping = true
      for (const queue of held()) drainQueue(queue)
      await Promise.race([done(), sleep(maxDrainMs, undefined, { ref: false })])
      for (const queue of held()) await abandonQueue(deps, queue)
    },
  }
}

/** Tracks queues that were left out and that no notification will report, so that the next claim covers all. */
function createLeftovers() {
  let hasSome = false
  const note = () => {
    hasSome = true
  }
  return {
    note,
    hasSome: () => hasSome,
    noteAndThrow: (error: unknown) => {
      note()
      throw error
    },
    scopeFor: (request: ClaimScope): ClaimScope => {
      const scope = request === 'due' && hasSome ? 'all' : request
      if (scope === 'all') hasSome = false
      return scope
    },
  }
}

/**
 * Claims queues, and calls `onClaimed` for each. Returns whether no other queue is free. Under Citus, first lists the
 * workspaces of free queues, then claims in each of them.
 */
async function claimAvailable(
  db: Db,
  { scope, capacity, now }: { scope: ClaimScope; capacity: number; now: Date },
  onClaimed: (claimed: ClaimedQueue) => void,
): Promise<boolean> {
  const listed = isDistributed(db.sql) ? await listClaimable(db.sql, scope, capacity, now) : null
  let left = capacity
  for (const only of listed === null ? [null] : new Set(listed)) {
    const claimed = await db.statement((tx) => claimQueues(tx, scope, left, now, only))
    claimed.forEach(onClaimed)
    left -= claimed.length
    if (left === 0) return false
  }
  return listed === null || listed.length < capacity
}

function isDueWithin(ms: number, queue: Queue, now: Date): Promise<boolean> {
  const isBlocked = queue.lanes.size > 0 || isPausedNow(queue, now)
  if (isBlocked || queue.mayHaveMore) return Promise.resolve(!isBlocked)
  return queue.signal.nextWithin(ms)
}

function drainOldest(queues: readonly Queue[]): void {
  const longAgo = performance.now() - maxWorkMs
  for (const queue of queues.slice(0, maxDrained)) if (queue.openedAt < longAgo) drainQueue(queue)
}

function transferTo(queues: readonly Queue[], { from, to, count }: RebalanceRequest): void {
  // Failing queues are not worth a transfer.
  const healthy = queues.filter(
    ({ session, health, isEnding, isLost }) => session === from && health.failuresInARow === 0 && !isEnding && !isLost,
  )
  const leastBusyFirst = healthy.sort((a, b) => a.inFlight - b.inFlight)
  for (const queue of leastBusyFirst.slice(0, count)) {
    queue.successor = to
    drainQueue(queue)
  }
}

async function renewAll(deps: DeliveryLoopDeps, queues: readonly Queue[]): Promise<void> {
  if (queues.length === 0) return
  const requestedAt = performance.now()
  const rows = await byWorkspace(
    deps.db.sql,
    queues.map(({ lease }) => lease),
    ({ workspaceId }) => workspaceId,
    (leases, only) =>
      deps.db.statement((tx) =>
        renewLeases(
          tx,
          leases.map(({ owner }) => owner),
          only,
        ),
      ),
  )
  const rowOf = new Map(rows.map((row) => [row.owner, row]))
  for (const queue of queues) {
    const row = rowOf.get(queue.lease.owner)
    if (row === undefined) markLeaseLost(queue)
    else await refreshQueue(deps, queue, row, requestedAt).catch((error) => drainUnreadable(deps, queue, error))
  }
}

// Drains this queue; the others are still renewed.
function drainUnreadable({ log }: DeliveryLoopDeps, queue: Queue, error: unknown): void {
  log.error('failed to decrypt webhook endpoint settings; skipping it', { endpointId: queue.lease.endpointId }, error)
  drainQueue(queue)
}

/** Gives up a queue at shutdown: another worker repeats the requests that are still running. */
async function abandonQueue(deps: DeliveryLoopDeps, queue: Queue): Promise<void> {
  await finishQueue(deps, queue).catch(() => {})
  markLeaseLost(queue)
}
