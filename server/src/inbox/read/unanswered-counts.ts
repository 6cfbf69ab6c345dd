import type { Sql } from '../../base/db.ts'
import { movingConversations, standsStill } from '../conversation/moving.ts'

export interface UnansweredCount {
  /** Whether an agent is to answer them, or people. */
  ownedByAgent: boolean
  count: number
  since: Date
}

/** Customers who have waited for an answer since before a time, in conversations that are open or pending. */
export async function countUnanswered(sql: Sql, workspaceId: string, before: Date): Promise<UnansweredCount[]> {
  return sql<UnansweredCount[]>`
    select c.owner_key_id is not null as "ownedByAgent",
      count(*)::integer as count,
      min(c.since) as since
    from (
      select c.owner_key_id, c.status, c.unanswered_since as since
      from conversations c
      where c.workspace_id = ${workspaceId}
        and c.unanswered_since is not null
        and c.unanswered_since <= ${before}
        and ${standsStill(sql)}
      union all
      select c.owner_key_id, c.status, c.now_unanswered_since
      from ${movingConversations(sql, workspaceId)}
      where m.workspace_id = ${workspaceId}
        and c.now_unanswered_since <= ${before}
    ) as c
    where c.status in ('open', 'pending')
    group by 1`
}
