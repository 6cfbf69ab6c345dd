import type { Delivery, DeliveryState, Endpoint, EventPattern } from '../data/webhooks.ts'
import { t } from '../text/index.ts'
import type { Tone } from '../ui/Chip.tsx'
import { ago, fullMoment, number, shortMoment } from '../ui/format/time.ts'
import { type Standing, standingOf } from './standing.ts'

export const nameOf = ({ description, url }: Pick<Endpoint, 'description' | 'url'>): string =>
  description || hostOf(url)

/** Members who may not see addresses are given the host with `…` after it. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url
}

export const standingTones: Record<Standing, Tone> = {
  fine: 'good',
  new: 'plain',
  failing: 'bad',
  paused: 'attention',
  stopped: 'bad',
  gone: 'bad',
  off: 'plain',
}

export function standingName(standing: Standing): string {
  return t.webhooks.states[standing === 'gone' ? 'stopped' : standing]
}

/** What an endpoint's state means, and what to do. */
export function standingSentence(endpoint: Endpoint): string {
  const { stateWords } = t.webhooks
  const { health, stateChangedAt } = endpoint
  const standing = standingOf(endpoint)
  switch (standing) {
    case 'fine':
      return stateWords.fine({ ago: ago(health.lastSuccessAt ?? '') })
    case 'new':
      return stateWords.new
    case 'failing':
      return stateWords.failing({ failures: health.failuresInARow, since: ago(health.failingSince ?? stateChangedAt) })
    case 'paused':
      return stateWords.paused({ until: shortMoment(health.pausedUntil ?? '') })
    case 'gone':
    case 'stopped':
    case 'off':
      return stateWords[standing]({ since: fullMoment(stateChangedAt) })
  }
}

export const deliveryTones: Record<DeliveryState, Tone> = {
  pending: 'attention',
  delivered: 'good',
  failed: 'bad',
  cancelled: 'plain',
}

export function patternName(pattern: EventPattern): string {
  const { groups, eventWords } = t.webhooks
  return pattern in groups ? groups[pattern as keyof typeof groups] : eventWords[pattern as keyof typeof eventWords]
}

/** Milliseconds as people say them: `84 ms`, `1.2 s`, `3 min`, `5 h`. */
export function duration(ms: number): string {
  const { webhooks } = t
  if (ms < 1000) return webhooks.ms({ ms: number(Math.round(ms)) })
  if (ms < 60_000) return webhooks.seconds({ seconds: number(ms / 1000, { maximumFractionDigits: 1 }) })
  const most = { maximumFractionDigits: 1 }
  if (ms < 3_600_000) return webhooks.minutes({ minutes: number(ms / 60_000, most) })
  return webhooks.hours({ hours: number(ms / 3_600_000, most) })
}

export function resultOf(attempt: { status: number | null; ms: number } | null): string {
  if (attempt === null) return t.webhooks.notTried
  const answer = attempt.status === null ? t.webhooks.notAnswered : t.webhooks.answered({ status: attempt.status })
  return `${answer} · ${duration(attempt.ms)}`
}

export const stateName = ({ state }: Pick<Delivery, 'state'>): string => t.webhooks.deliveryStates[state]
