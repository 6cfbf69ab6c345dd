import { lockQueue } from '../endpoint/queue-queries.ts'
import { workReplay } from '../endpoint/replay.ts'
import { isProbed } from '../endpoint/retry-policy.ts'
import { type Delivery, waitingRow } from './delivery.ts'
import { listDue, listWaitingLanes, putOffBlocked, readFresh, saveDeliveries } from './delivery-queries.ts'
import { heldPositions, isResting, type PumpDeps, type Queue } from './queue.ts'

const maxInMemory = 400
/** A probed endpoint takes one at a time, and few of them. */
const maxWhenProbed = 4

/** Brings what is to be sent into memory. Returns whether it has looked: there may be more then. */
export async function loadMore(deps: PumpDeps, queue: Queue): Promise<boolean> {
  const now = deps.clock.now()
  if (isResting(queue, now)) return false
  if (queue.hasReplay) return replayNext(deps, queue)
  const most = isProbed(queue.health) ? maxWhenProbed : Math.min(maxInMemory, deps.maxInMemory())
  const room = most - queue.lanes.size
  if (room < most / 2) return false
  if (queue.retryAt !== null && queue.retryAt <= now) {
    await loadDue(deps, queue, room, now)
    return true
  }
  if (!queue.mayHaveMore) return false
  await deps.step('load', () => loadFresh(deps, queue, room))
  return true
}

// Rows take the place of everything in the range at once, so nothing of it may be in memory.
async function replayNext(deps: PumpDeps, queue: Queue): Promise<boolean> {
  if (queue.lanes.size > 0 || queue.results.length > 0) return false
  const { hasMore } = await workReplay(deps, queue)
  queue.hasReplay = hasMore
  if (!hasMore) queue.retryAt = deps.clock.now()
  return true
}

async function loadDue({ db, clock }: PumpDeps, queue: Queue, limit: number, now: Date): Promise<void> {
  const { lease, generation, lanes } = queue
  const due = await listDue(db.sql, { lease, generation, held: heldPositions(queue), limit }, now)
  for (const delivery of due) lanes.add(delivery)
  if (due.length === limit) return
  const held = heldPositions(queue)
  queue.retryAt = await db.tx((tx) => putOffBlocked(tx, { lease, generation, held, limit }, clock.now()))
}

async function loadFresh(deps: PumpDeps, queue: Queue, limit: number): Promise<void> {
  const { lease, generation, lanes, names, readTo, retryAt } = queue
  // Before the look: what is placed during it must be looked for again.
  queue.mayHaveMore = false
  try {
    const reading = { lease, generation, held: heldPositions(queue), limit }
    const read = await readFresh(deps.db.sql, reading, readTo, names)
    const subjectIds = read.fresh.map(({ subjectId }) => subjectId)
    const waiting = retryAt === null ? noLanes : await listWaitingLanes(deps.db.sql, reading, subjectIds)
    await park(deps, queue, read.fresh, waiting)
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
async function park(
  { db }: PumpDeps,
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
