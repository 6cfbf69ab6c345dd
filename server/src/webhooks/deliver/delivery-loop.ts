import { setTimeout as sleep } from 'node:timers/promises'
import { createSignal } from '../../base/async/loop.ts'
import { decryptEndpoint } from '../endpoint/endpoint.ts'
import {
  type ClaimedQueue,
  LeaseLostError,
  leaseMs,
  lockQueue,
  type RenewedQueue,
  releaseQueue,
} from '../endpoint/queue-queries.ts'
import { runReplayStep } from '../endpoint/replay.ts'
import { isProbed } from '../endpoint/retry-policy.ts'
import { eventNamesOf } from '../event-catalog.ts'
import { type Delivery, waitingRow } from './delivery.ts'
import { listDue, listFresh, listWaitingLanes, postponeBlocked, saveDeliveries } from './delivery-queries.ts'
import {
  createDeliveryLanes,
  cursorOf,
  type DeliveryLoopDeps,
  isPausedNow,
  positionsInMemory,
  type Queue,
} from './queue.ts'
import { releasedTopic } from './rebalance.ts'
import { recordResults } from './record-results.ts'
import { canStartRequest, startRequests } from './send-request.ts'

/** Milliseconds before the end of a lease in which no request runs: covers DNS, connecting and clock drift. */
const leaseMarginMs = 2000
const firstPauseMs = 100
const maxPauseMs = 5000

/** Returns until when requests may start under a lease requested at `requestedAt`; times of `performance.now()`. */
function leaseEndsAfter(requestedAt: number): number {
  return requestedAt + leaseMs - leaseMarginMs
}

/** Creates the in-memory queue of a claim; throws if the endpoint's settings cannot be decrypted. */
export async function openQueue(deps: DeliveryLoopDeps, claimed: ClaimedQueue, requestedAt: number): Promise<Queue> {
  const { workspaceId, id: endpointId, owner, cursor, removedTo } = claimed
  const { failingSince, failuresInARow, lastSuccessAt } = claimed
  const endpoint = await deps.keyStore.withKeyring(workspaceId, (keyring) => decryptEndpoint(keyring, claimed))
  if (cursor < removedTo) {
    deps.log.warn('events expired before they were delivered', { endpointId, count: removedTo - cursor })
  }
  return {
    lease: { workspaceId, endpointId, owner },
    session: claimed.session,
    signal: createSignal(),
    openedAt: requestedAt,
    lanes: createDeliveryLanes(),
    leaseEndsAt: leaseEndsAfter(requestedAt),
    endpoint,
    names: eventNamesOf(endpoint.events),
    generation: claimed.generation,
    health: { failingSince, failuresInARow, lastSuccessAt, pausedUntil: null },
    readTo: Math.max(cursor, removedTo),
    mayHaveMore: true,
    retryAt: claimed.retryAt,
    hasReplay: claimed.hasReplay,
    inFlight: 0,
    results: [],
    batch: null,
    isEnding: false,
    successor: null,
    isLost: false,
  }
}

/** Sends due deliveries until nothing is left to do now. Retries database errors for as long as the lease is held. */
export async function runQueue(deps: DeliveryLoopDeps, queue: Queue): Promise<void> {
  let failures = 0
  while (!queue.isLost) {
    const woken = queue.signal.next()
    try {
      startRequests(deps, queue)
      const hasSettled = await recordResults(deps, queue)
      const hasLoaded = await loadMore(deps, queue)
      failures = 0
      if (hasSettled || hasLoaded) continue
      if (queue.inFlight === 0 && queue.results.length === 0 && !canStartRequest(deps, queue)) return
      await woken
    } catch (error) {
      if (error instanceof LeaseLostError) queue.isLost = true
      else {
        deps.log.warn('failed to record webhook results; retrying', { endpointId: queue.lease.endpointId }, error)
        await sleep(Math.min(firstPauseMs * 2 ** failures++, maxPauseMs))
      }
    }
  }
  deps.slots.dropUnwritten(queue.results.length + (queue.batch?.results.length ?? 0))
}

const maxInMemory = 400
/** For an endpoint that is probed with one request at a time. */
const maxWhenProbed = 4

/** Loads deliveries to send. Returns whether it has read, so that there may be more. */
async function loadMore(deps: DeliveryLoopDeps, queue: Queue): Promise<boolean> {
  const now = deps.clock.now()
  if (isPausedNow(queue, now)) return false
  if (queue.hasReplay) return loadReplay(deps, queue)
  const maxDeliveries = isProbed(queue.health) ? maxWhenProbed : Math.min(maxInMemory, deps.maxInMemory())
  const capacity = maxDeliveries - queue.lanes.size
  if (capacity < maxDeliveries / 2) return false
  if (queue.retryAt !== null && queue.retryAt <= now) {
    await loadDue(deps, queue, capacity, now)
    return true
  }
  if (!queue.mayHaveMore) return false
  await deps.step('load', () => loadFresh(deps, queue, capacity))
  return true
}

// A replay step writes rows for all events of its range, so none of them may be in memory.
async function loadReplay(deps: DeliveryLoopDeps, queue: Queue): Promise<boolean> {
  if (queue.lanes.size > 0 || queue.results.length > 0) return false
  const { hasMore } = await runReplayStep(deps, queue)
  queue.hasReplay = hasMore
  if (!hasMore) queue.retryAt = deps.clock.now()
  return true
}

async function loadDue({ db, clock }: DeliveryLoopDeps, queue: Queue, limit: number, now: Date): Promise<void> {
  const { lease, generation, lanes } = queue
  const due = await listDue(db.sql, { lease, generation, held: positionsInMemory(queue), limit }, now)
  for (const delivery of due) lanes.add(delivery)
  if (due.length === limit) return
  const held = positionsInMemory(queue)
  queue.retryAt = await db.tx((tx) => postponeBlocked(tx, { lease, generation, held, limit }, clock.now()))
}

async function loadFresh(deps: DeliveryLoopDeps, queue: Queue, limit: number): Promise<void> {
  const { lease, generation, lanes, names, readTo, retryAt } = queue
  // Reset before the read: events that are sequenced during it need another read.
  queue.mayHaveMore = false
  try {
    const reading = { lease, generation, held: positionsInMemory(queue), limit }
    const read = await listFresh(deps.db.sql, reading, readTo, names)
    const subjectIds = read.fresh.map(({ subjectId }) => subjectId)
    const waiting = retryAt === null ? noLanes : await listWaitingLanes(deps.db.sql, reading, subjectIds)
    await saveWaiting(deps, queue, read.fresh, waiting)
    // If the queue was drained meanwhile, its `readTo` was set back before the dropped deliveries; keep it.
    if (queue.isEnding) return
    for (const delivery of read.fresh) if (!waiting.has(delivery.subjectId)) lanes.add(delivery)
    queue.readTo = read.readTo
    queue.mayHaveMore ||= read.hasMore
  } catch (error) {
    queue.mayHaveMore = true
    throw error
  }
}

const noLanes: ReadonlyMap<string, Date> = new Map()

/** Saves rows for deliveries that must wait for earlier rows of their lanes. */
async function saveWaiting(
  { db }: DeliveryLoopDeps,
  { lease, generation }: Queue,
  fresh: readonly Delivery[],
  waiting: ReadonlyMap<string, Date>,
): Promise<void> {
  const rows = fresh.flatMap((delivery) => {
    const dueAt = waiting.get(delivery.subjectId)
    return dueAt === undefined ? [] : [waitingRow(delivery, dueAt)]
  })
  if (rows.length === 0) return
  await db.tx(async (tx) => {
    await lockQueue(tx, lease)
    await saveDeliveries(tx, lease, generation, rows)
  })
}

/** Applies changes of the endpoint after a lease renewal. */
export async function refreshQueue(
  { keyStore }: DeliveryLoopDeps,
  queue: Queue,
  renewed: RenewedQueue,
  requestedAt: number,
): Promise<void> {
  const isOver = renewed.removedAt !== null || renewed.state !== 'active' || renewed.generation !== queue.generation
  if (isOver) {
    drainQueue(queue)
    return
  }
  queue.leaseEndsAt = leaseEndsAfter(requestedAt)
  queue.endpoint = await keyStore.withKeyring(renewed.workspaceId, (keyring) => decryptEndpoint(keyring, renewed))
  queue.names = eventNamesOf(renewed.events)
  queue.hasReplay ||= renewed.hasReplay
  // A resend or replay can be due earlier than the known retry, and its notification can be lost.
  const { retryAt } = renewed
  if (retryAt !== null && (queue.retryAt === null || retryAt < queue.retryAt)) queue.retryAt = retryAt
  queue.signal.wake()
}

/** Lets running requests finish and starts no more. */
export function drainQueue(queue: Queue): void {
  queue.isEnding = true
  // The dropped deliveries were not sent: the next worker must start before them.
  for (const { hasRow, position } of queue.lanes.clear()) {
    if (!hasRow) queue.readTo = Math.min(queue.readTo, position - 1)
  }
  queue.signal.wake()
}

/** Stops all sends and writes: another worker has the queue, or may have it. */
export function markLeaseLost(queue: Queue): void {
  queue.isLost = true
  queue.signal.wake()
}

export async function finishQueue({ db, step }: DeliveryLoopDeps, queue: Queue): Promise<void> {
  if (queue.isLost) return
  const { lease, generation, successor } = queue
  const notification = successor === null ? undefined : { topic: releasedTopic, id: lease.workspaceId }
  await step('release', () =>
    db.statement((tx) => releaseQueue(tx, lease, { generation, cursor: cursorOf(queue), successor }), notification),
  )
}
