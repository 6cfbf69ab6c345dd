import { claimFirst, maxCandidates } from '../base/citus/distributed-sql.ts'
import type { Clock } from '../base/clock.ts'
import type { Db, Sql, Tx } from '../base/db.ts'
import { dropPieces } from './transfer/import/pieces.ts'

const importsKeptDays = 90
const batch = 500

/** Deletes imports that ended over 90 days ago and whose files are already deleted. Returns their number. */
export async function forgetImports(db: Db, now: Date): Promise<number> {
  const before = new Date(now.getTime() - importsKeptDays * 86_400_000)
  const old = await db.sql<{ workspace_id: string; id: string }[]>`
    select workspace_id, id
    from lead_imports
    where ${isForgotten(db.sql, before)}
    limit ${batch}`
  let forgotten = 0
  for (const [workspaceId, rows] of Map.groupBy(old, (row) => row.workspace_id)) {
    const { count } = await db.statement(
      (tx) => tx`
        delete from lead_imports
        where workspace_id = ${workspaceId}
          and id = any (${rows.map(({ id }) => id)}::uuid[])
          and ${isForgotten(tx, before)}`,
    )
    forgotten += count
  }
  return forgotten
}

const isForgotten = (sql: Sql, before: Date) => sql`
  state in ('done', 'failed', 'cancelled')
    and expires_at is null
    and coalesce(ended_at, created_at) < ${before}`

/** Deletes the files of imports that ended or were abandoned a week ago. Returns the number of imports. */
export async function sweepImports(db: Db, clock: Clock): Promise<number> {
  const now = clock.now()
  for (let count = 0; ; count++) {
    // One import per transaction, since a file can have 1 GiB.
    if (!(await sweepNext(db, now))) return count
  }
}

async function sweepNext(db: Db, now: Date): Promise<boolean> {
  const old = await db.sql<{ workspaceId: string }[]>`
    select workspace_id as "workspaceId"
    from lead_imports
    where expires_at <= ${now}
    order by expires_at
    limit ${maxCandidates}`
  return (await claimFirst(old, (workspaceId) => db.tx((tx) => sweepOne(tx, workspaceId, now)))) ?? false
}

/** Returns true, or undefined if other processes have locked all due imports. */
async function sweepOne(tx: Tx, workspaceId: string, now: Date): Promise<true | undefined> {
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
  await dropPieces(tx, row.workspace_id, row.id, null)
  await tx`delete from lead_import_dry_names where workspace_id = ${row.workspace_id} and import_id = ${row.id}`
  return true
}

const keptDays = 90
const batchItems = 5_000

/**
 * Deletes former values once the undo period of one day has ended. Keeps the lead ids of an import until the import is
 * deleted; of a selection, only the counts remain. Returns the number of changes processed.
 */
export async function sweepFormerValues(db: Db, clock: Clock): Promise<number> {
  for (let count = 0; ; count++) {
    const [row] = await db.sql<Named[]>`
      select workspace_id, id, kind
      from lead_bulk_changes
      where undo_until <= ${clock.now()}
        and due_at is null
      order by undo_until
      limit 1`
    if (row === undefined) return count
    if (row.kind === 'import') await emptyItems(db, row)
    else await dropItems(db, row)
    await db.sql`
      update lead_bulk_changes
      set undo_until = null
      where workspace_id = ${row.workspace_id}
        and id = ${row.id}`
  }
}

/** Deletes bulk changes that ended over 90 days ago, those of imports included. Returns their number. */
export async function forgetBulkChanges(db: Db, now: Date): Promise<number> {
  for (let count = 0; ; count++) {
    const [row] = await db.sql<Named[]>`
      select workspace_id, id, kind
      from lead_bulk_changes
      where undo_until is null
        and due_at is null
        and ended_at < ${now}::timestamptz - ${keptDays}::integer * interval '1 day'
      limit 1`
    if (row === undefined) return count
    await dropItems(db, row)
    await db.sql`
      delete from lead_bulk_changes
      where workspace_id = ${row.workspace_id}
        and id = ${row.id}`
  }
}

interface Named {
  workspace_id: string
  id: string
  kind: string
}

/** Condition for the next batch of items of a change; limits the rows per statement. */
const someItems = (sql: Sql, { workspace_id: workspaceId, id }: Named, condition = sql`true`) => sql`
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

async function dropItems({ sql }: Db, change: Named): Promise<void> {
  for (;;) {
    const dropped =
      await sql`delete from lead_bulk_items where workspace_id = ${change.workspace_id} and ${someItems(sql, change)}`
    if (dropped.count < batchItems) return
  }
}

async function emptyItems({ sql }: Db, change: Named): Promise<void> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const emptied = await sql<{ lead_id: string }[]>`
      update lead_bulk_items
      set before = null
      where workspace_id = ${change.workspace_id}
        and ${someItems(sql, change, sql`lead_id > ${after}::uuid and before is not null`)}
      returning lead_id`
    if (emptied.length < batchItems) return
    after = emptied.reduce((last, { lead_id }) => (lead_id > last ? lead_id : last), after)
  }
}
