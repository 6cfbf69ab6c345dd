import type { Db } from '../../base/db.ts'
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

interface Entry {
  waiting: QueuedSuccess
  done: PromiseWithResolvers<boolean>
}

const maxQueues = 100

export function createSuccessBatcher(db: Db): SuccessBatcher {
  let entries: Entry[] = []
  let isWriting = false

  const writeAll = async () => {
    isWriting = true
    while (entries.length > 0) {
      const together = entries.slice(0, maxQueues)
      entries = entries.slice(maxQueues)
      await writeTogether(db, together)
    }
    isWriting = false
  }

  return {
    save: (waiting) => {
      const done = Promise.withResolvers<boolean>()
      entries.push({ waiting, done })
      if (!isWriting) void writeAll()
      return done.promise
    },
  }
}

/** Never throws: whoever waits is told. */
async function writeTogether(db: Db, entries: readonly Entry[]): Promise<void> {
  try {
    const queues = entries.map(({ waiting }) => ({ ...waiting, cursor: waiting.cursor(), health: waiting.health() }))
    const owners = await db.statement((tx) => saveSuccesses(tx, queues))
    for (const { waiting, done } of entries) done.resolve(owners.has(waiting.lease.owner))
  } catch (error) {
    for (const { done } of entries) done.reject(error)
  }
}
