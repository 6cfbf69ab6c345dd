import type { Signal } from '../../base/async/loop.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Log } from '../../base/log.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import type { RunStep } from '../../base/run-step.ts'
import type { Tracer } from '../../base/tracing/span.ts'
import type { PresentPayload } from '../../events/feed.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import type { Lease } from '../endpoint/queue-queries.ts'
import { type Health, isPaused } from '../endpoint/retry-policy.ts'
import type { KnownEvent } from '../event-catalog.ts'
import type { AttemptResult, Delivery, ResultBatch } from './delivery.ts'
import type { QueueSuccesses } from './delivery-queries.ts'

/** Steps of a delivery, in the order of their ends; fault tests crash after each of them. */
export const deliverySteps = ['open', 'load', 'render', 'post', 'save', 'write', 'settle', 'release'] as const
export type DeliveryStep = (typeof deliverySteps)[number]

export interface DeliveryLoopDeps {
  db: Db
  keyStore: KeyStore
  clock: Clock
  log: Log
  outgoing: Pick<Outgoing, 'call'>
  present: PresentPayload
  observe: WebhookObserver
  tracer?: Tracer | undefined
  slots: RequestSlots
  /** Saves successes in a batch with other queues; returns false if the queue is lost or disabled. */
  saveSuccesses(successes: QueuedSuccesses): Promise<boolean>
  /** Returns 0 to 1. */
  random: () => number
  /** Returns how many deliveries one queue may have in memory. */
  maxInMemory: () => number
  step: RunStep<DeliveryStep>
}

/** Metrics of the worker. Has no ids, because a label per endpoint would have too many values. */
export interface WebhookObserver {
  /** A successful attempt. The delay is from event to response for a first attempt; else null. */
  delivered(attempt: { ms: number; delayMs: number | null }): void
  /** A failed attempt; `error` is set if no response came. The last one of its schedule is final. */
  failed(attempt: { ms: number; error: string | null; isFinal: boolean }): void
  /** An endpoint was disabled as gone or failing. */
  disabled(): void
}

export const noObserver: WebhookObserver = { delivered: () => {}, failed: () => {}, disabled: () => {} }

/** Successes of one queue; cursor and health are read when they are saved. */
export interface QueuedSuccesses extends Omit<QueueSuccesses, 'cursor' | 'health'> {
  cursor(): number
  health(): Health
}

/** A leased queue in memory. Only its loop reads and saves; requests end independently. */
export interface Queue {
  readonly lease: Lease
  /** Session name of the process that took the lease. */
  readonly session: string
  readonly signal: Signal
  /** `performance.now()` time, as is `leaseEndsAt`. */
  readonly openedAt: number
  readonly lanes: DeliveryLanes
  /** No request may start after it. */
  leaseEndsAt: number
  endpoint: Endpoint
  /** Event names that the endpoint subscribes to. */
  names: KnownEvent[]
  readonly generation: number
  health: Health
  /** Feed position up to which it has read. */
  readTo: number
  /** Whether there may be events after `readTo`. */
  mayHaveMore: boolean
  /** Time when the next row that is not in memory is due. */
  retryAt: Date | null
  hasReplay: boolean
  inFlight: number
  /** Results that are not saved yet. */
  results: AttemptResult[]
  /** Results that are being saved. */
  batch: ResultBatch | null
  /** No more requests are started. */
  isEnding: boolean
  /** Worker that has requested the queue, by session name. */
  successor: string | null
  /** Another worker has the lease, or may have it. */
  isLost: boolean
}

export function isPausedNow(queue: Queue, now: Date): boolean {
  return queue.isEnding || queue.isLost || isPaused(queue.health, now)
}

/** Returns the positions of all deliveries in memory, except those that are being saved. */
export function positionsInMemory({ lanes, results }: Pick<Queue, 'lanes' | 'results'>): number[] {
  return [...lanes.all(), ...results.map((result) => result.delivery)].map(({ position }) => position)
}

/** Returns up to where all deliveries are done or have a row: a worker that resumes there misses nothing. */
export function cursorOf(queue: Pick<Queue, 'lanes' | 'results' | 'batch' | 'readTo'>): number {
  let cursor = queue.readTo
  for (const { hasRow, position } of unsavedDeliveries(queue)) if (!hasRow && position <= cursor) cursor = position - 1
  return cursor
}

function unsavedDeliveries({ lanes, results, batch }: Pick<Queue, 'lanes' | 'results' | 'batch'>): Delivery[] {
  const inBatch = batch === null ? [] : [...batch.results, ...batch.blocked]
  return [...lanes.all(), ...[...results, ...inBatch].map(({ delivery }) => delivery)]
}

/** Removes payloads and responses of an erased subject from memory; its deliveries then fail as expired. */
export function dropErased(queues: readonly Queue[], subjectId: string): void {
  for (const { lanes, results } of queues) {
    for (const delivery of lanes.all()) if (delivery.subjectId === subjectId) delivery.payload = null
    for (const { delivery, attempt } of results) if (delivery.subjectId === subjectId) attempt.answer = null
  }
}

interface ConcurrencyLimits {
  inFlight: number
  /** Part of `inFlight` for failing endpoints, so that they cannot use all slots. */
  failing: number
  /** Results that are not saved yet: after a crash, all of them are sent again. */
  unwritten: number
}

type RequestSlots = ReturnType<typeof createSlots>

/** Part of all slots that queues may use beyond their fair share. */
const sharedPart = 0.75

/** Creates the request slots. Each of the `countQueues` queues is guaranteed a fair share. */
export function createSlots(limits: ConcurrencyLimits, countQueues: () => number) {
  let [taken, failing, unwritten] = [0, 0, 0]
  const waiting = new Set<() => void>()
  const notifyWaiting = () => {
    const woken = [...waiting]
    waiting.clear()
    for (const onFree of woken) onFree()
  }
  return {
    /** Acquires a slot; returns false if there is none, and calls `onFree` once when there may be one. */
    take: ({ isFailing, inFlight }: { isFailing: boolean; inFlight: number }, onFree: () => void): boolean => {
      const isBeyondShare = inFlight >= Math.max(1, Math.floor(limits.inFlight / countQueues()))
      const most = isBeyondShare ? Math.floor(limits.inFlight * sharedPart) : limits.inFlight
      const isFull = taken >= most || unwritten >= limits.unwritten
      if (isFull || (isFailing && failing >= limits.failing)) {
        waiting.add(onFree)
        return false
      }
      taken++
      if (isFailing) failing++
      return true
    },
    release: (isFailing: boolean): void => {
      taken--
      if (isFailing) failing--
      if (unwritten < limits.unwritten) notifyWaiting()
    },
    /** Counts a result that is not saved yet. */
    addUnwritten: (): void => {
      unwritten++
    },
    /** Uncounts results that were saved, or will never be. */
    dropUnwritten: (count: number): void => {
      unwritten -= count
      notifyWaiting()
    },
  }
}

interface Lane {
  /** In order of position; the first one may be in flight. */
  waiting: Delivery[]
  isBusy: boolean
}

type DeliveryLanes = ReturnType<typeof createDeliveryLanes>

/**
 * Creates the in-memory deliveries of one endpoint, in a lane per lead or conversation. Lanes take turns; within a
 * lane, a delivery starts when the one before it is done.
 */
export function createDeliveryLanes() {
  const lanes = new Map<string, Lane>()
  /** Lanes whose first delivery can start. */
  const ready = new Set<string>()
  let size = 0

  return {
    /** Inserts a delivery by position, never before one that is in flight. */
    add: (delivery: Delivery): void => {
      const lane = lanes.get(delivery.subjectId) ?? { waiting: [], isBusy: false }
      let at = lane.waiting.length
      const first = lane.isBusy ? 1 : 0
      while (at > first && (lane.waiting[at - 1]?.position ?? 0) > delivery.position) at--
      lane.waiting.splice(at, 0, delivery)
      lanes.set(delivery.subjectId, lane)
      if (!lane.isBusy) ready.add(delivery.subjectId)
      size++
    },
    hasReady: (): boolean => ready.size > 0,
    /** Returns the next delivery, and marks it as in flight. */
    take: (): Delivery | undefined => {
      const [subjectId] = ready
      const lane = subjectId === undefined ? undefined : lanes.get(subjectId)
      if (subjectId === undefined || lane === undefined) return undefined
      ready.delete(subjectId)
      lane.isBusy = true
      return lane.waiting[0]
    },
    /** Removes the delivery in flight, so that the next one of its lane can start. */
    complete: ({ subjectId }: Delivery): void => {
      const lane = lanes.get(subjectId)
      if (lane === undefined) return
      lane.waiting.shift()
      lane.isBusy = false
      size--
      if (lane.waiting.length > 0) ready.add(subjectId)
      else lanes.delete(subjectId)
    },
    /** Returns a delivery that was not sent to the head of its lane. */
    requeue: ({ subjectId }: Delivery): void => {
      const lane = lanes.get(subjectId)
      if (lane === undefined) return
      lane.isBusy = false
      ready.add(subjectId)
    },
    /** Removes the lane of a delivery in flight, and returns the deliveries after it. */
    removeLane: ({ subjectId }: Delivery): Delivery[] => {
      const [, ...followers] = lanes.get(subjectId)?.waiting ?? []
      ready.delete(subjectId)
      if (lanes.delete(subjectId)) size -= followers.length + 1
      return followers
    },
    /** Removes and returns all deliveries that are not in flight. */
    clear: (): Delivery[] => {
      const dropped = [...lanes.values()].flatMap((lane) => lane.waiting.splice(lane.isBusy ? 1 : 0))
      for (const [subjectId, lane] of lanes) if (!lane.isBusy) lanes.delete(subjectId)
      ready.clear()
      size = lanes.size
      return dropped
    },
    all: (): Delivery[] => [...lanes.values()].flatMap((lane) => lane.waiting),
    get size(): number {
      return size
    },
  }
}
