import type { Endpoint } from '../data/webhooks.ts'

/** Status of an endpoint; the page explains it. */
export type EndpointStatus = 'fine' | 'new' | 'failing' | 'paused' | 'stopped' | 'gone' | 'off'

export function endpointStatus({
  state,
  stateReason,
  health,
}: Pick<Endpoint, 'state' | 'stateReason' | 'health'>): EndpointStatus {
  if (state === 'disabled') {
    if (stateReason?.code === 'gone') return 'gone'
    return stateReason?.code === 'failing' ? 'stopped' : 'off'
  }
  if (health.failuresInARow > 0) return 'failing'
  if (health.pausedUntil !== null) return 'paused'
  return health.lastSuccessAt === null ? 'new' : 'fine'
}

/** Returns whether the endpoint needs attention. One disabled by a member does not. */
export const needsAttention = (status: EndpointStatus): boolean => ['failing', 'stopped', 'gone'].includes(status)

/** Returns the earliest time; null if there is none. */
export function earliest(moments: readonly (string | null)[]): string | null {
  return moments.reduce((first, one) => (one !== null && (first === null || one < first) ? one : first), null)
}

const minPollMs = 700
export const maxPollMs = 60_000
/** Due time of deliveries that wait for nothing. */
export const dueNow = new Date(0).toISOString()

/** Returns when to poll for something due: shortly after, with lower and upper bounds. */
export function nextPollMs(due: string | null, nowMs: number): number | null {
  if (due === null) return null
  return Math.min(maxPollMs, Math.max(minPollMs, Date.parse(due) - nowMs + minPollMs))
}
