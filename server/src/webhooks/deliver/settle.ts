import { batch } from '../../base/async/batch.ts'
import type { Db, Tx } from '../../base/db.ts'
import { byWorkspace } from '../../base/distribution/spread.ts'
import type { Log } from '../../base/log.ts'
import { byteaArray, timestampArray } from '../../base/postgres/values.ts'
import type { Keyring } from '../../base/sealing/keyring.ts'
import { disableEndpoint } from '../endpoint/disable.ts'
import type { StateReason } from '../endpoint/endpoint.ts'
import { type Lease, lockQueue, noteNextDue, saveQueue } from '../endpoint/queue-queries.ts'
import { isHopeless } from '../endpoint/retry-policy.ts'
import {
  type AttemptRow,
  attemptedRow,
  type Batch,
  type DeliveryRow,
  failedAttemptRow,
  type Result,
  waitingRow,
} from './delivery.ts'
import { delayFollowers, releaseFollowers, saveDeliveries, saveSuccesses } from './delivery-queries.ts'
import {
  cursorOf,
  heldPositions,
  type PumpDeps,
  type Queue,
  type QueuedSuccesses,
  type WebhookObserver,
} from './queue.ts'

const maxResults = 100

interface Settled {
  /** The endpoint was disabled meanwhile, by this or by a member. */
  isOver: boolean
  disabled: StateReason | null
  /** When the next row is due; undefined when no row was touched. */
  retryAt: Date | null | undefined
}

/** Writes what has come of attempts, all of it or nothing. Returns whether there was anything to write. */
export async function settleResults(deps: PumpDeps, queue: Queue): Promise<boolean> {
  // One that could not be written is tried again as it is: the lanes it was cut from are no longer in memory.
  queue.batch ??= takeBatch(queue)
  const { batch } = queue
  if (batch === null) return false
  const settled = await deps.step(
    'settle',
    async () => (await settleWithOthers(deps, queue, batch)) ?? (await settleAlone(deps, queue, batch)),
  )
  queue.batch = null
  deps.slots.dropUnwritten(batch.results.length)
  if (settled.retryAt !== undefined) queue.retryAt = settled.retryAt
  if (settled.isOver) queue.isEnding = true
  reportSettled(deps, queue.lease.endpointId, batch, settled.disabled)
  return true
}

/** What most batches are, fresh events that were taken, is written together with those of other queues. */
async function settleWithOthers(deps: PumpDeps, queue: Queue, { results, parked }: Batch): Promise<Settled | null> {
  const isPlain = results.every(({ delivery, verdict }) => verdict.next === 'delivered' && !delivery.hasRow)
  if (!isPlain || parked.length > 0) return null
  const { lease, generation } = queue
  const keyring = await deps.vault.keyring(lease.workspaceId)
  const rows = results.map((result) => attemptedRow(keyring, lease.endpointId, result))
  const isWritten = await deps.saveSuccesses({
    lease,
    generation,
    rows,
    // Asked when it is written: a request may end meanwhile.
    cursor: () => cursorOf({ ...queue, batch: null }),
    health: () => queue.health,
  })
  return isWritten ? { isOver: false, disabled: null, retryAt: undefined } : null
}

async function settleAlone(deps: PumpDeps, queue: Queue, batch: Batch): Promise<Settled> {
  const keyring = await deps.vault.keyring(queue.lease.workspaceId)
  return deps.db.tx((tx) => deps.step('write', () => writeBatch(tx, deps, queue, keyring, batch)))
}

function takeBatch({ lanes, results }: Queue): Batch | null {
  if (results.length === 0) return null
  const batch: Batch = { results: results.splice(0, maxResults), parked: [] }
  for (const { delivery, verdict } of batch.results) {
    if (verdict.next !== 'retry') continue
    const { dueAt } = verdict
    batch.parked.push(...lanes.cut(delivery).map((follower) => ({ delivery: follower, dueAt })))
  }
  return batch
}

async function writeBatch(
  tx: Tx,
  { clock, step }: PumpDeps,
  queue: Queue,
  keyring: Keyring,
  { results, parked }: Batch,
): Promise<Settled> {
  const { lease, generation } = queue
  const now = clock.now()
  const rows = [
    ...results.map((result) => attemptedRow(keyring, lease.endpointId, result)),
    ...parked.filter(({ delivery }) => !delivery.hasRow).map(({ delivery, dueAt }) => waitingRow(delivery, dueAt)),
  ]
  const failed = results
    .filter(({ verdict }) => verdict.next !== 'delivered')
    .map((result) => failedAttemptRow(keyring, lease.endpointId, result))
  // In one go, and started in this order: whatever comes after a lock that is not had is rolled back.
  const [currentGeneration, , saved] = await step('save', () =>
    Promise.all([
      lockQueue(tx, lease),
      commitQuickly(tx),
      saveDeliveries(tx, lease, generation, rows),
      failed.length > 0 ? insertAttempts(tx, lease, failed) : null,
      saveQueue(tx, lease, generation, cursorOf({ ...queue, batch: null }), queue.health),
    ]),
  )
  if (currentGeneration !== generation) return { isOver: true, disabled: null, retryAt: undefined }
  const earlier = rows.filter(({ position }) => !saved.has(position))
  if (earlier.length > 0) await keepEarlierAttempts(tx, lease, earlier)
  const isTouched = (await moveFollowers(tx, queue, results, now)) || earlier.length > 0
  const disabled = reasonToDisable(queue, results, now)
  if (disabled !== null) {
    await disableEndpoint(tx, queue.endpoint, disabled, { type: 'system', id: null }, now)
    return { isOver: true, disabled, retryAt: undefined }
  }
  const retryAt = isTouched ? await noteNextDue(tx, lease, generation, heldPositions(queue)) : undefined
  return { isOver: false, disabled, retryAt }
}

// A crash of the database may lose the last of these commits: then the requests go out again, as after any crash. The
// cursor and the rows are lost together.
async function commitQuickly(tx: Tx): Promise<void> {
  await tx`set local synchronous_commit = off`.execute()
}

/** Returns whether any row was or is waiting. */
async function moveFollowers(tx: Tx, queue: Queue, results: Batch['results'], now: Date): Promise<boolean> {
  const { lease, generation } = queue
  const heads = results.flatMap(({ delivery: { subjectId, position }, verdict }) =>
    verdict.next === 'retry' ? [{ subjectId, position, dueAt: verdict.dueAt }] : [],
  )
  const done = results.filter(({ delivery, verdict }) => delivery.hasRow && verdict.next !== 'retry')
  if (heads.length > 0) await delayFollowers(tx, lease, generation, heads)
  if (done.length > 0) {
    const subjectIds = done.map(({ delivery }) => delivery.subjectId)
    await releaseFollowers(tx, lease, generation, subjectIds, now)
  }
  return heads.length + done.length > 0
}

function reasonToDisable({ health }: Queue, results: Batch['results'], now: Date): StateReason | null {
  if (results.some(({ verdict }) => verdict.next === 'gone')) return 'gone'
  return isHopeless(health, now) ? 'failing' : null
}

async function insertAttempts(tx: Tx, { workspaceId, endpointId }: Lease, rows: readonly AttemptRow[]): Promise<void> {
  await tx`
    insert into webhook_attempts (workspace_id, endpoint_id, position, number, at, status, ms, error, answer)
    select ${workspaceId}::uuid, ${endpointId}::uuid, a.*
    from unnest(
      ${rows.map((row) => row.position)}::bigint[],
      ${rows.map((row) => row.number)}::integer[],
      ${timestampArray(rows.map((row) => row.at))}::timestamptz[],
      ${rows.map((row) => row.status)}::smallint[],
      ${rows.map((row) => row.ms)}::integer[],
      ${rows.map((row) => row.error)}::text[],
      ${byteaArray(rows.map((row) => row.answer))}::bytea[]
    ) as a
    on conflict do nothing`.execute()
}

/**
 * Keeps attempts that ended after their event was asked for again: they stay in the log and count among all attempts,
 * and decide nothing of the new round. `rows` is what they would have written.
 */
async function keepEarlierAttempts(tx: Tx, lease: Lease, rows: readonly DeliveryRow[]): Promise<void> {
  const taken = rows.flatMap((row): AttemptRow[] => {
    const { position, attempts: number, deliveredAt: at, deliveredMs: ms } = row
    if (at === null || ms === null) return []
    return [{ position, number, at, ms, status: row.deliveredStatus, error: null, answer: row.deliveredAnswer }]
  })
  if (taken.length > 0) await insertAttempts(tx, lease, taken)
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

/** Logs and counts what was written. */
function reportSettled(
  { log, observe }: { log: Log; observe: WebhookObserver },
  endpointId: string,
  { results }: Batch,
  disabled: StateReason | null,
): void {
  for (const result of results) {
    const { delivery, attempt, verdict } = result
    const fields = { endpointId, eventId: delivery.eventId, attempt: delivery.attempts + 1, ms: attempt.ms }
    const status = attempt.status === null ? {} : { status: attempt.status }
    if (verdict.next === 'delivered') {
      observe.delivered({ ms: attempt.ms, delayMs: delayOf(result) })
      log.debug('webhook delivered', { ...fields, ...status })
    } else {
      observe.failed({ ms: attempt.ms, error: attempt.error, isFinal: verdict.next !== 'retry' })
      const code = attempt.error === null ? {} : { code: attempt.error }
      log.info('webhook not taken', { ...fields, ...status, ...code })
    }
  }
  if (disabled === null) return
  observe.disabled()
  log.warn('webhook endpoint disabled', { endpointId, code: disabled })
}

function delayOf({ delivery, attempt }: Result): number | null {
  return delivery.attempts === 0 ? attempt.at.getTime() - delivery.occurredAt.getTime() : null
}

const maxQueues = 100

/** Writes the successes of all queues of a process: what ends while a statement runs goes together in the next. */
export function createSuccessBatcher(db: Db): PumpDeps['saveSuccesses'] {
  const save = batch<QueuedSuccesses, boolean>({
    groups: 1,
    groupSize: maxQueues,
    work: (_, successes) => writeTogether(db, successes),
    // Each queue tries again by itself.
    isUndone: () => false,
  })
  return (successes) => save('all queues', successes)
}

async function writeTogether(db: Db, successes: readonly QueuedSuccesses[]): Promise<boolean[]> {
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
