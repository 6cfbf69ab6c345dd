import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../base/db.ts'
import { byWorkspace, isSpread } from '../../base/distribution/spread.ts'
import {
  type ClaimedQueue,
  type ClaimScope,
  claimQueues,
  listClaimable,
  renewLeases,
} from '../endpoint/queue-queries.ts'
import { endQueue, giveBack, loseQueue, openQueue, refreshQueue, runQueue } from './pump.ts'
import { isResting, type PumpDeps, type Queue } from './queue.ts'
import type { RebalanceRequest } from './rebalance.ts'

const maxQueues = 500
/** A queue that has nothing to do is kept for a while: the next event then needs no claim. */
const lingerMs = 2000
const maxDrainMs = 8000
/** When every place is taken, queues that were worked on for so long make room for others, some at a time. */
const turnMs = 10_000
const maxRetired = 50
/** Deliveries in memory, of all queues together. */
const maxInMemory = 20_000
const minInMemory = 20

/** The queues that this process has leased, each being worked on by itself. */
export type Holder = ReturnType<typeof createHolder>

type HolderDeps = Omit<PumpDeps, 'maxInMemory'>

/** Queues that have nothing to do are given back at once unless they may linger. `gaveBack` is told of each. */
export function createHolder(given: HolderDeps, mayLinger: () => boolean, gaveBack = () => {}) {
  const share = () => Math.max(minInMemory, Math.floor(maxInMemory / Math.max(working.size, 1)))
  const deps: PumpDeps = { ...given, maxInMemory: share }
  const { db, log, clock } = deps
  /** By the owner of the lease. */
  const working = new Map<string, { queue: Queue; done: Promise<void> }>()
  const claims = new Set<Promise<number>>()
  const left = createLeftovers()
  let isStopping = false

  const begin = async (claimed: ClaimedQueue, askedAt: number): Promise<void> => {
    try {
      const queue = await deps.step('open', () => openQueue(deps, claimed, askedAt))
      if (isStopping) endQueue(queue)
      const done = work(queue).finally(() => {
        if (working.delete(claimed.owner)) gaveBack()
        lookAgain(queue).catch((error) => log.error('webhooks not claimed', {}, error))
      })
      working.set(claimed.owner, { queue, done })
    } catch (error) {
      // Its lease keeps it from being tried again at once.
      log.error('webhook endpoint not opened', { endpointId: claimed.id }, error)
    }
  }
  const work = async (queue: Queue): Promise<void> => {
    do await runQueue(deps, queue)
    while (await hasMoreSoon(queue))
    await giveBack(deps, queue).catch((error) => log.error('webhooks not given back', {}, error))
    if (queue.isEnding || queue.isLost || queue.mayHaveMore) left.note()
  }
  const hasMoreSoon = async (queue: Queue): Promise<boolean> =>
    mayLinger() && working.size < maxQueues && hasMoreWithin(lingerMs, queue, clock.now())
  // News that came while a queue was given back found it neither free nor at work.
  const lookAgain = async ({ lease, mayHaveMore }: Queue) => {
    if (mayHaveMore && mayLinger()) await claim([lease.workspaceId])
  }
  /**
   * Begins with queues in which something can be sent, and returns how many. All are looked at instead of those that are
   * due when some were left since: for want of room, or by a failure.
   */
  const claim = async (asked: ClaimScope): Promise<number> => {
    const claiming = claimNow(left.scopeFor(asked)).catch(left.noteAndThrow)
    claims.add(claiming)
    return claiming.finally(() => claims.delete(claiming))
  }
  const claimNow = async (scope: ClaimScope): Promise<number> => {
    const room = maxQueues - working.size
    if (isStopping) return 0
    if (room <= 0) {
      left.note()
      if (scope === 'all') retireOldest(held())
      return 0
    }
    const askedAt = performance.now()
    const begun: Promise<void>[] = []
    const isAll = await claimFree(db, { scope, room, now: clock.now() }, (row) => void begun.push(begin(row, askedAt)))
    if (!isAll) left.note()
    await Promise.all(begun)
    return begun.length
  }
  const held = () => [...working.values()].map(({ queue }) => queue)
  const done = async () => {
    await Promise.allSettled(claims)
    await Promise.all([...working.values()].map((entry) => entry.done))
  }

  return {
    claim,
    /** Whether some were left. */
    hasLeft: left.hasSome,
    /** Renews the leases of queues, and looks what was changed at their endpoints. */
    renew: (queues: readonly Queue[]) => renewAll(deps, queues),
    /** Lets queues go over to another worker that has asked for them, when it was this one that it asked. */
    give: (ask: RebalanceRequest) => giveTo(held(), ask),
    held,
    count: () => working.size,
    heldIn: (workspaceId: string) => held().filter(({ lease }) => lease.workspaceId === workspaceId),
    /** Resolves when every queue has been given back. */
    done,
    stop: async (): Promise<void> => {
      isStopping = true
      for (const queue of held()) endQueue(queue)
      await Promise.race([done(), sleep(maxDrainMs, undefined, { ref: false })])
      for (const queue of held()) await abandon(deps, queue)
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
    scopeFor: (asked: ClaimScope): ClaimScope => {
      const scope = asked === 'due' && hasSome ? 'all' : asked
      if (scope === 'all') hasSome = false
      return scope
    },
  }
}

/**
 * Claims queues, and has `take` told of each as soon as it is claimed. Returns whether no other is free. Where rows are spread,
 * the workspaces of those that are free are looked for first, and each is claimed in by itself.
 */
async function claimFree(
  db: Db,
  { scope, room, now }: { scope: ClaimScope; room: number; now: Date },
  take: (claimed: ClaimedQueue) => void,
): Promise<boolean> {
  const listed = isSpread(db.sql) ? await listClaimable(db.sql, scope, room, now) : null
  let left = room
  for (const only of listed === null ? [null] : new Set(listed)) {
    const claimed = await db.statement((tx) => claimQueues(tx, scope, left, now, only))
    claimed.forEach(take)
    left -= claimed.length
    if (left === 0) return false
  }
  return listed === null || listed.length < room
}

function hasMoreWithin(ms: number, queue: Queue, now: Date): Promise<boolean> {
  const isHeldUp = queue.lanes.size > 0 || isResting(queue, now)
  if (isHeldUp || queue.mayHaveMore) return Promise.resolve(!isHeldUp)
  return queue.signal.nextWithin(ms)
}

function retireOldest(queues: readonly Queue[]): void {
  const longAgo = performance.now() - turnMs
  for (const queue of queues.slice(0, maxRetired)) if (queue.openedAt < longAgo) endQueue(queue)
}

function giveTo(queues: readonly Queue[], { from, to, count }: RebalanceRequest): void {
  const ours = queues.filter(({ session }) => session === from)
  for (const queue of easiestToGive(ours).slice(0, count)) {
    queue.successor = to
    endQueue(queue)
  }
}

/** Those with the least in flight first. What a failing receiver is asked takes long, and it costs little to hold. */
function easiestToGive(queues: readonly Queue[]): Queue[] {
  return queues
    .filter(({ health, isEnding, isLost }) => health.failuresInARow === 0 && !isEnding && !isLost)
    .sort((a, b) => a.inFlight - b.inFlight)
}

async function renewAll(deps: PumpDeps, queues: readonly Queue[]): Promise<void> {
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
    if (row === undefined) loseQueue(queue)
    else await refreshQueue(deps, queue, row, askedAt).catch((error) => endUnreadable(deps, queue, error))
  }
}

// The others are renewed all the same.
function endUnreadable({ log }: PumpDeps, queue: Queue, error: unknown): void {
  log.error('webhook endpoint not opened', { endpointId: queue.lease.endpointId }, error)
  endQueue(queue)
}

/** What has not ended by now is another worker's to send again. */
async function abandon(deps: PumpDeps, queue: Queue): Promise<void> {
  await giveBack(deps, queue).catch(() => {})
  loseQueue(queue)
}
