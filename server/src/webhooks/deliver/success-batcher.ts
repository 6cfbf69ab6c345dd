import { batch } from '../../base/async/batch.ts'
import type { Db } from '../../base/db.ts'
import { byWorkspace } from '../../base/distribution/spread.ts'
import type { Lease } from '../endpoint/queue-queries.ts'
import type { Health } from '../endpoint/retry-policy.ts'
import type { DeliveryRow } from './delivery.ts'
import { saveSuccesses } from './delivery-queries.ts'

/** Writes the successes of all queues of a process: what ends while a statement runs goes together in the next. */
export interface SuccessBatcher {
  /** False when nothing was written: the queue is lost, or its endpoint was disabled meanwhile. */
  save(successes: QueuedSuccess): Promise<boolean>
}

export interface QueuedSuccess {
  lease: Lease
  generation: number
  rows: readonly DeliveryRow[]
  cursor(): number
  health(): Health
}

const maxQueues = 100

export function createSuccessBatcher(db: Db): SuccessBatcher {
  const save = batch<QueuedSuccess, boolean>({
    groups: 1,
    groupSize: maxQueues,
    work: (_, successes) => writeTogether(db, successes),
    // Each queue tries again by itself.
    isUndone: () => false,
  })
  return { save: (success) => save('all queues', success) }
}

async function writeTogether(db: Db, successes: readonly QueuedSuccess[]): Promise<boolean[]> {
  const queues = successes.map((one) => ({ ...one, cursor: one.cursor(), health: one.health() }))
  const owners = await byWorkspace(
    db.sql,
    queues,
    ({ lease }) => lease.workspaceId,
    (some, only) => db.statement((tx) => saveSuccesses(tx, some, only)),
  )
  const saved = new Set(owners)
  return successes.map(({ lease }) => saved.has(lease.owner))
}
