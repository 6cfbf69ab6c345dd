import { lockQueue } from '../endpoint/queue-queries.ts'
import { runReplayStep } from '../endpoint/replay.ts'
import { isProbed } from '../endpoint/retry-policy.ts'
import { type Delivery, waitingRow } from './delivery.ts'
import { listDue, listFresh, listWaitingLanes, postponeBlocked, saveDeliveries } from './delivery-queries.ts'
import { type DeliveryLoopDeps, isPausedNow, positionsInMemory, type Queue } from './queue.ts'

const maxInMemory = 400
/** A probed endpoint takes one at a time, and few of them. */
const maxWhenProbed = 4

/** Brings what is to be sent into memory. Returns whether it has looked: there may be more then. */
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

// Rows take the place of everything in the range at once, so nothing of it may be in memory.
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
  // Before the look: what is placed during it must be looked for again.
  queue.mayHaveMore = false
  try {
    const reading = { lease, generation, held: positionsInMemory(queue), limit }
    const read = await listFresh(deps.db.sql, reading, readTo, names)
    const subjectIds = read.fresh.map(({ subjectId }) => subjectId)
    const waiting = retryAt === null ? noLanes : await listWaitingLanes(deps.db.sql, reading, subjectIds)
    await saveWaiting(deps, queue, read.fresh, waiting)
    // The end has set back the position from which another goes on, before what it dropped from memory.
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

/** Writes what must wait for rows of its lane. */
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
