import type { Sql, Tx } from '../../../base/db.ts'
import type { Keyring } from '../../../base/encryption/keyring.ts'
import { type BulkChangeRow, undoEnd } from '../../bulk/bulk-changes.ts'
import { type BulkItem, decryptFormerValues, type ItemRow, recordItems } from '../../bulk/items.ts'
import { toBulkItem } from '../../bulk/run-bulk-change.ts'
import type { UpsertOutcome } from '../../write/upsert-plan.ts'
import type { ImportRow } from './imports.ts'

/** Creates the bulk change that records the leads of an import, for lookups and undo. */
export async function trackImport(tx: Tx, row: ImportRow, now: Date): Promise<void> {
  await tx`
    insert into lead_bulk_changes (workspace_id, id, kind, state, actor_type, actor_id, created_at)
    select i.workspace_id, i.id, 'import', 'running', ${row.actor_type}, ${row.actor_id}::uuid, ${now}::timestamptz
    from lead_imports i
    where i.workspace_id = ${row.workspace_id}
      and i.id = ${row.id}
      and i.state = 'running'
    for share
    on conflict do nothing`
}

/** Records the outcomes of a batch, in its transaction. */
export async function recordBatch(
  tx: Tx,
  keyring: Keyring,
  row: ImportRow,
  outcomes: readonly UpsertOutcome[],
): Promise<void> {
  const items = new Map<string, BulkItem>()
  const touched = outcomes.flatMap((outcome) => (outcome.action === 'failed' ? [] : [outcome]))
  const known = touched.flatMap(({ action, lead }) => (action === 'updated' ? [lead.id] : []))
  const recorded = await readRecorded(tx, keyring, row, known)
  for (const outcome of touched) {
    const item = toBulkItem(outcome.lead.id, outcome)
    const earlier = items.get(item.leadId) ?? recorded.get(item.leadId)
    const foundAt = outcome.action === 'updated' ? outcome.before.updatedAt : null
    items.set(item.leadId, earlier === undefined ? item : combineItems(earlier, item, foundAt))
  }
  await recordItems(tx, keyring, row, [...items.values()])
}

/** Combines two rows for one lead: keeps the values before the first, unless someone changed the lead in between. */
function combineItems(earlier: BulkItem, later: BulkItem, foundAt: Date | null): BulkItem {
  if (later.outcome === 'unchanged') return earlier
  if (earlier.outcome === 'unchanged') return later
  const isUntouched = earlier.leftAt?.getTime() === foundAt?.getTime()
  const before = earlier.outcome === 'created' ? null : { ...later.before, ...earlier.before }
  return { ...earlier, before, leftAt: isUntouched ? later.leftAt : null }
}

async function readRecorded(
  tx: Tx,
  keyring: Keyring,
  { workspace_id, id }: ImportRow,
  leadIds: string[],
): Promise<Map<string, BulkItem>> {
  if (leadIds.length === 0) return new Map()
  const rows = await tx<(ItemRow & Pick<BulkItem, 'outcome'>)[]>`
    select lead_id, outcome, before, left_at
    from lead_bulk_items
    where workspace_id = ${workspace_id}
      and change_id = ${id}
      and lead_id = any (${leadIds}::uuid[])`
  return new Map(
    rows.map(({ lead_id: leadId, outcome, before: ciphertext, left_at: leftAt }) => {
      const before = ciphertext === null ? null : decryptFormerValues(keyring, id, leadId, ciphertext)
      return [leadId, { leadId, outcome, before, leftAt }]
    }),
  )
}

/** Ends the record of the import; from now on it can be undone for a day. */
export async function endTracking(tx: Tx, workspaceId: string, importId: string, now: Date): Promise<void> {
  await tx`
    update lead_bulk_changes c
    set state = 'done',
      ended_at = ${now},
      undo_until = ${undoEnd(now)},
      total = (
        select count(*)
        from lead_bulk_items i
        where i.workspace_id = c.workspace_id
          and i.change_id = c.id
          and i.outcome in ('created', 'changed')
      )
    where c.workspace_id = ${workspaceId}
      and c.id = ${importId}
      and c.state = 'running'`
}

/** Returns the bulk changes of imports, by import id. */
export async function readTracked(
  sql: Sql,
  workspaceId: string,
  importIds: readonly string[],
): Promise<Map<string, BulkChangeRow>> {
  const rows = await sql<BulkChangeRow[]>`
    select *
    from lead_bulk_changes
    where workspace_id = ${workspaceId}
      and kind = 'import'
      and id = any (${[...importIds]}::uuid[])`
  return new Map(rows.map((row) => [row.id, row]))
}
