import { batch } from '../../base/async/batch.ts'
import { byWorkspace } from '../../base/citus/distributed-sql.ts'
import type { Db, Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import type { Log } from '../../base/log.ts'
import { columnNames, unnested } from '../../base/postgres/rows.ts'
import { disableEndpoint } from '../endpoint/disable.ts'
import type { StateReason } from '../endpoint/endpoint.ts'
import { type Lease, lockQueue, saveQueue, updateNextDue } from '../endpoint/queue-queries.ts'
import { hasFailedTooLong } from '../endpoint/retry-policy.ts'
import {
  type AttemptResult,
  type AttemptRow,
  attemptedRow,
  type DeliveryRow,
  failedAttemptRow,
  type ResultBatch,
  waitingRow,
} from './delivery.ts'
import { delayFollowers, releaseFollowers, saveDeliveries, saveSuccesses } from './delivery-queries.ts'
import {
  cursorOf,
  type DeliveryLoopDeps,
  positionsInMemory,
  type Queue,
  type QueuedSuccesses,
  type WebhookObserver,
} from './queue.ts'

const maxResults = 100

interface RecordedBatch {
  /** The endpoint was disabled, by this batch or by a member. */
  isOver: boolean
  disabled: StateReason | null
  /** Time when the next row is due; undefined if no row was changed. */
  retryAt: Date | null | undefined
}

/** Saves the results of attempts in one transaction. Returns whether there were any. */
export async function recordResults(deps: DeliveryLoopDeps, queue: Queue): Promise<boolean> {
  // A batch that failed is retried unchanged: the lanes it was cut from are no longer in memory.
  queue.batch ??= takeBatch(queue)
  const { batch } = queue
  if (batch === null) return false
  const recorded = await deps.step(
    'settle',
    async () => (await recordInSharedBatch(deps, queue, batch)) ?? (await recordAlone(deps, queue, batch)),
  )
  queue.batch = null
  deps.slots.dropUnwritten(batch.results.length)
  if (recorded.retryAt !== undefined) queue.retryAt = recorded.retryAt
  if (recorded.isOver) queue.isEnding = true
  reportResults(deps, queue.lease.endpointId, batch, recorded.disabled)
  return true
}

/** Saves a batch of fresh successes, the common case, together with other queues; null if not possible. */
async function recordInSharedBatch(
  deps: DeliveryLoopDeps,
  queue: Queue,
  { results, blocked }: ResultBatch,
): Promise<RecordedBatch | null> {
  const isPlain = results.every(({ delivery, decision }) => decision.next === 'delivered' && !delivery.hasRow)
  if (!isPlain || blocked.length > 0) return null
  const { lease, generation } = queue
  const keyring = await deps.keyStore.keyring(lease.workspaceId)
  const rows = results.map((result) => attemptedRow(keyring, lease.endpointId, result))
  const isWritten = await deps.saveSuccesses({
    lease,
    generation,
    rows,
    // Evaluated when it is saved, because requests can end meanwhile.
    cursor: () => cursorOf({ ...queue, batch: null }),
    health: () => queue.health,
  })
  return isWritten ? { isOver: false, disabled: null, retryAt: undefined } : null
}

async function recordAlone(deps: DeliveryLoopDeps, queue: Queue, batch: ResultBatch): Promise<RecordedBatch> {
  const keyring = await deps.keyStore.keyring(queue.lease.workspaceId)
  return deps.db.tx((tx) => deps.step('write', () => writeBatch(tx, deps, queue, keyring, batch)))
}

function takeBatch({ lanes, results }: Queue): ResultBatch | null {
  if (results.length === 0) return null
  const batch: ResultBatch = { results: results.splice(0, maxResults), blocked: [] }
  for (const { delivery, decision } of batch.results) {
    if (decision.next !== 'retry') continue
    const { dueAt } = decision
    batch.blocked.push(...lanes.removeLane(delivery).map((follower) => ({ delivery: follower, dueAt })))
  }
  return batch
}

async function writeBatch(
  tx: Tx,
  { clock, step }: DeliveryLoopDeps,
  queue: Queue,
  keyring: Keyring,
  { results, blocked }: ResultBatch,
): Promise<RecordedBatch> {
  const { lease, generation } = queue
  const now = clock.now()
  const rows = [
    ...results.map((result) => attemptedRow(keyring, lease.endpointId, result)),
    ...blocked.filter(({ delivery }) => !delivery.hasRow).map(({ delivery, dueAt }) => waitingRow(delivery, dueAt)),
  ]
  const failed = results
    .filter(({ decision }) => decision.next !== 'delivered')
    .map((result) => failedAttemptRow(keyring, lease.endpointId, result))
  // Pipelined, in this order: if the lock fails, everything after it is rolled back.
  const [currentGeneration, , saved] = await step('save', () =>
    Promise.all([
      lockQueue(tx, lease),
      commitAsynchronously(tx),
      saveDeliveries(tx, lease, generation, rows),
      failed.length > 0 ? insertAttempts(tx, lease, failed) : null,
      saveQueue(tx, lease, generation, cursorOf({ ...queue, batch: null }), queue.health),
    ]),
  )
  if (currentGeneration !== generation) return { isOver: true, disabled: null, retryAt: undefined }
  const notSaved = rows.filter(({ position }) => !saved.has(position))
  if (notSaved.length > 0) await archiveLateAttempts(tx, lease, notSaved)
  const isTouched = (await updateFollowers(tx, queue, results, now)) || notSaved.length > 0
  const disabled = reasonToDisable(queue, results, now)
  if (disabled !== null) {
    await disableEndpoint(tx, queue.endpoint, disabled, { type: 'system', id: null }, now)
    return { isOver: true, disabled, retryAt: undefined }
  }
  const retryAt = isTouched ? await updateNextDue(tx, lease, generation, positionsInMemory(queue)) : undefined
  return { isOver: false, disabled, retryAt }
}

// A database crash can lose the last commits. Their requests are then sent again, as after any crash, because the
// cursor and the rows are lost together.
async function commitAsynchronously(tx: Tx): Promise<void> {
  await tx`set local synchronous_commit = off`.execute()
}

/** Updates later rows of the lanes. Returns whether any row was or is pending. */
async function updateFollowers(tx: Tx, queue: Queue, results: ResultBatch['results'], now: Date): Promise<boolean> {
  const { lease, generation } = queue
  const heads = results.flatMap(({ delivery: { subjectId, position }, decision }) =>
    decision.next === 'retry' ? [{ subjectId, position, dueAt: decision.dueAt }] : [],
  )
  const done = results.filter(({ delivery, decision }) => delivery.hasRow && decision.next !== 'retry')
  if (heads.length > 0) await delayFollowers(tx, lease, generation, heads)
  if (done.length > 0) {
    const subjectIds = done.map(({ delivery }) => delivery.subjectId)
    await releaseFollowers(tx, lease, generation, subjectIds, now)
  }
  return heads.length + done.length > 0
}

function reasonToDisable({ health }: Queue, results: ResultBatch['results'], now: Date): StateReason | null {
  if (results.some(({ decision }) => decision.next === 'gone')) return 'gone'
  return hasFailedTooLong(health, now) ? 'failing' : null
}

const attemptColumns = {
  numeric: ['position'],
  integer: ['number', 'status', 'ms'],
  timestamptz: ['at'],
  text: ['error'],
  bytea: ['answer'],
} as const

async function insertAttempts(tx: Tx, { workspaceId, endpointId }: Lease, rows: readonly AttemptRow[]): Promise<void> {
  await tx`
    insert into webhook_attempts (workspace_id, endpoint_id, ${columnNames(attemptColumns)})
    select ${workspaceId}::uuid, ${endpointId}::uuid, n.*
    from ${unnested(rows, attemptColumns)}
    on conflict do nothing`.execute()
}

/**
 * Archives attempts that ended after their event was resent: they stay in the log and in the count of attempts, but do
 * not affect the new round. `rows` are the rows that they would have saved.
 */
async function archiveLateAttempts(tx: Tx, lease: Lease, rows: readonly DeliveryRow[]): Promise<void> {
  const delivered = rows.flatMap((row): AttemptRow[] => {
    const { position, attempts: number, deliveredAt: at, deliveredMs: ms } = row
    if (at === null || ms === null) return []
    return [{ position, number, at, ms, status: row.deliveredStatus, error: null, answer: row.deliveredAnswer }]
  })
  if (delivered.length > 0) await insertAttempts(tx, lease, delivered)
  await tx`
    update webhook_deliveries d
    set attempts = greatest(d.attempts, r.attempts),
      masked = d.masked or r.masked
    from unnest(
      ${rows.map((row) => row.position)}::bigint[],
      ${rows.map((row) => row.attempts)}::integer[],
      ${rows.map((row) => String(row.masked))}::text[]::boolean[]
    ) as r (position, attempts, masked)
    where d.workspace_id = ${lease.workspaceId}
      and d.endpoint_id = ${lease.endpointId}
      and d.position = r.position`
}

function reportResults(
  { log, observe }: { log: Log; observe: WebhookObserver },
  endpointId: string,
  { results }: ResultBatch,
  disabled: StateReason | null,
): void {
  for (const result of results) {
    const { delivery, attempt, decision } = result
    const fields = { endpointId, eventId: delivery.eventId, attempt: delivery.attempts + 1, durationMs: attempt.ms }
    const status = attempt.status === null ? {} : { status: attempt.status }
    if (decision.next === 'delivered') {
      observe.delivered({ ms: attempt.ms, delayMs: delayOf(result) })
      log.debug('webhook delivered', { ...fields, ...status })
    } else {
      observe.failed({ ms: attempt.ms, error: attempt.error, isFinal: decision.next !== 'retry' })
      const code = attempt.error === null ? {} : { code: attempt.error }
      log.info('webhook delivery failed', { ...fields, ...status, ...code })
    }
  }
  if (disabled === null) return
  observe.disabled()
  log.warn('webhook endpoint disabled', { endpointId, code: disabled })
}

function delayOf({ delivery, attempt }: AttemptResult): number | null {
  return delivery.attempts === 0 ? attempt.at.getTime() - delivery.occurredAt.getTime() : null
}

const maxQueues = 100

/** Creates a batcher for successes of all queues: those that arrive during a statement share the next one. */
export function createSuccessBatcher(db: Db): DeliveryLoopDeps['saveSuccesses'] {
  const save = batch<QueuedSuccesses, boolean>({
    maxGroups: 1,
    maxGroupSize: maxQueues,
    work: (_, successes) => saveBatch(db, successes),
    // On failure, each queue retries by itself.
    isRolledBack: () => false,
  })
  return (successes) => save('all queues', successes)
}

async function saveBatch(db: Db, successes: readonly QueuedSuccesses[]): Promise<boolean[]> {
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
