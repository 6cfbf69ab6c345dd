import type { Signal } from '../../base/async/loop.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'
import type { Log } from '../../base/log.ts'
import type { Outgoing } from '../../base/outgoing/guarded-fetch.ts'
import type { Vault } from '../../base/sealing/vault.ts'
import type { RunStep } from '../../base/steps.ts'
import type { Tracer } from '../../base/tracing/span.ts'
import type { PresentPayload } from '../../events/feed.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import type { Lease } from '../endpoint/queue-queries.ts'
import { type Health, isPaused } from '../endpoint/retry-policy.ts'
import type { KnownEvent } from '../event-catalogue.ts'
import type { Slots } from './concurrency.ts'
import type { Batch, Delivery, Result } from './delivery.ts'
import type { Ordering } from './ordering.ts'
import type { WebhookObserver } from './report.ts'
import type { SuccessBatcher } from './success-batcher.ts'

/** The steps of a delivery, in order of their ends: after each of them a crash could tear it apart. */
export const deliverySteps = ['open', 'load', 'render', 'post', 'save', 'write', 'settle', 'release'] as const
export type DeliveryStep = (typeof deliverySteps)[number]

export interface PumpDeps {
  db: Db
  vault: Vault
  clock: Clock
  log: Log
  outgoing: Pick<Outgoing, 'call'>
  present: PresentPayload
  observe: WebhookObserver
  tracer?: Tracer | undefined
  slots: Slots
  settler: SuccessBatcher
  /** In 0…1. */
  random: () => number
  /** How many deliveries one queue may have in memory. */
  maxInMemory: () => number
  step: RunStep<DeliveryStep>
}

/** A leased queue in memory. Only its pump reads and settles; requests end whenever they end. */
export interface Queue {
  readonly lease: Lease
  /** The name of the sessions that the lease was taken under. */
  readonly session: string
  readonly signal: Signal
  /** Of the process's own steady clock, as `leaseEndsAt`. */
  readonly openedAt: number
  readonly lanes: Ordering
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
  results: Result[]
  /** Those of them that are being written, until they are. */
  batch: Batch | null
  /** Nothing more is started. */
  isEnding: boolean
  /** The worker that is to have it next, if one has asked for it. */
  successor: string | null
  /** Another worker has it. */
  isLost: boolean
}

/** Nothing is sent now, whatever waits. */
export function isResting(queue: Queue, now: Date): boolean {
  return queue.isEnding || queue.isLost || isPaused(queue.health, now)
}

/** Returns the positions of everything in memory that is not being written. */
export function heldPositions({ lanes, results }: Pick<Queue, 'lanes' | 'results'>): number[] {
  return [...lanes.all(), ...results.map((result) => result.delivery)].map(({ position }) => position)
}

/** Returns the position up to which everything is done with or a row: a worker that begins after it misses nothing. */
export function cursorOf(queue: Pick<Queue, 'lanes' | 'results' | 'batch' | 'readTo'>): number {
  let cursor = queue.readTo
  for (const { hasRow, position } of unwritten(queue)) if (!hasRow && position <= cursor) cursor = position - 1
  return cursor
}

function unwritten({ lanes, results, batch }: Pick<Queue, 'lanes' | 'results' | 'batch'>): Delivery[] {
  const inBatch = batch === null ? [] : [...batch.results, ...batch.parked]
  return [...lanes.all(), ...[...results, ...inBatch].map(({ delivery }) => delivery)]
}

/** Empties what a process has in memory of an erased lead or conversation: it is given up then, as if it were not kept. */
export function forgetErased(queues: readonly Queue[], subjectId: string): void {
  for (const { lanes, results } of queues) {
    for (const delivery of lanes.all()) if (delivery.subjectId === subjectId) delivery.payload = null
    for (const { delivery, attempt } of results) if (delivery.subjectId === subjectId) attempt.answer = null
  }
}
