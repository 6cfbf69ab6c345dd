import { claimFirst, maxCandidates } from '../../base/citus/distributed-sql.ts'
import type { Clock } from '../../base/clock.ts'
import type { Db, Fragment, Sql, Tx } from '../../base/db.ts'
import { type ApiError, conflict, notFound } from '../../base/errors.ts'
import { type DueWatch, watchDueWork } from '../../base/pubsub.ts'
import {
  bulkChangeUpdates,
  importUpdates,
  liveUpdatesTopic,
  publishBulkChange,
  publishImport,
} from '../../team/live-updates.ts'
import type { BulkFields, BulkLabels, BulkSequence, BulkState } from './schema.ts'

export interface BulkChangeRow {
  workspace_id: string
  id: string
  kind: 'change' | 'delete' | 'import' | 'labels' | 'sequence'
  state: BulkState
  changes: (BulkFields & BulkLabels & Partial<BulkSequence>) | null
  filter: Buffer | null
  cursor: string | null
  actor_type: 'user' | 'token'
  actor_id: string
  undo_actor_type: 'user' | 'token' | null
  undo_actor_id: string | null
  total: number
  changed: number
  unchanged: number
  failed: number
  undone: number
  kept: number
  position: string | null
  due_at: Date | null
  attempts: number
  created_at: Date
  ended_at: Date | null
  undo_until: Date | null
}

const bulkChangeNotFound = (): ApiError => notFound('Bulk change not found')

export async function findBulkChange(sql: Sql, workspaceId: string, id: string): Promise<BulkChangeRow> {
  const [row] = await sql<BulkChangeRow[]>`
    select *
    from lead_bulk_changes
    where workspace_id = ${workspaceId}
      and id = ${id}`
  if (row === undefined) throw bulkChangeNotFound()
  return row
}

/** Locks a bulk change of an import or of a selection: the two require different permissions. */
export async function lockBulkChange(
  tx: Tx,
  workspaceId: string,
  id: string,
  of: 'import' | 'selection',
): Promise<BulkChangeRow> {
  const [row] = await tx<BulkChangeRow[]>`
    select *
    from lead_bulk_changes
    where workspace_id = ${workspaceId}
      and id = ${id}
      and (kind = 'import') = ${of === 'import'}
    for update`
  if (row !== undefined) return row
  throw of === 'import' ? conflict('Nothing to undo: the import has not changed any leads') : bulkChangeNotFound()
}

const maxListed = 50

/** Returns the newest 50 bulk changes, without those of imports. */
export async function listBulkChanges(sql: Sql, workspaceId: string): Promise<BulkChangeRow[]> {
  return sql<BulkChangeRow[]>`
    select *
    from lead_bulk_changes
    where workspace_id = ${workspaceId}
      and kind <> 'import'
    order by id desc
    limit ${maxListed}`
}

/** Lease of a worker; another node takes over after this long without progress. */
const leaseMs = 10_000

export const leaseEnd = (now: Date): Date => new Date(now.getTime() + leaseMs)

const undoMs = 86_400_000

export const undoEnd = (now: Date): Date => new Date(now.getTime() + undoMs)

/** Shorter than the lease, so that an expired lease is noticed soon. */
export const pollEveryMs = 5_000

/** Watches for bulk changes that `claimBulkChange` can claim. */
export function watchBulkChanges({ db, clock }: { db: Db; clock: Clock }): DueWatch {
  const nextAt = async () => {
    const [row] = await db.sql<{ at: Date | null }[]>`
      select min(due_at) as at
      from lead_bulk_changes`
    return row?.at ?? null
  }
  const isRelevant = (id: string) => bulkChangeUpdates(id) || importUpdates(id)
  return watchDueWork({ db, clock }, { nextAt, pollEveryMs, watchedTopics: [{ topic: liveUpdatesTopic, isRelevant }] })
}

/** Claims a bulk change that is due or whose lease expired; other nodes cannot claim it until the new lease ends. */
export async function claimBulkChange(db: Db, now: Date): Promise<BulkChangeRow | undefined> {
  const due = await db.sql<{ workspaceId: string }[]>`
    select workspace_id as "workspaceId"
    from lead_bulk_changes
    where due_at <= ${now}
    order by due_at
    limit ${maxCandidates}`
  return claimFirst(due, (workspaceId) => db.statement((tx) => claimIn(tx, workspaceId, now)))
}

async function claimIn(tx: Tx, workspaceId: string, now: Date): Promise<BulkChangeRow | undefined> {
  const [row] = await tx<BulkChangeRow[]>`
    with due as (
      select id
      from lead_bulk_changes
      where workspace_id = ${workspaceId}
        and due_at <= ${now}
      order by due_at
      limit 1
      for update skip locked
    )
    update lead_bulk_changes c
    set due_at = ${leaseEnd(now)},
      attempts = c.attempts + 1
    from due
    where c.workspace_id = ${workspaceId}
      and c.id = due.id
    returning c.*`
  return row
}

/** Counts of a finished batch. */
export interface BulkProgress {
  /** Id of the last lead of the batch. */
  position: string
  changed?: number
  unchanged?: number
  failed?: number
  undone?: number
  kept?: number
}

/** Updates the row if it is unchanged; null if the change was stopped, or another worker has done the batch. */
export async function updateIfUnchanged(tx: Tx, row: BulkChangeRow, changes: Fragment, condition: Fragment) {
  const [updated] = await tx<BulkChangeRow[]>`
    update lead_bulk_changes
    set ${changes}
    where workspace_id = ${row.workspace_id}
      and id = ${row.id}
      and state = ${row.state}
      and ${condition}
    returning *`
  if (updated !== undefined) publishProgress(tx, row)
  return updated ?? null
}

const isAtPosition = (tx: Tx, { position }: BulkChangeRow) => tx`position is not distinct from ${position}::uuid`

/** Records the progress of a batch and renews the lease. */
export function advanceBulkChange(
  tx: Tx,
  row: BulkChangeRow,
  { position, changed = 0, unchanged = 0, failed = 0, undone = 0, kept = 0 }: BulkProgress,
  now: Date,
): Promise<BulkChangeRow | null> {
  const changes = tx`
    position = ${position},
    changed = changed + ${changed},
    unchanged = unchanged + ${unchanged},
    failed = failed + ${failed},
    undone = undone + ${undone},
    kept = kept + ${kept},
    due_at = ${leaseEnd(now)},
    attempts = 0`
  return updateIfUnchanged(tx, row, changes, isAtPosition(tx, row))
}

/** Releases a bulk change when its worker stops, so that another need not wait for the lease to expire. */
export const releaseBulkChange = (tx: Tx, row: BulkChangeRow, now: Date) =>
  updateIfUnchanged(tx, row, tx`due_at = ${now}`, isAtPosition(tx, row))

/** Publishes an update for open pages: of the import, if the change belongs to one. */
export function publishProgress(tx: Tx, { kind, workspace_id, id }: BulkChangeRow): void {
  if (kind === 'import') publishImport(tx, workspace_id, id)
  else publishBulkChange(tx, workspace_id, id)
}

/** Ends the bulk change; false if it had already ended. */
export async function endBulkChange(
  tx: Tx,
  row: BulkChangeRow,
  state: 'done' | 'cancelled' | 'failed' | 'undone',
  now: Date,
): Promise<boolean> {
  const changes = tx`
    state = ${state},
    due_at = null,
    position = null,
    filter = null,
    cursor = null,
    ended_at = ${now},
    undo_until = ${state === 'undone' ? now : undoEnd(now)}`
  return (await updateIfUnchanged(tx, row, changes, tx`true`)) !== null
}

/** Returns until when it can be undone; null if it cannot. */
export function undoUntilOf({ state, undo_until }: BulkChangeRow, now: Date): string | null {
  const cannotBeUndone = state !== 'done' && state !== 'cancelled' && state !== 'failed'
  return cannotBeUndone || undo_until === null || undo_until <= now ? null : undo_until.toISOString()
}
