import type { Endpoint } from '../data/webhooks.ts'

/** How an endpoint stands, in one word; the page has the sentences. */
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

/** Whether somebody should look after it. What a member disabled is as they want it. */
export const needsAttention = (status: EndpointStatus): boolean => ['failing', 'stopped', 'gone'].includes(status)

/** The earliest of the moments at which something is due; null when nothing is. */
export function earliest(moments: readonly (string | null)[]): string | null {
  return moments.reduce((first, one) => (one !== null && (first === null || one < first) ? one : first), null)
}

const minPollMs = 700
export const maxPollMs = 60_000
/** When what nothing holds back is due. */
export const now = new Date(0).toISOString()

/** When to look again at what is due then: a little after, never hastily, and not only after hours. */
export function nextPollMs(due: string | null, nowMs: number): number | null {
  if (due === null) return null
  return Math.min(maxPollMs, Math.max(minPollMs, Date.parse(due) - nowMs + minPollMs))
}
