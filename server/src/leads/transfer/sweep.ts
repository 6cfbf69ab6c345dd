import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import { dropPieces } from './pieces.ts'

/** Removes the files of all imports that ended, or were left alone, a week ago. Answers how many. */
export async function sweepImports(db: Db, clock: Clock): Promise<number> {
  const now = clock.now()
  for (let count = 0; ; count++) {
    // One at a time: a file of 1 GiB is work enough for a transaction.
    if (!(await db.tx((tx) => sweepOne(tx, now)))) return count
  }
}

async function sweepOne(tx: Tx, now: Date): Promise<boolean> {
  const [row] = await tx<{ workspace_id: string; id: string }[]>`
    update lead_imports i
    set expires_at = null,
      state = case when i.state in ('uploading', 'ready', 'checked') then 'cancelled' else i.state end
    from (
      select workspace_id, id
      from lead_imports
      where expires_at <= ${now}
      order by expires_at
      limit 1
      for update skip locked
    ) as old
    where i.workspace_id = old.workspace_id
      and i.id = old.id
    returning i.workspace_id, i.id`
  if (row === undefined) return false
  await dropPieces(tx, row.workspace_id, row.id, null)
  await tx`delete from lead_import_dry_names where workspace_id = ${row.workspace_id} and import_id = ${row.id}`
  return true
}
