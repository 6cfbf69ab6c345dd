import { createZoneFormat, offsetAt } from '../base/time.ts'
import type { StoredConnection } from '../channels/connection/connection.ts'
import { activeHolds } from '../channels/health/holds.ts'
import { type NumberStatus, type Quality, qualities } from '../channels/health/number-status.ts'

/** Why a broadcast pauses by itself. People resume it. */
export const pauseReasons = [
  'connection',
  'restricted',
  'payment',
  'quality',
  'complaints',
  'failures',
  'template',
  'budget',
] as const
export type PauseReason = (typeof pauseReasons)[number]

type NumberState = Pick<StoredConnection, 'state' | 'holds' | 'numberStatus'>

/** Returns why nothing may be sent from the number now. `baseline`: its quality when people started or resumed. */
export function findPauseReason(
  { state, holds, numberStatus }: NumberState,
  baseline: Quality | null,
  now: Date,
): PauseReason | null {
  const stops = activeHolds(holds, now).map((hold) => hold.stops)
  if (stops.includes('billable')) return 'payment'
  if (stops.includes('all') || stops.includes('initiated')) return 'restricted'
  if (state !== 'active') return 'connection'
  if (numberStatus?.canSend === 'blocked') return 'restricted'
  const quality = numberStatus?.quality ?? null
  return quality === 'red' || isLower(quality, baseline) ? 'quality' : null
}

/** From green to red. An unknown quality is not lower than another. */
const isLower = (quality: Quality | null, baseline: Quality | null): boolean =>
  quality !== null && baseline !== null && qualities.indexOf(quality) > qualities.indexOf(baseline)

/** Half of what the number can send at most: the other half is for answers. */
const mostPerMinute = { own: 2_400, onPhone: 600 }
const yellowDivisor = 4

/** Returns how many messages a broadcast sends per minute at most; `wanted` by its author, or null. */
export function perMinuteOf(
  { isOnPhone, numberStatus }: { isOnPhone: boolean; numberStatus: Pick<NumberStatus, 'quality'> | null },
  wanted: number | null,
): number {
  const most = isOnPhone ? mostPerMinute.onPhone : mostPerMinute.own
  const allowed = numberStatus?.quality === 'yellow' ? most / yellowDivisor : most
  return Math.min(wanted ?? allowed, allowed)
}

const batchMs = 2_000
const maxBatch = 100

/** Returns how many recipients a process takes at once: those of two seconds. */
export const batchOf = (perMinute: number): number =>
  Math.max(1, Math.min(maxBatch, Math.floor((perMinute * batchMs) / 60_000)))

/** Returns the time after which the next may be taken. */
export const pauseAfterMs = (count: number, perMinute: number): number => Math.ceil((count * 60_000) / perMinute)

const dayMs = 86_400_000
export const limitWindowMs = dayMs
/** Of the messaging limit; the rest is for conversations that people and agents start. */
const [limitShare, limitBase] = [9n, 10n]

/** Returns with how many more customers broadcasts may start a conversation; `used` in the last 24 hours. */
export function allowanceOf(limit: NumberStatus['messagingLimit'], used: number): number {
  if (limit === null || limit === 'unlimited') return Number.POSITIVE_INFINITY
  return Math.max(0, Number((BigInt(limit) * limitShare) / limitBase) - used)
}

export interface Reactions {
  /** That the platform has accepted, and that have failed. */
  accepted: number
  failed: number
  /** Recipients who opted out, also those whose message the platform refused for it. */
  optedOut: number
}

/** Fewer say nothing. */
const enough = 50
const [maxOptOutShare, maxFailedShare] = [0.02, 0.5]

/** Returns whether what recipients and the platform do must stop it. */
export function findReactionReason({ accepted, failed, optedOut }: Reactions): PauseReason | null {
  const total = accepted + failed
  if (total < enough) return null
  if (optedOut / total > maxOptOutShare) return 'complaints'
  return failed / total > maxFailedShare ? 'failures' : null
}

/** The zone of most people of countries that have several. */
const mainZones: Readonly<Record<string, string>> = {
  ...{ AR: 'America/Argentina/Buenos_Aires', AU: 'Australia/Sydney', BR: 'America/Sao_Paulo', CA: 'America/Toronto' },
  ...{ CD: 'Africa/Kinshasa', CL: 'America/Santiago', CN: 'Asia/Shanghai', CY: 'Asia/Nicosia', DE: 'Europe/Berlin' },
  ...{ EC: 'America/Guayaquil', ES: 'Europe/Madrid', ID: 'Asia/Jakarta', KZ: 'Asia/Almaty', MN: 'Asia/Ulaanbaatar' },
  ...{ MX: 'America/Mexico_City', MY: 'Asia/Kuala_Lumpur', NZ: 'Pacific/Auckland', PT: 'Europe/Lisbon' },
  ...{ RU: 'Europe/Moscow', UA: 'Europe/Kiev', US: 'America/Chicago', UZ: 'Asia/Tashkent' },
}

/** The runtime knows the zones of each country; the types of its older versions do not say so. */
type ZonedLocale = Intl.Locale & { getTimeZones?: () => string[] | undefined }

/** Returns the time zone of a country (ISO 3166-1 alpha-2); null if unknown. */
export function zoneOf(country: string | null): string | null {
  if (country === null || !/^[A-Z]{2}$/.test(country)) return null
  const locale: ZonedLocale = new Intl.Locale('und', { region: country })
  return mainZones[country] ?? locale.getTimeZones?.()?.[0] ?? null
}

/**
 * Returns when a local time such as `2026-12-01T09:00` is reached in a zone; where that is before `notBefore`, the same
 * time of the next day.
 */
export function localMoment(localAt: string, zone: string, notBefore: Date): Date {
  const format = createZoneFormat(zone)
  const onDay = (days: number) => {
    const wall = Date.parse(`${localAt}:00Z`) + days * dayMs
    return wall - offsetAt(format, wall - offsetAt(format, wall))
  }
  const late = Math.max(0, Math.ceil((notBefore.getTime() - onDay(0)) / dayMs))
  // A change of the clocks may move the last one by an hour.
  const at = onDay(late)
  return new Date(at < notBefore.getTime() ? onDay(late + 1) : at)
}
