import type { Fragment, Tx } from '../../base/db.ts'
import type { ChannelEvent } from '../channel-event.ts'
import type { ConnectionKey } from '../connection/connection.ts'

/** Minimum time between two writes. */
export const activityIntervalMs = 60_000

/**
 * Stores when a connection last received (`in`) or sent (`out`) something, at most once a minute. With `lagMs`, also
 * stores the delivery lag (see `lagOf`) and the worst lag within an hour.
 */
export async function storeActivity(
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
      and (${column} is null or ${column} <= ${new Date(now.getTime() - activityIntervalMs)})`.execute()
}

/** How long the worst lag is kept. */
export const worstLagKeptMs = 3_600_000

function setLag(tx: Tx, lagMs: number, now: Date): Fragment {
  const isWorst = tx`(worst_lag_at > ${new Date(now.getTime() - worstLagKeptMs)} and worst_lag_ms >= ${lagMs}) is not true`
  return tx`,
      lag_ms = ${lagMs},
      worst_lag_ms = case when ${isWorst} then ${lagMs} else worst_lag_ms end,
      worst_lag_at = case when ${isWorst} then ${now} else worst_lag_at end`
}

/** Returns whether `storeActivity` would write, for callers that know the last time. */
export function isActivityDue(last: Date | null, now: Date): boolean {
  return last === null || now.getTime() - last.getTime() >= activityIntervalMs
}

// Fits the column, and exceeds the time for which any platform retries a delivery.
const maxLagMs = 14 * 86_400_000

/** Returns the longest delivery lag of the events, based on the platform's time; null if no event has a time. */
export function measureLag(events: readonly ChannelEvent[], now: Date): number | null {
  const lags = events.flatMap((event) => {
    if (event.type === 'history' || !('at' in event)) return []
    return Math.min(maxLagMs, Math.max(0, now.getTime() - event.at.getTime()))
  })
  return lags.length === 0 ? null : lags.reduce((a, b) => Math.max(a, b))
}
