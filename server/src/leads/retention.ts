import type { Clock } from '../base/clock.ts'
import type { Db, Sql, Tx } from '../base/db.ts'
import { claimFirst, fewCandidates } from '../base/distribution/spread.ts'
import { dropPieces } from './transfer/import/pieces.ts'

const importsKeptDays = 90
const batch = 500

/** Forgets imports of long ago, whose files went a week after their end. Returns how many. */
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

/** Removes the files of all imports that ended, or were left alone, a week ago. Returns how many. */
export async function sweepImports(db: Db, clock: Clock): Promise<number> {
  const now = clock.now()
  for (let count = 0; ; count++) {
    // One at a time: a file of 1 GiB is work enough for a transaction.
    if (!(await sweepNext(db, now))) return count
  }
}

async function sweepNext(db: Db, now: Date): Promise<boolean> {
  const old = await db.sql<{ workspaceId: string }[]>`
    select workspace_id as "workspaceId"
    from lead_imports
    where expires_at <= ${now}
    order by expires_at
    limit ${fewCandidates}`
  return (await claimFirst(old, (workspaceId) => db.tx((tx) => sweepOne(tx, workspaceId, now)))) ?? false
}

/** True, or undefined when others are at what there is. */
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
