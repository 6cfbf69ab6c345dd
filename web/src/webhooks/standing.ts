import type { Endpoint } from '../data/webhooks.ts'

/** How an endpoint stands, in one word; the page has the sentences. */
export type Standing = 'fine' | 'new' | 'failing' | 'paused' | 'stopped' | 'gone' | 'off'

export function standingOf({
  state,
  stateReason,
  health,
}: Pick<Endpoint, 'state' | 'stateReason' | 'health'>): Standing {
  if (state === 'disabled') {
    if (stateReason?.code === 'gone') return 'gone'
    return stateReason?.code === 'failing' ? 'stopped' : 'off'
  }
  if (health.failuresInARow > 0) return 'failing'
  if (health.pausedUntil !== null) return 'paused'
  return health.lastSuccessAt === null ? 'new' : 'fine'
}

/** Whether somebody should look after it. What a member disabled is as they want it. */
export const isTrouble = (standing: Standing): boolean => ['failing', 'stopped', 'gone'].includes(standing)

/** The earliest of the moments at which something is due; null when nothing is. */
export function earliest(moments: readonly (string | null)[]): string | null {
  return moments.reduce((first, one) => (one !== null && (first === null || one < first) ? one : first), null)
}

const soonestMs = 700
export const latestMs = 60_000
/** When what nothing holds back is due. */
export const atOnce = new Date(0).toISOString()

/** When to look again at what is due then: a little after, never hastily, and not only after hours. */
export function lookAgainMs(due: string | null, nowMs: number): number | null {
  if (due === null) return null
  return Math.min(latestMs, Math.max(soonestMs, Date.parse(due) - nowMs + soonestMs))
}
