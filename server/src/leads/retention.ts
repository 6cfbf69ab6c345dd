import type { Db } from '../base/db.ts'
import type { AgingTable } from '../base/retention.ts'

/** What is only counted by the day, and asked for on that day. */
export const agingLeadTables: readonly AgingTable[] = [
  { table: 'lead_quota', scope: 'workspace_id', order: 'day', time: 'day', days: 90 },
]

const importsKeptDays = 90
const batch = 500

/** Forgets imports of long ago, whose files went a week after their end. Answers how many. */
export async function forgetImports(db: Db, now: Date): Promise<number> {
  const forgotten = await db.tx(
    (tx) => tx`
      delete from lead_imports
      where ctid = any (array(
        select ctid
        from lead_imports
        where state in ('done', 'failed', 'cancelled')
          and expires_at is null
          and coalesce(ended_at, created_at) < ${now}::timestamptz - ${importsKeptDays}::integer * interval '1 day'
        limit ${batch}
        for update skip locked
      ))`,
  )
  return forgotten.count
}
