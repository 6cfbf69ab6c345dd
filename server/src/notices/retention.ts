import type { Db } from '../base/db.ts'
import { pagesOfWorkspaces } from '../base/retention.ts'

const keptDays = 90
/** The newest of each person. */
export const keptNotices = 500

/** Removes what people were told of long ago, or has more than enough behind it. Returns how many rows. */
export async function forgetNotices(db: Db, now: Date): Promise<number> {
  let removed = 0
  for await (const workspaceIds of pagesOfWorkspaces(db)) {
    removed += await db.tx(async (tx) => {
      const { count } = await tx`
        delete from notices n
        using (
          select m.workspace_id, m.user_id, oldest.created_at
          from unnest(${workspaceIds}::uuid[]) as w (id)
          join members m on m.workspace_id = w.id
          left join lateral (
            select created_at
            from notices
            where workspace_id = m.workspace_id
              and user_id = m.user_id
            order by created_at desc, id desc
            offset ${keptNotices}
            limit 1
          ) as oldest on true
        ) as k
        where n.workspace_id = k.workspace_id
          and n.user_id = k.user_id
          and n.created_at <= greatest(k.created_at, ${now}::timestamptz - ${keptDays} * interval '1 day')`
      return count
    })
  }
  return removed
}
