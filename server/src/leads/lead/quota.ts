import { randomInt } from 'node:crypto'
import type { Sql, Tx } from '../../base/db.ts'
import { startOfUtcDay } from '../../base/time.ts'

const slots = 16
// A slot gets this multiple of the requested number in addition to it.
const slotFactor = 64
const unlimited = 2_147_483_647

/**
 * Reserves quota for up to `wanted` new leads of the day and returns the number reserved. Reserved rows stay locked
 * until the transaction ends, and a rollback returns them, so the quota is exact under concurrency. Call it after
 * locking leads and before the first insert: all writers keep this order.
 */
export async function reserveQuota(tx: Tx, workspaceId: string, now: Date, requested: number): Promise<number> {
  const reserved = await reserveFromSlot(tx, workspaceId, now, requested)
  return reserved.length === 0 ? reserveFromDay(tx, workspaceId, startOfUtcDay(now), requested) : requested
}

/**
 * Returns the statement that reserves quota from one slot, alone or as part of another statement. It returns a row on
 * success. It never waits: slots locked by another creation are skipped.
 */
export function reserveFromSlot(tx: Tx, workspaceId: string, now: Date, requested: number) {
  const day = startOfUtcDay(now)
  return tx<{ slot: number }[]>`
    update lead_quota_slots s
    set room = s.room - ${requested}
    where s.workspace_id = ${workspaceId}
      and s.day = ${day}::date
      and s.slot = (
        select f.slot
        from lead_quota_slots f
        where f.workspace_id = ${workspaceId}
          and f.day = ${day}::date
          and f.room >= ${requested}
          and f.quota = (select daily_lead_quota from workspaces where id = ${workspaceId})
        order by (f.slot + ${randomInt(slots)}) % ${slots}
        limit 1
        for update of f skip locked
      )
    returning s.slot`
}

/** Reserves quota under the lock of the day, if no slot has enough: from quota not granted yet, then from all slots. */
async function reserveFromDay(tx: Tx, workspaceId: string, day: Date, requested: number): Promise<number> {
  const [state] = await tx<{ granted: number; quota: number }[]>`
    with state as (
      insert into lead_quota as d (workspace_id, day, granted)
      values (${workspaceId}, ${day}::date, 0)
      on conflict (workspace_id, day)
      do update set granted = d.granted
      returning granted
    )
    select granted, (select daily_lead_quota from workspaces where id = ${workspaceId}) as quota
    from state`
  if (state === undefined) return 0
  const granted = state.granted - (await revokeStaleQuota(tx, workspaceId, day, state.quota))
  const left = Math.max(0, (state.quota || unlimited) - granted)
  const fresh = Math.min(left, requested * (1 + slotFactor))
  const direct = Math.min(fresh, requested)
  await tx`
    update lead_quota
    set granted = ${granted + fresh}
    where workspace_id = ${workspaceId}
      and day = ${day}::date`
  if (fresh > direct) await fillSlot(tx, workspaceId, day, state.quota, fresh - direct)
  return direct === requested ? requested : direct + (await reserveFromSlots(tx, workspaceId, day, requested - direct))
}

/** Revokes room granted under another quota; returns how much. */
async function revokeStaleQuota(tx: Tx, workspaceId: string, day: Date, quota: number): Promise<number> {
  const rows = await tx<{ room: number }[]>`
    select room
    from lead_quota_slots
    where workspace_id = ${workspaceId}
      and day = ${day}::date
      and quota <> ${quota}
    order by slot
    for update`
  if (rows.length === 0) return 0
  await tx`
    update lead_quota_slots
    set room = 0,
      quota = ${quota}
    where workspace_id = ${workspaceId}
      and day = ${day}::date
      and quota <> ${quota}`
  return rows.reduce((sum, row) => sum + row.room, 0)
}

async function fillSlot(tx: Tx, workspaceId: string, day: Date, quota: number, room: number): Promise<void> {
  await tx`
    insert into lead_quota_slots as s (workspace_id, day, slot, room, quota)
    values (${workspaceId}, ${day}::date, ${randomInt(slots)}, ${room}, ${quota})
    on conflict (workspace_id, day, slot)
    do update set room = s.room + excluded.room`
}

// Waits for concurrent creations: room that they roll back becomes available.
async function reserveFromSlots(tx: Tx, workspaceId: string, day: Date, requested: number): Promise<number> {
  const rows = await tx<{ slot: number; room: number }[]>`
    select slot, room
    from lead_quota_slots
    where workspace_id = ${workspaceId}
      and day = ${day}::date
      and room > 0
    order by slot
    for update`
  let left = requested
  for (const { slot, room } of rows) {
    const reserved = Math.min(left, room)
    if (reserved === 0) break
    left -= reserved
    await tx`
      update lead_quota_slots
      set room = room - ${reserved}
      where workspace_id = ${workspaceId}
        and day = ${day}::date
        and slot = ${slot}`
  }
  return requested - left
}

export interface QuotaUsage {
  used: number
  /** 0 means unlimited. */
  limit: number
}

/** Returns the used part of the day's quota, without reserving any. */
export async function readQuota(sql: Sql, workspaceId: string, now: Date): Promise<QuotaUsage> {
  const day = startOfUtcDay(now)
  const [row] = await sql<QuotaUsage[]>`
    select w.daily_lead_quota as limit,
      coalesce(
        (select granted from lead_quota where workspace_id = ${workspaceId} and day = ${day}::date)
          - (select coalesce(sum(room), 0) from lead_quota_slots where workspace_id = ${workspaceId} and day = ${day}::date),
        0
      )::integer as used
    from workspaces w
    where w.id = ${workspaceId}`
  return row ?? { used: 0, limit: 0 }
}

export function quotaLeft({ used, limit }: QuotaUsage): number {
  return limit === 0 ? Number.POSITIVE_INFINITY : Math.max(0, limit - used)
}
