import type { Endpoint, StateReason } from './endpoint.ts'
import { type EndpointStatus, nextAttemptAt } from './queue-status.ts'
import { validSecrets } from './signing.ts'

const reasons: Record<StateReason, string> = {
  member: 'A member disabled it. Enable it to go on.',
  gone: 'It answered 410, which asks us to stop. Check the address, then enable it.',
  failing:
    'Every attempt failed for five days. Mend the receiver, then enable it with `sendSince` to send what it missed.',
}

/** An endpoint as the team sees it: never a header's value or a secret, and the address for admins alone. */
export function presentEndpoint(endpoint: Endpoint, status: EndpointStatus | undefined, showUrl: boolean, now: Date) {
  const { settings, stateReason } = endpoint
  const secrets = validSecrets(settings.secrets, now)
  return {
    id: endpoint.id,
    url: showUrl ? settings.url : addressOutline(settings.url),
    events: endpoint.events,
    phoneVisibility: endpoint.phoneVisibility,
    headerNames: Object.keys(settings.headers),
    description: endpoint.description,
    state: endpoint.state,
    stateReason: stateReason === null ? null : { code: stateReason, message: reasons[stateReason] },
    stateChangedAt: endpoint.stateChangedAt.toISOString(),
    health: presentHealth(status, now),
    secrets: {
      valid: secrets.length,
      oldUntil: secrets.reduce<string | null>((latest, { expiresAt }) => later(latest, expiresAt), null),
    },
    createdBy: endpoint.createdBy,
    createdAt: endpoint.createdAt.toISOString(),
    updatedAt: endpoint.updatedAt.toISOString(),
  }
}

/** The host alone: the rest may hold a token. */
export const addressOutline = (url: string): string => `${new URL(url).origin}/…`

function presentHealth(status: EndpointStatus | undefined, now: Date) {
  const { pausedUntil = null, oldestPendingAt = null, oldestBehindAt = null } = status ?? {}
  const waitingSince = [oldestPendingAt, oldestBehindAt].flatMap((time) => (time === null ? [] : [time.getTime()]))
  return {
    lastSuccessAt: status?.lastSuccessAt?.toISOString() ?? null,
    failingSince: status?.failingSince?.toISOString() ?? null,
    failuresInARow: status?.failuresInARow ?? 0,
    waiting: (status?.pending ?? 0) + (status?.behind ?? 0),
    oldestWaitingAt: waitingSince.length === 0 ? null : new Date(Math.min(...waitingSince)).toISOString(),
    nextAttemptAt: status === undefined ? null : (nextAttemptAt(status, now)?.toISOString() ?? null),
    pausedUntil: pausedUntil !== null && pausedUntil > now ? pausedUntil.toISOString() : null,
  }
}

function later(a: string | null, b: string | null): string | null {
  return a === null || (b !== null && b > a) ? b : a
}
