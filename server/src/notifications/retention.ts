import { andOnlyWorkspace, isDistributed, type OnlyWorkspace } from '../base/citus/distributed-sql.ts'
import type { Db, Tx } from '../base/db.ts'
import { listWorkspacePages } from '../base/retention.ts'

const retentionDays = 90
/** Newest notifications that are kept per person. */
export const maxNotifications = 500

/** Deletes notifications that are older than 90 days or beyond the newest 500; returns how many. */
export async function deleteOldNotifications(db: Db, now: Date): Promise<number> {
  let removed = 0
  for await (const workspaceIds of listWorkspacePages(db)) {
    removed += await db.tx(async (tx) => {
      if (!isDistributed(tx)) return deleteOldIn(tx, workspaceIds, null, now)
      let removedOfAll = 0
      for (const workspaceId of workspaceIds) removedOfAll += await deleteOldIn(tx, [workspaceId], workspaceId, now)
      return removedOfAll
    })
  }
  return removed
}

async function deleteOldIn(tx: Tx, workspaceIds: readonly string[], only: OnlyWorkspace, now: Date): Promise<number> {
  // Under Citus, a distributed subquery cannot join a reference table laterally.
  const people =
    only === null
      ? tx`unnest(${workspaceIds}::uuid[]) as w (id) join members m on m.workspace_id = w.id`
      : tx`unnest(${await memberIdsOf(tx, only)}::uuid[]) as m (user_id)`
  const workspace = only === null ? tx`m.workspace_id` : tx`${only}::uuid`
  const { count } = await tx`
    delete from notices n
    using (
      select ${workspace} as workspace_id, m.user_id, oldest.created_at
      from ${people}
      left join lateral (
        select created_at
        from notices
        where workspace_id = ${workspace}
          and user_id = m.user_id
        order by created_at desc, id desc
        offset ${maxNotifications}
        limit 1
      ) as oldest on true
    ) as k
    where n.workspace_id = k.workspace_id
      and n.user_id = k.user_id
      and n.created_at <= greatest(k.created_at, ${now}::timestamptz - ${retentionDays} * interval '1 day')
      ${andOnlyWorkspace(tx, only, 'n')}`
  return count
}

async function memberIdsOf(tx: Tx, workspaceId: string): Promise<string[]> {
  const members = await tx<{ user_id: string }[]>`
    select user_id
    from members
    where workspace_id = ${workspaceId}`
  return members.map((member) => member.user_id)
}
