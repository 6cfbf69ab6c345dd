import type { Sql } from '../../base/db.ts'
import { firstIdAt } from '../../base/id.ts'

/** Events are recorded within it of their time, and nodes agree on the time within it. */
const slackMs = 600_000

/**
 * Returns between which positions the events of a time are, with some more on both sides: who wants exactly those
 * compares their own times as well.
 */
export async function positionsOf(
  sql: Sql,
  workspaceId: string,
  from: Date | null,
  to: Date | null,
): Promise<{ after: number; upTo: number | null }> {
  const [after, upTo] = await Promise.all([
    from === null ? 0 : lastBefore(sql, workspaceId, new Date(from.getTime() - slackMs)),
    to === null ? null : firstFrom(sql, workspaceId, new Date(to.getTime() + slackMs)),
  ])
  return { after, upTo }
}

async function lastBefore(sql: Sql, workspaceId: string, time: Date): Promise<number> {
  const [row] = await sql<{ position: number }[]>`
    select position
    from events
    where workspace_id = ${workspaceId}
      and id < ${firstIdAt(time)}
      and position is not null
    order by id desc
    limit 1`
  return row?.position ?? 0
}

async function firstFrom(sql: Sql, workspaceId: string, time: Date): Promise<number | null> {
  const [row] = await sql<{ position: number }[]>`
    select position
    from events
    where workspace_id = ${workspaceId}
      and id >= ${firstIdAt(time)}
      and position is not null
    order by id
    limit 1`
  return row?.position ?? null
}
