import { type Loop, type Repeat, repeatAfterPause } from '../../base/async/loop.ts'
import type { Tx } from '../../base/db.ts'
import type { Keyring } from '../../base/encryption/keyring.ts'
import { plainLeadSettings } from '../../base/lead-settings.ts'
import type { Log } from '../../base/log.ts'
import type { DueWatch } from '../../base/pubsub.ts'
import { recordAudit } from '../../team/audit.ts'
import type { TeamActor } from '../../team/member.ts'
import { readLeadPatch } from '../lead/input.ts'
import type { LeadDeps, LeadUser } from '../lead/lead.ts'
import type { ListDeps } from '../search/list.ts'
import { removeLeads } from '../write/update.ts'
import { upsertLeads } from '../write/upsert.ts'
import type { UpsertOutcome } from '../write/upsert-plan.ts'
import type { Advance, BulkChangeRow, BulkProgress } from './bulk-changes.ts'
import {
  advanceBulkChange,
  claimBulkChange,
  endBulkChange,
  letGoOfBulkChange,
  watchBulkChanges,
} from './bulk-changes.ts'
import { type BulkItem, collectPage, formerValues, nextItems, putItems } from './items.ts'
import { labelBatch, undoBatch, undoLabels } from './undo.ts'

export interface BulkDeps extends ListDeps {
  log: Log
}

/** Thrown when the bulk change was stopped, or another worker has done the batch. */
class NotOurs extends Error {}

function ours(row: BulkChangeRow | null): BulkChangeRow {
  if (row === null) throw new NotOurs()
  return row
}

/** Number of leads per transaction. */
export const batchLeads = 500
const maxAttempts = 10

const lookEveryMs = 1_000

/** Runs bulk changes started on any node. */
export const startBulkChanges = ({ repeat, ...deps }: BulkDeps & { repeat?: Repeat }): Loop =>
  startWork(watchBulkChanges(deps), (signal) => runBulkChanges(deps, signal), {
    repeat,
    onError: (error) => deps.log.warn('failed to poll for bulk changes; retrying', {}, error),
  })

/** Runs work whenever it is due, one item at a time. `stop` lets the current batch finish. */
export function startWork(
  watch: DueWatch,
  work: (signal: AbortSignal) => Promise<number>,
  { repeat = repeatAfterPause, onError }: { repeat: Repeat | undefined; onError: (error: unknown) => void },
): Loop {
  const stopping = new AbortController()
  const loop = repeat(lookEveryMs, async () => (await watch.isDue()) && work(stopping.signal), onError)
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
    await deps.db.inBulk(() => workOn(deps, row, signal))
  }
}

/** Processes a claimed bulk change, one batch per transaction, so that any node can resume after any batch. */
export async function workOn(deps: BulkDeps, row: BulkChangeRow, signal: AbortSignal): Promise<void> {
  const workspaceId = row.workspace_id
  try {
    if (row.attempts > maxAttempts) return await end(deps, row, 'failed')
    let state = row
    for (;;) {
      const next = await doBatch(deps, state)
      if (next === null) return await end(deps, state, state.state === 'undoing' ? 'undone' : 'done')
      if (signal.aborted) return void (await deps.db.tx((tx) => letGoOfBulkChange(tx, next, deps.clock.now())))
      state = next
    }
  } catch (error) {
    if (error instanceof NotOurs) return
    // The lease expires, and then any node resumes after the last completed batch.
    deps.log.warn('bulk change interrupted; resuming later', { workspaceId, attempt: row.attempts }, error)
  }
}

/** Runs the next batch and returns the updated row; null if none is left. */
async function doBatch(deps: BulkDeps, row: BulkChangeRow): Promise<BulkChangeRow | null> {
  const { workspace_id: workspaceId, id } = row
  if (row.state === 'collecting') return ours(await collectPage(deps, userOf(row), row))
  const items = await nextItems(deps.db.sql, workspaceId, id, row.position, batchLeads)
  const position = items.at(-1)?.lead_id
  if (position === undefined) return null
  const ids = items.map(({ lead_id }) => lead_id)
  const user = userOf(row)
  const keyring = await deps.keyStore.keyring(workspaceId)
  let next: BulkChangeRow | null = null
  const advance = async (tx: Tx, progress: Omit<BulkProgress, 'position'>) => {
    next = ours(await advanceBulkChange(tx, row, { position, ...progress }, deps.clock.now()))
  }
  if (row.kind === 'labels')
    await (row.state === 'undoing'
      ? undoLabels(deps, user, row, items, advance)
      : labelBatch(deps, user, row, ids, advance))
  else if (row.state === 'undoing') await undoBatch(deps, user, row, items, advance)
  else if (row.kind === 'delete') await deleteBatch(deps, keyring, user, id, ids, advance)
  else await changeBatch(deps, keyring, user, row, ids, advance)
  return next
}

async function changeBatch(
  deps: BulkDeps,
  keyring: Keyring,
  user: LeadUser,
  { id, changes }: BulkChangeRow,
  ids: readonly string[],
  advance: Advance,
): Promise<void> {
  const at = 'changes'
  // Fields that can be changed in bulk have no rules beyond their schema and workspace membership.
  const { patch } = readLeadPatch(changes ?? {}, [], { ...user, at })
  const wanted = ids.map((value) => ({ by: 'id', value, patch, createIfMissing: false, at }) as const)
  await upsertLeads(deps, user, wanted, {
    continueOnError: true,
    dryRun: false,
    alongside: async (tx, outcomes) => {
      const items = outcomes.map((outcome, n) => itemOf(ids[n] ?? '', outcome))
      await putItems(tx, keyring, user.workspaceId, id, items)
      const count = (is: BulkItem['outcome']) => items.filter(({ outcome }) => outcome === is).length
      await advance(tx, { changed: count('changed'), unchanged: count('unchanged'), failed: count('failed') })
    },
  })
}

/** Returns the record of an outcome, from which it can be undone. */
export function itemOf(id: string, outcome: UpsertOutcome): BulkItem {
  if (outcome.action === 'failed') return { leadId: id, outcome: 'failed', before: null, leftAt: null }
  const { lead } = outcome
  const leftAt = lead.updatedAt
  if (outcome.action === 'created') return { leadId: lead.id, outcome: 'created', before: null, leftAt }
  if (outcome.before === lead) return { leadId: lead.id, outcome: 'unchanged', before: null, leftAt: null }
  return { leadId: lead.id, outcome: 'changed', before: formerValues(outcome.before, lead), leftAt }
}

async function deleteBatch(
  deps: BulkDeps,
  keyring: Keyring,
  user: LeadUser,
  changeId: string,
  ids: readonly string[],
  advance: Advance,
): Promise<void> {
  await removeLeads(deps, user, ids, async (tx, removed, deletedAt) => {
    const items = ids.map((leadId): BulkItem => {
      const isGone = removed.has(leadId)
      return { leadId, outcome: isGone ? 'deleted' : 'failed', before: null, leftAt: isGone ? deletedAt : null }
    })
    await putItems(tx, keyring, user.workspaceId, changeId, items)
    await advance(tx, { changed: removed.size, failed: ids.length - removed.size })
  })
}

const userOf = (row: BulkChangeRow): LeadUser => ({
  ...plainLeadSettings,
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
async function end({ db, clock }: LeadDeps, row: BulkChangeRow, state: 'done' | 'failed' | 'undone'): Promise<void> {
  await db.tx(async (tx) => {
    const now = clock.now()
    if (!(await endBulkChange(tx, row, state, now))) return
    const target = `${row.kind === 'import' ? 'import' : 'bulk_change'}:${row.id}`
    const told = { action: actionOf(row, state), target: `${target} ${toldOf(row)}` }
    await recordAudit(tx, { scopeId: row.workspace_id, actor: actorOf(row), ...told }, now)
  })
}

function actionOf({ kind, state: before }: BulkChangeRow, state: 'done' | 'failed' | 'undone'): string {
  if (before === 'undoing') return state === 'undone' ? 'leads.undo_done' : 'leads.undo_failed'
  if (state === 'failed') return 'leads.bulk_failed'
  return kind === 'delete' ? 'leads.bulk_deleted' : 'leads.bulk_changed'
}

function toldOf({ kind, state, changes, changed, undone, kept }: BulkChangeRow): string {
  if (state === 'undoing') return `leads:${undone} left:${kept}`
  if (kind === 'labels') return `labels leads:${changed}`
  return changes === null ? `leads:${changed}` : `${Object.keys(changes).join(',')} leads:${changed}`
}
