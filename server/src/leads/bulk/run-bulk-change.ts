import { type Loop, type Repeat, repeatAfterPause } from '../../base/async/loop.ts'
import { defaultLeadSettings } from '../../base/lead-settings.ts'
import type { Log } from '../../base/log.ts'
import type { DueWatch } from '../../base/pubsub.ts'
import { recordAudit } from '../../team/audit.ts'
import type { TeamActor } from '../../team/member.ts'
import { parseLeadPatch } from '../lead/input.ts'
import type { LeadDeps, LeadUser } from '../lead/lead.ts'
import type { ListDeps } from '../search/list.ts'
import { deleteLeads } from '../write/update.ts'
import { upsertLeads } from '../write/upsert.ts'
import type { UpsertOutcome } from '../write/upsert-plan.ts'
import type { BulkChangeRow } from './bulk-changes.ts'
import {
  advanceBulkChange,
  claimBulkChange,
  endBulkChange,
  releaseBulkChange,
  watchBulkChanges,
} from './bulk-changes.ts'
import { type BulkBatch, type BulkItem, collectPage, formerValues, nextItems, recordBatch } from './items.ts'
import { labelBatch, sequenceBatch, undoBatch, undoDeletion, undoLabels, undoSequence } from './undo.ts'

export interface BulkDeps extends ListDeps {
  log: Log
}

/** Thrown when the work was stopped, or another worker has done the batch. */
export class LeaseLostError extends Error {}

function requireLease(row: BulkChangeRow | null): BulkChangeRow {
  if (row === null) throw new LeaseLostError()
  return row
}

export const maxAttempts = 10

const pollIntervalMs = 1_000

/** Runs bulk changes started on any node. */
export const startBulkChanges = ({ repeat, ...deps }: BulkDeps & { repeat?: Repeat }): Loop =>
  startPolling(watchBulkChanges(deps), (signal) => runBulkChanges(deps, signal), {
    repeat,
    onError: (error) => deps.log.warn('failed to poll for bulk changes; retrying', {}, error),
  })

/** Runs work whenever it is due, one item at a time. `stop` lets the current batch finish. */
export function startPolling(
  watch: DueWatch,
  work: (signal: AbortSignal) => Promise<number>,
  { repeat = repeatAfterPause, onError }: { repeat: Repeat | undefined; onError: (error: unknown) => void },
): Loop {
  const stopping = new AbortController()
  const loop = repeat(pollIntervalMs, async () => (await watch.isDue()) && work(stopping.signal), onError)
  return {
    stop: () => {
      stopping.abort()
      return loop.stop()
    },
  }
}

/** Runs every due bulk change until `signal` aborts. Returns the number of claimed changes. */
export async function runBulkChanges(deps: BulkDeps, signal: AbortSignal): Promise<number> {
  for (let count = 0; ; count++) {
    if (signal.aborted) return count
    const row = await claimBulkChange(deps.db, deps.clock.now())
    if (row === undefined) return count
    await deps.db.inBulk(() => processBulkChange(deps, row, signal))
  }
}

/** Processes a claimed bulk change, one batch per transaction, so that any node can resume after any batch. */
export async function processBulkChange(deps: BulkDeps, row: BulkChangeRow, signal: AbortSignal): Promise<void> {
  const workspaceId = row.workspace_id
  try {
    if (row.attempts > maxAttempts) return await endWithAudit(deps, row, 'failed')
    let state = row
    for (;;) {
      const next = await runBatch(deps, state)
      if (next === null) return await endWithAudit(deps, state, state.state === 'undoing' ? 'undone' : 'done')
      if (signal.aborted) return void (await deps.db.tx((tx) => releaseBulkChange(tx, next, deps.clock.now())))
      state = next
    }
  } catch (error) {
    if (error instanceof LeaseLostError) return
    // The lease expires, and then any node resumes after the last completed batch.
    deps.log.warn('bulk change interrupted; resuming later', { workspaceId, attempt: row.attempts }, error)
  }
}

/** Runs the next batch and returns the updated row; null if none is left. */
async function runBatch(deps: BulkDeps, row: BulkChangeRow): Promise<BulkChangeRow | null> {
  const user = userOf(row)
  if (row.state === 'collecting') return requireLease(await collectPage(deps, user, row))
  const items = await nextItems(deps.db.sql, row)
  const position = items.at(-1)?.lead_id
  if (position === undefined) return null
  const ids = items.map(({ lead_id }) => lead_id)
  const keyring = await deps.keyStore.keyring(row.workspace_id)
  let next: BulkChangeRow | null = null
  const advance: BulkBatch['advance'] = async (tx, progress) => {
    next = requireLease(await advanceBulkChange(tx, row, { position, ...progress }, deps.clock.now()))
  }
  const { run, undo } = batchesOf[row.kind]
  await (row.state === 'undoing' ? undo : run)({ deps, keyring, user, row, items, ids, advance })
  return next
}

type RunBatch = (batch: BulkBatch) => Promise<void>

const batchesOf: Record<BulkChangeRow['kind'], { run: RunBatch; undo: RunBatch }> = {
  change: { run: changeBatch, undo: undoBatch },
  import: { run: changeBatch, undo: undoBatch },
  delete: { run: deleteBatch, undo: undoDeletion },
  labels: { run: labelBatch, undo: undoLabels },
  sequence: { run: sequenceBatch, undo: undoSequence },
}

async function changeBatch(batch: BulkBatch): Promise<void> {
  const { deps, user, row, ids } = batch
  const at = 'changes'
  // Fields that can be changed in bulk have no rules beyond their schema and workspace membership.
  const { patch } = parseLeadPatch(row.changes ?? {}, [], { ...user, at })
  const upserts = ids.map((value) => ({ by: 'id', value, patch, createIfMissing: false, at }) as const)
  await upsertLeads(deps, user, upserts, {
    continueOnError: true,
    dryRun: false,
    inTransaction: (tx, outcomes) => {
      const items = outcomes.map((outcome, n) => toBulkItem(ids[n] ?? '', outcome))
      return recordBatch(tx, batch, items)
    },
  })
}

/** Returns the record of an outcome, from which it can be undone. */
export function toBulkItem(id: string, outcome: UpsertOutcome): BulkItem {
  if (outcome.action === 'failed') return { leadId: id, outcome: 'failed', before: null, leftAt: null }
  const { lead } = outcome
  const leftAt = lead.updatedAt
  if (outcome.action === 'created') return { leadId: lead.id, outcome: 'created', before: null, leftAt }
  if (outcome.before === lead) return { leadId: lead.id, outcome: 'unchanged', before: null, leftAt: null }
  return { leadId: lead.id, outcome: 'changed', before: formerValues(outcome.before, lead), leftAt }
}

async function deleteBatch(batch: BulkBatch): Promise<void> {
  const { deps, user, ids } = batch
  await deleteLeads(deps, user, ids, (tx, removed, deletedAt) => {
    const items = ids.map((leadId): BulkItem => {
      const isDeleted = removed.has(leadId)
      return { leadId, outcome: isDeleted ? 'deleted' : 'failed', before: null, leftAt: isDeleted ? deletedAt : null }
    })
    return recordBatch(tx, batch, items)
  })
}

const userOf = (row: BulkChangeRow): LeadUser => ({
  ...defaultLeadSettings,
  workspaceId: row.workspace_id,
  masked: false,
  actor: actorOf(row),
  partOf: `${row.state === 'undoing' ? 'undo' : 'bulk'}:${row.id}`,
})

/** Returns who made the change, or who undoes it. */
const actorOf = ({ state, actor_type, actor_id, undo_actor_type, undo_actor_id }: BulkChangeRow): TeamActor =>
  state === 'undoing' && undo_actor_type !== null && undo_actor_id !== null
    ? { type: undo_actor_type, id: undo_actor_id }
    : { type: actor_type, id: actor_id }

/** Ends the bulk change and records the result in the audit log. */
async function endWithAudit({ db, clock }: LeadDeps, row: BulkChangeRow, state: 'done' | 'failed' | 'undone') {
  await db.tx(async (tx) => {
    const now = clock.now()
    if (!(await endBulkChange(tx, row, state, now))) return
    const target = `${row.kind === 'import' ? 'import' : 'bulk_change'}:${row.id}`
    const auditEntry = { action: auditAction(row, state), target: `${target} ${auditDetails(row)}` }
    await recordAudit(tx, { scopeId: row.workspace_id, actor: actorOf(row), ...auditEntry }, now)
  })
}

function auditAction({ kind, state: before }: BulkChangeRow, state: 'done' | 'failed' | 'undone'): string {
  if (before === 'undoing') return state === 'undone' ? 'leads.undo_done' : 'leads.undo_failed'
  if (state === 'failed') return 'leads.bulk_failed'
  return kind === 'delete' ? 'leads.bulk_deleted' : 'leads.bulk_changed'
}

function auditDetails({ kind, state, changes, changed, undone, kept }: BulkChangeRow): string {
  if (state === 'undoing') return `leads:${undone} left:${kept}`
  if (kind === 'labels' || kind === 'sequence') return `${kind} leads:${changed}`
  return changes === null ? `leads:${changed}` : `${Object.keys(changes).join(',')} leads:${changed}`
}
