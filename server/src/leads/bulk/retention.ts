import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'

const keptDays = 90
const batchItems = 5_000

/**
 * Removes former values when a day has made an undo impossible. Which leads an import brought stays known as long as the
 * import; of a selection nothing but the counts does. Returns how many changes it went through.
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

/** Forgets changes of long ago, an import's along with the import. Returns how many. */
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

async function dropItems(db: Db, { workspace_id: workspaceId, id }: Named): Promise<void> {
  for (;;) {
    const dropped = await db.sql`
      delete from lead_bulk_items
      where workspace_id = ${workspaceId}
        and change_id = ${id}
        and lead_id = any (array(
          select lead_id
          from lead_bulk_items
          where workspace_id = ${workspaceId}
            and change_id = ${id}
          order by lead_id
          limit ${batchItems}
        ))`
    if (dropped.count < batchItems) return
  }
}

async function emptyItems(db: Db, { workspace_id: workspaceId, id }: Named): Promise<void> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const emptied = await db.sql<{ lead_id: string }[]>`
      update lead_bulk_items
      set before = null
      where workspace_id = ${workspaceId}
        and change_id = ${id}
        and lead_id = any (array(
          select lead_id
          from lead_bulk_items
          where workspace_id = ${workspaceId}
            and change_id = ${id}
            and lead_id > ${after}::uuid
            and before is not null
          order by lead_id
          limit ${batchItems}
        ))
      returning lead_id`
    if (emptied.length < batchItems) return
    after = emptied.reduce((last, { lead_id }) => (lead_id > last ? lead_id : last), after)
  }
}
