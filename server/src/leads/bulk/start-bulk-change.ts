import type { Tx } from '../../base/db.ts'
import { conflict } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { recordAudit } from '../../team/audit.ts'
import { publishBulkChange } from '../../team/live-updates.ts'
import type { Member } from '../../team/member.ts'
import { lockWorkspace } from '../../workspaces/workspace.ts'
import type { LeadDeps } from '../lead/lead.ts'
import type { LeadFilter } from '../search/list-filter.ts'
import type { BulkChangeRow } from './bulk-changes.ts'
import { endBulkChange, findBulkChange, leaseEnd, lockBulkChange, publishProgress } from './bulk-changes.ts'
import { batchSize, encryptFilter, recordPending } from './items.ts'
import { type BulkDeps, processBulkChange } from './run-bulk-change.ts'
import type { BulkFields, BulkLabels, BulkSequence } from './schema.ts'

const maxOpenBulkChanges = 5

/** Change to apply to every lead of a selection: listed ids, or all leads that match a filter when it starts. */
export type BulkRequest = ({ ids: readonly string[] } | { filter: LeadFilter }) &
  ({ changes: BulkFields } | { labels: BulkLabels } | { sequence: BulkSequence } | { delete: true })

/** Starts a bulk change. One batch of listed leads is done before it returns; a worker starts on more within 1 s. */
export async function startBulkChange(deps: BulkDeps, by: Member, request: BulkRequest): Promise<BulkChangeRow> {
  const { workspaceId, actor } = by
  const now = deps.clock.now()
  const id = newId(now)
  const keyring = await deps.keyStore.keyring(workspaceId)
  const ids = 'ids' in request ? request.ids : []
  const filter = 'filter' in request ? encryptFilter(keyring, id, request.filter) : null
  const isOneBatch = filter === null && ids.length <= batchSize
  const { kind, changes } = workOf(request)
  const row = await deps.db.tx(async (tx) => {
    await checkOpenLimit(tx, workspaceId)
    await tx`
      insert into lead_bulk_changes (
        workspace_id, id, kind, state, changes, filter, actor_type, actor_id, total, due_at, created_at
      )
      values (
        ${workspaceId}, ${id}, ${kind}, ${filter === null ? 'running' : 'collecting'},
        ${changes === null ? null : JSON.stringify(changes)}::text::jsonb, ${filter}, ${actor.type}, ${actor.id},
        ${ids.length}, ${isOneBatch ? leaseEnd(now) : now}, ${now}
      )`
    await recordPending(tx, { workspace_id: workspaceId, id }, ids)
    publishBulkChange(tx, workspaceId, id)
    return findBulkChange(tx, workspaceId, id)
  })
  return isOneBatch ? runNow(deps, row) : row
}

function workOf(request: BulkRequest): Pick<BulkChangeRow, 'kind' | 'changes'> {
  if ('delete' in request) return { kind: 'delete', changes: null }
  if ('labels' in request) return { kind: 'labels', changes: request.labels }
  if ('sequence' in request) return { kind: 'sequence', changes: request.sequence }
  return { kind: 'change', changes: request.changes }
}

async function runNow(deps: BulkDeps, row: BulkChangeRow): Promise<BulkChangeRow> {
  await deps.db.inBulk(() => processBulkChange(deps, row, new AbortController().signal))
  return findBulkChange(deps.db.sql, row.workspace_id, row.id)
}

async function checkOpenLimit(tx: Tx, workspaceId: string): Promise<void> {
  await lockWorkspace(tx, workspaceId)
  const [row] = await tx<{ open: number }[]>`
    select count(*)::integer as open
    from lead_bulk_changes
    where workspace_id = ${workspaceId}
      and due_at is not null`
  if ((row?.open ?? 0) < maxOpenBulkChanges) return
  throw conflict(`${maxOpenBulkChanges} bulk changes are already running; wait for one to finish, or cancel one`)
}

/** Cancels a bulk change. Leads already changed stay changed and can be undone. */
export async function cancelBulkChange({ db, clock }: LeadDeps, by: Member, id: string): Promise<BulkChangeRow> {
  const { workspaceId, actor } = by
  return db.tx(async (tx) => {
    const row = await lockBulkChange(tx, workspaceId, id, 'selection')
    if (row.state !== 'running' && row.state !== 'collecting')
      throw conflict(`Cannot cancel: the state is ${row.state}`)
    const now = clock.now()
    await endBulkChange(tx, row, 'cancelled', now)
    const target = `bulk_change:${id} leads:${row.changed}`
    await recordAudit(tx, { scopeId: workspaceId, actor, action: 'leads.bulk_cancelled', target }, now)
    return findBulkChange(tx, workspaceId, id)
  })
}

const undoable: readonly BulkChangeRow['state'][] = ['done', 'cancelled', 'failed']

/** Starts to restore the former values of leads; leads changed since are left as they are. */
export async function undoBulkChange(
  deps: BulkDeps,
  { workspaceId, actor }: Member,
  id: string,
  of: 'import' | 'selection',
): Promise<BulkChangeRow> {
  const started = await deps.db.tx(async (tx) => {
    const row = await lockBulkChange(tx, workspaceId, id, of)
    const now = deps.clock.now()
    if (!undoable.includes(row.state)) throw conflict(`Cannot undo: the state is ${row.state}`)
    if (row.undo_until === null || row.undo_until <= now) {
      throw conflict('Undo expired after 24 hours')
    }
    await tx`
      update lead_bulk_changes
      set state = 'undoing',
        undo_actor_type = ${actor.type},
        undo_actor_id = ${actor.id},
        position = null,
        undone = 0,
        kept = 0,
        attempts = 0,
        due_at = ${row.total <= batchSize ? leaseEnd(now) : now}
      where workspace_id = ${workspaceId}
        and id = ${id}`
    const target = `${row.kind === 'import' ? 'import' : 'bulk_change'}:${id}`
    await recordAudit(tx, { scopeId: workspaceId, actor, action: 'leads.undo_started', target }, now)
    publishProgress(tx, row)
    return findBulkChange(tx, workspaceId, id)
  })
  return started.total <= batchSize ? runNow(deps, started) : started
}
