import type { Fragment, Tx } from '../../base/db.ts'
import type { ChannelEvent } from '../channel-event.ts'
import type { ConnectionKey } from '../connection/connection.ts'

/** Between two notes. */
export const noteEveryMs = 60_000

/**
 * Notes when a connection last heard from the platform (`in`) or sent (`out`), at most once a minute; with what it heard,
 * how long that was under way (`lagOf`). The worst of those is kept for an hour.
 */
export async function noteActivity(
  tx: Tx,
  { workspaceId, id }: ConnectionKey,
  direction: 'in' | 'out',
  now: Date,
  lagMs: number | null = null,
): Promise<void> {
  const column = tx(direction === 'in' ? 'last_event_in_at' : 'last_event_out_at')
  await tx`
    update connections
    set ${column} = ${now}
    ${lagMs === null ? tx`` : setLag(tx, lagMs, now)}
    where workspace_id = ${workspaceId}
      and id = ${id}
      and (${column} is null or ${column} <= ${new Date(now.getTime() - noteEveryMs)})`.execute()
}

/** For how long the worst lag is kept. */
export const worstLagKeptMs = 3_600_000

function setLag(tx: Tx, lagMs: number, now: Date): Fragment {
  const isWorst = tx`(worst_lag_at > ${new Date(now.getTime() - worstLagKeptMs)} and worst_lag_ms >= ${lagMs}) is not true`
  return tx`,
      lag_ms = ${lagMs},
      worst_lag_ms = case when ${isWorst} then ${lagMs} else worst_lag_ms end,
      worst_lag_at = case when ${isWorst} then ${now} else worst_lag_at end`
}

/** Whether `noteActivity` would write, for those who know the last time. */
export function isWorthNoting(last: Date | null, now: Date): boolean {
  return last === null || now.getTime() - last.getTime() >= noteEveryMs
}

// Fits into the column, and is longer than any platform repeats a delivery.
const longestMs = 14 * 86_400_000

/** How long the slowest of these was under way, from the platform's time of it; null when none has one. */
export function lagOf(events: readonly ChannelEvent[], now: Date): number | null {
  const lags = events.flatMap((event) => {
    if (event.type === 'history' || !('at' in event)) return []
    return Math.min(longestMs, Math.max(0, now.getTime() - event.at.getTime()))
  })
  return lags.length === 0 ? null : lags.reduce((a, b) => Math.max(a, b))
}
