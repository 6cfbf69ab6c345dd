import { claimFirst, maxCandidates } from '../base/citus/distributed-sql.ts'
import type { Clock } from '../base/clock.ts'
import type { Db, Sql, Tx } from '../base/db.ts'
import { deletePieces } from './transfer/import/file-pieces.ts'

const importRetentionDays = 90
const batch = 500

/** Deletes imports that ended over 90 days ago and whose files are already deleted. Returns their number. */
export async function deleteOldImports(db: Db, now: Date): Promise<number> {
  const before = new Date(now.getTime() - importRetentionDays * 86_400_000)
  const old = await db.sql<{ workspace_id: string; id: string }[]>`
    select workspace_id, id
    from lead_imports
    where ${isOldImport(db.sql, before)}
    limit ${batch}`
  let deleted = 0
  for (const [workspaceId, rows] of Map.groupBy(old, (row) => row.workspace_id)) {
    const { count } = await db.statement(
      (tx) => tx`
        delete from lead_imports
        where workspace_id = ${workspaceId}
          and id = any (${rows.map(({ id }) => id)}::uuid[])
          and ${isOldImport(tx, before)}`,
    )
    deleted += count
  }
  return deleted
}

const isOldImport = (sql: Sql, before: Date) => sql`
  state in ('done', 'failed', 'cancelled')
    and expires_at is null
    and coalesce(ended_at, created_at) < ${before}`

/** Deletes the files of imports that ended or were abandoned a week ago. Returns the number of imports. */
export async function deleteExpiredImportFiles(db: Db, clock: Clock): Promise<number> {
  const now = clock.now()
  for (let count = 0; ; count++) {
    const old = await db.sql<{ workspaceId: string }[]>`
      select workspace_id as "workspaceId"
      from lead_imports
      where expires_at <= ${now}
      order by expires_at
      limit ${maxCandidates}`
    // One import per transaction, since a file can have 1 GiB.
    const deleted = await claimFirst(old, (workspaceId) => db.tx((tx) => deleteImportFiles(tx, workspaceId, now)))
    if (deleted === undefined) return count
  }
}

/** Returns true, or undefined if other processes have locked all due imports. */
async function deleteImportFiles(tx: Tx, workspaceId: string, now: Date): Promise<true | undefined> {
  const [row] = await tx<{ workspace_id: string; id: string }[]>`
    with old as (
      select id
      from lead_imports
      where workspace_id = ${workspaceId}
        and expires_at <= ${now}
      order by expires_at
      limit 1
      for update skip locked
    )
    update lead_imports i
    set expires_at = null,
      state = case when i.state in ('uploading', 'ready', 'checked') then 'cancelled' else i.state end
    from old
    where i.workspace_id = ${workspaceId}
      and i.id = old.id
    returning i.workspace_id, i.id`
  if (row === undefined) return undefined
  await deletePieces(tx, row.workspace_id, row.id, null)
  await tx`delete from lead_import_dry_names where workspace_id = ${row.workspace_id} and import_id = ${row.id}`
  return true
}

const bulkChangeRetentionDays = 90
const batchItems = 5_000

/**
 * Deletes former values once the undo period of one day has ended. Keeps the lead ids of an import until the import is
 * deleted; of a selection, only the counts remain. Returns the number of changes processed.
 */
export async function deleteExpiredFormerValues(db: Db, clock: Clock): Promise<number> {
  for (let count = 0; ; count++) {
    const [row] = await db.sql<BulkChangeKey[]>`
      select workspace_id, id, kind
      from lead_bulk_changes
      where undo_until <= ${clock.now()}
        and due_at is null
      order by undo_until
      limit 1`
    if (row === undefined) return count
    if (row.kind === 'import') await clearFormerValues(db, row)
    else await deleteItems(db, row)
    await db.sql`
      update lead_bulk_changes
      set undo_until = null
      where workspace_id = ${row.workspace_id}
        and id = ${row.id}`
  }
}

/** Deletes bulk changes that ended over 90 days ago, those of imports included. Returns their number. */
export async function deleteOldBulkChanges(db: Db, now: Date): Promise<number> {
  for (let count = 0; ; count++) {
    const [row] = await db.sql<BulkChangeKey[]>`
      select workspace_id, id, kind
      from lead_bulk_changes
      where undo_until is null
        and due_at is null
        and ended_at < ${now}::timestamptz - ${bulkChangeRetentionDays}::integer * interval '1 day'
      limit 1`
    if (row === undefined) return count
    await deleteItems(db, row)
    await db.sql`
      delete from lead_bulk_changes
      where workspace_id = ${row.workspace_id}
        and id = ${row.id}`
  }
}

interface BulkChangeKey {
  workspace_id: string
  id: string
  kind: string
}

/** Condition for the next batch of items of a change; limits the rows per statement. */
const nextItemBatch = (sql: Sql, { workspace_id: workspaceId, id }: BulkChangeKey, condition = sql`true`) => sql`
  change_id = ${id}
    and lead_id = any (array(
      select lead_id
      from lead_bulk_items
      where workspace_id = ${workspaceId}
        and change_id = ${id}
        and ${condition}
      order by lead_id
      limit ${batchItems}
    ))`

async function deleteItems({ sql }: Db, change: BulkChangeKey): Promise<void> {
  for (;;) {
    const dropped =
      await sql`delete from lead_bulk_items where workspace_id = ${change.workspace_id} and ${nextItemBatch(sql, change)}`
    if (dropped.count < batchItems) return
  }
}

async function clearFormerValues({ sql }: Db, change: BulkChangeKey): Promise<void> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const cleared = await sql<{ lead_id: string }[]>`
      update lead_bulk_items
      set before = null
      where workspace_id = ${change.workspace_id}
        and ${nextItemBatch(sql, change, sql`lead_id > ${after}::uuid and before is not null`)}
      returning lead_id`
    if (cleared.length < batchItems) return
    after = cleared.reduce((last, { lead_id }) => (lead_id > last ? lead_id : last), after)
  }
}
