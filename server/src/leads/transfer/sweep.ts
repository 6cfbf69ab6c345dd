import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/db.ts'

/** Removes the files of imports that ended, or were left alone, a week ago. Answers how many. */
export async function sweepImports(db: Db, clock: Clock): Promise<number> {
  return db.tx(async (tx) => {
    const rows = await tx<{ workspace_id: string; id: string }[]>`
      update lead_imports i
      set expires_at = null,
        state = case when i.state in ('uploading', 'ready', 'checked') then 'cancelled' else i.state end
      from (
        select workspace_id, id
        from lead_imports
        where expires_at <= ${clock.now()}
        limit 20
        for update skip locked
      ) as old
      where i.workspace_id = old.workspace_id
        and i.id = old.id
      returning i.workspace_id, i.id`
    for (const { workspace_id, id } of rows) {
      await tx`delete from lead_import_pieces where workspace_id = ${workspace_id} and import_id = ${id}`
      await tx`delete from lead_import_dry_names where workspace_id = ${workspace_id} and import_id = ${id}`
    }
    return rows.length
  })
}
