import { lockQueue } from '../endpoint/queue-queries.ts'
import { runReplayStep } from '../endpoint/replay.ts'
import { isProbed } from '../endpoint/retry-policy.ts'
import { type Delivery, waitingRow } from './delivery.ts'
import { listDue, listFresh, listWaitingLanes, postponeBlocked, saveDeliveries } from './delivery-queries.ts'
import { type DeliveryLoopDeps, isPausedNow, positionsInMemory, type Queue } from './queue.ts'

const maxInMemory = 400
/** For an endpoint that is probed with one request at a time. */
const maxWhenProbed = 4

/** Loads deliveries to send. Returns whether it has read, so that there may be more. */
export async function loadMore(deps: DeliveryLoopDeps, queue: Queue): Promise<boolean> {
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
