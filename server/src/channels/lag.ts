import type { ChannelEvent } from './channel-event.ts'

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
