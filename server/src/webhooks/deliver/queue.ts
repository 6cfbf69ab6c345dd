import type { Signal } from '../../base/async/loop.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import type { KeyStore } from '../../base/encryption/key-store.ts'
import type { Log } from '../../base/log.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import type { RunStep } from '../../base/steps.ts'
import type { Tracer } from '../../base/tracing/span.ts'
import type { PresentPayload } from '../../events/feed.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import type { Lease } from '../endpoint/queue-queries.ts'
import { type Health, isPaused } from '../endpoint/retry-policy.ts'
import type { KnownEvent } from '../event-catalogue.ts'
import type { AttemptResult, Delivery, ResultBatch } from './delivery.ts'
import type { QueueSuccesses } from './delivery-queries.ts'

/** The steps of a delivery, in order of their ends: after each of them a crash could tear it apart. */
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
  /** Writes successes together with those of other queues; false when nothing was written: the queue is lost, or disabled. */
  saveSuccesses(successes: QueuedSuccesses): Promise<boolean>
  /** In 0…1. */
  random: () => number
  /** How many deliveries one queue may have in memory. */
  maxInMemory: () => number
  step: RunStep<DeliveryStep>
}

/** What the worker tells whoever counts. Ids stay out: a label for each endpoint would be too many. */
export interface WebhookObserver {
  /** An attempt was taken. The delay is that of a first attempt, from the event to the answer; null for another one. */
  delivered(attempt: { ms: number; delayMs: number | null }): void
  /** An attempt was not taken; `error` when no answer came. The last one of its schedule is final. */
  failed(attempt: { ms: number; error: string | null; isFinal: boolean }): void
  /** An endpoint was disabled because it is gone or has failed for too long. */
  disabled(): void
}

export const noObserver: WebhookObserver = { delivered: () => {}, failed: () => {}, disabled: () => {} }

/** Successes of one queue, whose cursor and health are asked for when they are written. */
export interface QueuedSuccesses extends Omit<QueueSuccesses, 'cursor' | 'health'> {
  cursor(): number
  health(): Health
}

/** A leased queue in memory. Only its pump reads and settles; requests end whenever they end. */
export interface Queue {
  readonly lease: Lease
  /** The name of the sessions that the lease was taken under. */
  readonly session: string
  readonly signal: Signal
  /** Of the process's own steady clock, as `leaseEndsAt`. */
  readonly openedAt: number
  readonly lanes: DeliveryLanes
  /** No request leaves after it. */
  leaseEndsAt: number
  endpoint: Endpoint
  /** The names that the endpoint asks for. */
  names: KnownEvent[]
  readonly generation: number
  health: Health
  /** Up to this position the feed was read. */
  readTo: number
  /** There may be events after it. */
  mayHaveMore: boolean
  /** When the next row that is not in memory is due. */
  retryAt: Date | null
  hasReplay: boolean
  inFlight: number
  /** Attempts that are not yet in the database. */
  results: AttemptResult[]
  /** Those of them that are being written, until they are. */
  batch: ResultBatch | null
  /** Nothing more is started. */
  isEnding: boolean
  /** The worker that is to have it next, if one has asked for it. */
  successor: string | null
  /** Another worker has it. */
  isLost: boolean
}

/** Nothing is sent now, whatever waits. */
export function isPausedNow(queue: Queue, now: Date): boolean {
  return queue.isEnding || queue.isLost || isPaused(queue.health, now)
}

/** Returns the positions of everything in memory that is not being written. */
export function positionsInMemory({ lanes, results }: Pick<Queue, 'lanes' | 'results'>): number[] {
  return [...lanes.all(), ...results.map((result) => result.delivery)].map(({ position }) => position)
}

/** Returns the position up to which everything is done with or a row: a worker that begins after it misses nothing. */
export function cursorOf(queue: Pick<Queue, 'lanes' | 'results' | 'batch' | 'readTo'>): number {
  let cursor = queue.readTo
  for (const { hasRow, position } of unsavedDeliveries(queue)) if (!hasRow && position <= cursor) cursor = position - 1
  return cursor
}

function unsavedDeliveries({ lanes, results, batch }: Pick<Queue, 'lanes' | 'results' | 'batch'>): Delivery[] {
  const inBatch = batch === null ? [] : [...batch.results, ...batch.parked]
  return [...lanes.all(), ...[...results, ...inBatch].map(({ delivery }) => delivery)]
}

/** Empties what a process has in memory of an erased lead or conversation: it is given up then, as if it were not kept. */
export function dropErased(queues: readonly Queue[], subjectId: string): void {
  for (const { lanes, results } of queues) {
    for (const delivery of lanes.all()) if (delivery.subjectId === subjectId) delivery.payload = null
    for (const { delivery, attempt } of results) if (delivery.subjectId === subjectId) attempt.answer = null
  }
}

/** What bounds the requests of this process. */
interface ConcurrencyLimits {
  inFlight: number
  /** Of those; failing endpoints must not take all of them. */
  failing: number
  /** Results that are not in the database yet: after a crash all of them are sent again. */
  unwritten: number
}

type RequestSlots = ReturnType<typeof createSlots>

/** Of all slots, those that queues may take beyond their share. */
const sharedPart = 0.75

/** `countQueues` tells among how many the slots are shared: each may have its share, whatever the others have to send. */
export function createSlots(limits: ConcurrencyLimits, countQueues: () => number) {
  let [taken, failing, unwritten] = [0, 0, 0]
  const waiting = new Set<() => void>()
  const free = () => {
    const woken = [...waiting]
    waiting.clear()
    for (const onFree of woken) onFree()
  }
  return {
    /** Takes one for a request; false when there is none, and `onFree` is called once when there may be. */
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
    give: (isFailing: boolean): void => {
      taken--
      if (isFailing) failing--
      if (unwritten < limits.unwritten) free()
    },
    /** A request has come to something. */
    addUnwritten: (): void => {
      unwritten++
    },
    /** So many results have been written, or will never be. */
    dropUnwritten: (count: number): void => {
      unwritten -= count
      free()
    },
  }
}

interface Lane {
  /** In order of position; the first may be in flight. */
  waiting: Delivery[]
  isBusy: boolean
}

type DeliveryLanes = ReturnType<typeof createDeliveryLanes>

/**
 * The deliveries of one endpoint that are in memory, a lane for each lead or conversation. Lanes take turns; within one,
 * a delivery goes when the one before it is done with.
 */
export function createDeliveryLanes() {
  const lanes = new Map<string, Lane>()
  /** Lanes whose first may go. */
  const ready = new Set<string>()
  let size = 0

  return {
    /** Puts a delivery in its place. Never before one that is in flight. */
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
    /** The next delivery, which then is in flight. */
    take: (): Delivery | undefined => {
      const [subjectId] = ready
      const lane = subjectId === undefined ? undefined : lanes.get(subjectId)
      if (subjectId === undefined || lane === undefined) return undefined
      ready.delete(subjectId)
      lane.isBusy = true
      return lane.waiting[0]
    },
    /** The delivery in flight is done with: the one after it may go. */
    pass: ({ subjectId }: Delivery): void => {
      const lane = lanes.get(subjectId)
      if (lane === undefined) return
      lane.waiting.shift()
      lane.isBusy = false
      size--
      if (lane.waiting.length > 0) ready.add(subjectId)
      else lanes.delete(subjectId)
    },
    /** The delivery did not go after all: it is the next of its lane again. */
    putBack: ({ subjectId }: Delivery): void => {
      const lane = lanes.get(subjectId)
      if (lane === undefined) return
      lane.isBusy = false
      ready.add(subjectId)
    },
    /** Forgets the lane of a delivery in flight, and returns those after it. */
    cut: ({ subjectId }: Delivery): Delivery[] => {
      const [, ...followers] = lanes.get(subjectId)?.waiting ?? []
      ready.delete(subjectId)
      if (lanes.delete(subjectId)) size -= followers.length + 1
      return followers
    },
    /** Forgets what is not in flight, and returns it. */
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
