import type { Sql, Tx } from '../base/db.ts'
import { startOfUtcDay } from '../base/time.ts'

/**
 * Takes room for up to `wanted` new leads from the day's quota and answers how many there is room for. The row stays
 * locked until the transaction ends, and a rollback gives the room back, so the quota is exact under any concurrency.
 * Take it after the locks on leads and before the first insert: every writer keeps this order.
 */
export async function takeQuota(tx: Tx, workspaceId: string, now: Date, wanted: number): Promise<number> {
  const [row] = await tx<{ granted: number }[]>`
    insert into lead_quota as q (workspace_id, day, used, granted)
    select w.id, ${startOfUtcDay(now)}::date, g.granted, g.granted
    from workspaces w,
      lateral (select case w.daily_lead_quota when 0 then ${wanted}::integer
        else least(${wanted}::integer, w.daily_lead_quota) end) as g (granted)
    where w.id = ${workspaceId}
    on conflict (workspace_id, day)
    do update set (used, granted) = (
      select q.used + g.granted, g.granted
      from workspaces w,
        lateral (select case w.daily_lead_quota when 0 then ${wanted}::integer
          else greatest(0, least(${wanted}::integer, w.daily_lead_quota - q.used)) end) as g (granted)
      where w.id = q.workspace_id
    )
    returning granted`.execute()
  return row?.granted ?? 0
}

export interface QuotaUse {
  used: number
  /** 0 is unlimited. */
  limit: number
}

/** How much of the day's quota is used, without taking any. */
export async function readQuota(sql: Sql, workspaceId: string, now: Date): Promise<QuotaUse> {
  const [row] = await sql<QuotaUse[]>`
    select coalesce(q.used, 0) as used, w.daily_lead_quota as limit
    from workspaces w
    left join lead_quota q on q.workspace_id = w.id and q.day = ${startOfUtcDay(now)}::date
    where w.id = ${workspaceId}`
  return row ?? { used: 0, limit: 0 }
}

export function quotaLeft({ used, limit }: QuotaUse): number {
  return limit === 0 ? Number.POSITIVE_INFINITY : Math.max(0, limit - used)
}
