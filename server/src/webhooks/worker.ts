import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../base/clock.ts'
import type { Db } from '../base/db.ts'
import type { Outgoing } from '../base/guarded-fetch.ts'
import type { Log } from '../base/log.ts'
import { type Loop, startLoop } from '../base/loop.ts'
import type { Vault } from '../base/vault.ts'
import type { PresentPayload } from '../events/feed.ts'
import { placedTopic } from '../events/place.ts'
import { recordedTopic } from '../events/record.ts'
import { type ClaimedQueue, claimQueues, renewLeases } from './lease.ts'
import { noObserver, type WebhookObserver } from './observe.ts'
import { createPlacer } from './placer.ts'
import { endQueue, giveBack, loseQueue, openQueue, refreshQueue, runQueue } from './pump.ts'
import { isResting, type PumpDeps, type Queue } from './queue.ts'
import { dueTopic } from './replay.ts'
import { createSlots } from './slots.ts'

const maxQueues = 500
const maxInFlight = 512
const maxFailingInFlight = maxInFlight / 2
const lookEveryMs = 1000
const renewEveryMs = 5000
/** A queue that has nothing to do is kept for a while: the next event then needs no claim. */
const lingerMs = 2000
const maxDrainMs = 8000

export interface DeliveryWorker {
  /** Sends whatever is due until there is nothing left to do now: for tests, which drive the clock. */
  drain(): Promise<void>
  start(): void
  /** Lets requests that are in flight end, for a few seconds, and gives everything back to other workers. */
  stop(): Promise<void>
}

export interface WorkerDeps {
  db: Db
  vault: Vault
  clock: Clock
  log: Log
  outgoing: Pick<Outgoing, 'call'>
  present: PresentPayload
  observe?: WebhookObserver
  random?: () => number
}

/** Sends events to the endpoints of all workspaces, together with any number of other workers. */
export function createDeliveryWorker(given: WorkerDeps): DeliveryWorker {
  const deps: PumpDeps = {
    observe: noObserver,
    random: Math.random,
    ...given,
    slots: createSlots(maxInFlight, maxFailingInFlight),
  }
  const { db, log, clock } = deps
  const placer = createPlacer(db, log)
  /** By the owner of the lease. */
  const queues = new Map<string, { queue: Queue; done: Promise<void> }>()
  let isStarted = false
  let isStopping = false

  const held = (workspaceId: string) =>
    [...queues.values()].map(({ queue }) => queue).filter(({ lease }) => lease.workspaceId === workspaceId)

  const claim = async (workspaceIds: readonly string[] | null): Promise<number> => {
    const room = maxQueues - queues.size
    if (isStopping || room <= 0) return 0
    const askedAt = performance.now()
    const claimed = await db.statement((tx) => claimQueues(tx, workspaceIds, room, clock.now()))
    await Promise.all(claimed.map((row) => begin(row, askedAt)))
    return claimed.length
  }
  const begin = async (claimed: ClaimedQueue, askedAt: number): Promise<void> => {
    try {
      const queue = await openQueue(deps, claimed, askedAt)
      queues.set(claimed.owner, { queue, done: work(queue).finally(() => queues.delete(claimed.owner)) })
    } catch (error) {
      // The lease keeps it from being tried again for a while.
      log.error('webhook endpoint not opened', { endpointId: claimed.id }, error)
    }
  }
  const work = async (queue: Queue): Promise<void> => {
    do await runQueue(deps, queue)
    while (isStarted && (await hasMoreSoon(queue)))
    await giveBack(deps, queue).catch((error) => log.error('webhooks not given back', {}, error))
  }
  const hasMoreSoon = async (queue: Queue): Promise<boolean> => {
    if (isResting(queue, clock.now()) || queues.size >= maxQueues) return false
    const nothing = new AbortController()
    const isWoken = await Promise.race([
      queue.signal.next().then(() => true),
      sleep(lingerMs, false, { signal: nothing.signal, ref: false }).catch(() => false),
    ])
    nothing.abort()
    return isWoken
  }
  const renew = async (workspaceQueues: readonly Queue[]): Promise<void> => {
    if (workspaceQueues.length === 0) return
    const askedAt = performance.now()
    const owners = workspaceQueues.map(({ lease }) => lease.owner)
    const rows = await db.statement((tx) => renewLeases(tx, owners))
    const byOwner = new Map(rows.map((row) => [row.owner, row]))
    for (const queue of workspaceQueues) {
      const row = byOwner.get(queue.lease.owner)
      if (row === undefined) loseQueue(queue)
      else await refreshQueue(deps, queue, row, askedAt)
    }
  }

  /** Workspaces of which there is news, until the next look at them. */
  const news = new Set<string>()
  let looking: Promise<void> | null = null
  const lookAt = (workspaceId: string) => {
    news.add(workspaceId)
    looking ??= look().finally(() => {
      looking = null
    })
  }
  const look = async () => {
    while (news.size > 0 && !isStopping) {
      const workspaceIds = [...news]
      news.clear()
      await claim(workspaceIds).catch((error) => log.error('webhooks not claimed', {}, error))
    }
  }
  const onPlaced = (workspaceId: string) => {
    for (const queue of held(workspaceId)) {
      queue.mayHaveMore = true
      queue.signal.wake()
    }
    lookAt(workspaceId)
  }
  const onDue = (workspaceId: string) => {
    const own = held(workspaceId)
    for (const queue of own) queue.retryAt = clock.now()
    renew(own).catch((error) => log.error('webhook endpoints not looked at', {}, error))
    lookAt(workspaceId)
  }

  let loops: Loop[] = []
  let listeners: (() => void)[] = []
  return {
    drain: async () => {
      for (;;) {
        const placed = await placer.placeAll()
        const claimed = await claim(null)
        await Promise.all([...queues.values()].map(({ done }) => done))
        if (placed === 0 && claimed === 0) return
      }
    },
    start: () => {
      isStarted = true
      listeners = [db.onNews(recordedTopic, placer.place), db.onNews(placedTopic, onPlaced), db.onNews(dueTopic, onDue)]
      const loop = (pauseMs: number, work: () => Promise<unknown>) =>
        startLoop({ firstAfterMs: 0, pauseMs }, work, (error) => log.error('webhooks not looked for', {}, error))
      loops = [
        loop(lookEveryMs, placer.placeAll),
        loop(lookEveryMs, () => claim(null)),
        loop(renewEveryMs, () => renew([...queues.values()].map(({ queue }) => queue))),
      ]
    },
    stop: async () => {
      isStopping = true
      isStarted = false
      for (const stop of listeners) stop()
      await Promise.all(loops.map((loop) => loop.stop()))
      await looking
      await placer.idle()
      for (const { queue } of queues.values()) endQueue(queue)
      const all = Promise.all([...queues.values()].map(({ done }) => done))
      await Promise.race([all, sleep(maxDrainMs, undefined, { ref: false })])
      // What has not ended by now is another worker's to send again.
      for (const { queue } of queues.values()) {
        await giveBack(deps, queue).catch(() => {})
        loseQueue(queue)
      }
    },
  }
}
