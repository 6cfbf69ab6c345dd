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
import { drainQueue, markLeaseLost, openQueue, refreshQueue, returnQueue, runQueue } from './delivery-loop.ts'
import { type DeliveryLoopDeps, isPausedNow, type Queue } from './queue.ts'
import type { RebalanceRequest } from './rebalance.ts'

const maxQueues = 500
/** A queue that has nothing to do is kept for a while: the next event then needs no claim. */
const lingerMs = 2000
const maxDrainMs = 8000
/** When every place is taken, queues that were worked on for so long make room for others, some at a time. */
const maxWorkMs = 10_000
const maxDrained = 50
/** Deliveries in memory, of all queues together. */
const maxInMemory = 20_000
const minInMemory = 20

/** The queues that this process has leased, each being worked on by itself. */
export type QueueLeases = ReturnType<typeof createQueueLeases>

type QueueLeasesDeps = Omit<DeliveryLoopDeps, 'maxInMemory'>

/** Queues that have nothing to do are given back at once unless they may linger. `onReleased` is told of each. */
export function createQueueLeases(options: QueueLeasesDeps, mayLinger: () => boolean, onReleased = () => {}) {
  const share = () => Math.max(minInMemory, Math.floor(maxInMemory / Math.max(working.size, 1)))
  const deps: DeliveryLoopDeps = { ...options, maxInMemory: share }
  const { db, log, clock } = deps
  /** By the owner of the lease. */
  const working = new Map<string, { queue: Queue; done: Promise<void> }>()
  const claims = new Set<Promise<number>>()
  const left = createLeftovers()
  let isStopping = false

  const startQueue = async (claimed: ClaimedQueue, askedAt: number): Promise<void> => {
    try {
      const queue = await deps.step('open', () => openQueue(deps, claimed, askedAt))
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
    await returnQueue(deps, queue).catch(failed)
    if (queue.isEnding || queue.isLost || queue.mayHaveMore) left.note()
  }
  const hasMore = (queue: Queue) => mayLinger() && working.size < maxQueues && isDueWithin(lingerMs, queue, clock.now())
  // News that came while a queue was given back found it neither free nor at work.
  const scheduleCheck = async ({ lease, mayHaveMore }: Queue) => {
    if (mayHaveMore && mayLinger()) await claim([lease.workspaceId])
  }
  /**
   * Begins with queues in which something can be sent, and returns how many. All are looked at instead of those that are
   * due when some were left since: for want of room, or by a failure.
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
    const [askedAt, started] = [performance.now(), [] as Promise<void>[]]
    const start = (row: ClaimedQueue) => void started.push(startQueue(row, askedAt))
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
    /** Whether some were left. */
    hasLeft: left.hasSome,
    /** Renews the leases of queues, and looks what was changed at their endpoints. */
    renew: (queues: readonly Queue[]) => renewAll(deps, queues),
    /** Lets queues go over to another worker that has asked for them, when it was this one that it asked. */
    give: (request: RebalanceRequest) => transferTo(held(), request),
    held,
    count: () => working.size,
    heldIn: (workspaceId: string) => held().filter(({ lease }) => lease.workspaceId === workspaceId),
    /** Resolves when every queue has been given back. */
    done,
    stop: async (): Promise<void> => {
      isStopping = true
      for (const queue of held()) drainQueue(queue)
      await Promise.race([done(), sleep(maxDrainMs, undefined, { ref: false })])
      for (const queue of held()) await abandonQueue(deps, queue)
    },
  }
}

/** Whether queues may have something to send that nobody will be told of again: then the next look is at all. */
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
 * Claims queues, and has `take` told of each as soon as it is claimed. Returns whether no other is free. Where rows are spread,
 * the workspaces of those that are free are looked for first, and each is claimed in by itself.
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
  const ours = queues.filter(({ session }) => session === from)
  for (const queue of leastBusyFirst(ours).slice(0, count)) {
    queue.successor = to
    drainQueue(queue)
  }
}

/** Those with the least in flight first. What a failing receiver is asked takes long, and it costs little to hold. */
function leastBusyFirst(queues: readonly Queue[]): Queue[] {
  return queues
    .filter(({ health, isEnding, isLost }) => health.failuresInARow === 0 && !isEnding && !isLost)
    .sort((a, b) => a.inFlight - b.inFlight)
}

async function renewAll(deps: DeliveryLoopDeps, queues: readonly Queue[]): Promise<void> {
  if (queues.length === 0) return
  const askedAt = performance.now()
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
    else await refreshQueue(deps, queue, row, askedAt).catch((error) => endUnreadable(deps, queue, error))
  }
}

// The others are renewed all the same.
function endUnreadable({ log }: DeliveryLoopDeps, queue: Queue, error: unknown): void {
  log.error('failed to decrypt webhook endpoint settings; skipping it', { endpointId: queue.lease.endpointId }, error)
  drainQueue(queue)
}

/** What has not ended by now is another worker's to send again. */
async function abandonQueue(deps: DeliveryLoopDeps, queue: Queue): Promise<void> {
  await returnQueue(deps, queue).catch(() => {})
  markLeaseLost(queue)
}
