import type { Delivery, DeliveryState, Endpoint, EventPattern } from '../data/webhooks.ts'
import { t } from '../text/index.ts'
import type { Tone } from '../ui/Chip.tsx'
import { formatDateTime, formatNumber, formatShortTime, timeAgo } from '../ui/format/time.ts'
import { type EndpointStatus, endpointStatus } from './status.ts'

export const nameOf = ({ description, url }: Pick<Endpoint, 'description' | 'url'>): string =>
  description || hostOf(url)

/** Returns the host; members who may not see addresses receive it followed by `…`. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}

export const endpointStatusTones: Record<EndpointStatus, Tone> = {
  fine: 'good',
  new: 'plain',
  failing: 'bad',
  paused: 'attention',
  stopped: 'bad',
  gone: 'bad',
  off: 'plain',
}

export function endpointStatusName(status: EndpointStatus): string {
  return t.webhooks.states[status === 'gone' ? 'stopped' : status]
}

/** Explains an endpoint's status and what to do. */
export function endpointStatusSentence(endpoint: Endpoint): string {
  const { stateDescriptions } = t.webhooks
  const { health, stateChangedAt } = endpoint
  const status = endpointStatus(endpoint)
  switch (status) {
    case 'fine':
      return stateDescriptions.fine({ ago: timeAgo(health.lastSuccessAt ?? '') })
    case 'new':
      return stateDescriptions.new
    case 'failing':
      return stateDescriptions.failing({
        failures: health.failuresInARow,
        since: timeAgo(health.failingSince ?? stateChangedAt),
      })
    case 'paused':
      return stateDescriptions.paused({ until: formatShortTime(health.pausedUntil ?? '') })
    case 'gone':
    case 'stopped':
    case 'off':
      return stateDescriptions[status]({ since: formatDateTime(stateChangedAt) })
  }
}

export const deliveryTones: Record<DeliveryState, Tone> = {
  pending: 'attention',
  delivered: 'good',
  failed: 'bad',
  cancelled: 'plain',
}

export function patternName(pattern: EventPattern): string {
  const { groups, eventNames } = t.webhooks
  return pattern in groups ? groups[pattern as keyof typeof groups] : eventNames[pattern as keyof typeof eventNames]
}

/** Formats milliseconds: `84 ms`, `1.2 s`, `3 min`, `5 h`. */
export function formatMs(ms: number): string {
  const { webhooks } = t
  if (ms < 1000) return webhooks.ms({ ms: formatNumber(Math.round(ms)) })
  if (ms < 60_000) return webhooks.seconds({ seconds: formatNumber(ms / 1000, { maximumFractionDigits: 1 }) })
  const digits = { maximumFractionDigits: 1 }
  if (ms < 3_600_000) return webhooks.minutes({ minutes: formatNumber(ms / 60_000, digits) })
  return webhooks.hours({ hours: formatNumber(ms / 3_600_000, digits) })
}

export function resultText(attempt: { status: number | null; ms: number } | null): string {
  if (attempt === null) return t.webhooks.noAttempts
  const response = attempt.status === null ? t.webhooks.noResponse : t.webhooks.response({ status: attempt.status })
  return `${response} · ${formatMs(attempt.ms)}`
}

export const stateName = ({ state }: Pick<Delivery, 'state'>): string => t.webhooks.deliveryStates[state]
