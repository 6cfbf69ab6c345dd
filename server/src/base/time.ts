import { invalid, type RequestPart } from './errors.ts'

const isoShape =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)(?:T(?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?(?<zone>Z|[+-]\d\d(?::?\d\d)?)?)?$/i

const dayMs = 86_400_000
const earliest = Date.UTC(1970, 0, 1)
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * Parses an ISO 8601 date (midnight UTC) or date-time (UTC without an offset; truncated to milliseconds). Returns null
 * for anything else, for dates and times that do not exist, and outside the years 1970–9999.
 */
export function parseIsoTime(text: string): Date | null {
  const parts = isoShape.exec(text)?.groups
  if (parts === undefined) return null
  const number = (name: string): number => Number(parts[name] ?? 0)
  const [month, day] = [number('month'), number('day')]
  if (number('hour') > 23 || number('minute') > 59 || number('second') > 59) return null

  const date = Date.UTC(number('year'), month - 1, day)
  if (new Date(date).getUTCMonth() !== month - 1 || new Date(date).getUTCDate() !== day) return null
  const offsetMs = offsetOf(parts.zone)
  if (offsetMs === null) return null

  const seconds = (number('hour') * 60 + number('minute')) * 60 + number('second')
  const fractionMs = Number((parts.fraction ?? '').padEnd(3, '0').slice(0, 3))
  const time = date + seconds * 1000 + fractionMs - offsetMs
  return time >= earliest && time <= latest ? new Date(time) : null
}

/** Parses the time in a field of a request; null without one. Throws 400. */
export function readTime(field: string, text: string | null | undefined, part?: RequestPart): Date | null {
  if (text == null) return null
  const time = parseIsoTime(text)
  if (time === null) throw invalid(field, 'must be an ISO 8601 time', part)
  return time
}

/** Parses a date-time that has an offset; null without one, because it would be ambiguous. */
export function parseTimeWithOffset(text: string): Date | null {
  return text.includes('T') && /(?:Z|[+-]\d\d(?::?\d\d)?)$/i.test(text) ? parseIsoTime(text) : null
}

export const timeWithOffsetMessage = 'must be an ISO 8601 date-time with an offset, as in 2026-03-02T09:00:00Z'

/** Parses a date-time with an offset. Throws 400 if it is invalid or in the past. */
export function parseFutureTime(text: string, field: string, now: Date): Date {
  const time = parseTimeWithOffset(text)
  if (time === null) throw invalid(field, timeWithOffsetMessage)
  if (time <= now) throw invalid(field, 'must be in the future')
  return time
}

/** Returns an external time, limited to `now`, because external clocks can be ahead. */
export const limitToNow = (time: Date, now: Date): Date => (time < now ? time : now)

function offsetOf(zone: string | undefined): number | null {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(3).replace(':', '') || 0)
  if (hours > 23 || minutes > 59) return null
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000
}

/** Converts the database's `2026-11-22 18:44:44.12+00` (UTC) to ISO, five times faster than with a `Date`. */
export function isoTime(text: string): string {
  if (text[10] !== ' ' || !text.endsWith('+00')) return new Date(text).toISOString()
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(3, '0')}Z`
}

/** A row whose times are ISO texts. */
type WithIsoTimes<R> = { [N in keyof R]: R[N] extends Date ? string : R[N] extends Date | null ? string | null : R[N] }

/** Returns a row for an answer: its times as ISO texts. */
export const withIsoTimes = <R extends object>(row: R): WithIsoTimes<R> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value]),
  ) as WithIsoTimes<R>

export function startOfUtcDay(now: Date): Date {
  return new Date(Math.floor(now.getTime() / dayMs) * dayMs)
}

/** Returns the whole seconds, 1–86,400, until the next UTC day. */
export function secondsToNextUtcDay(now: Date): number {
  return Math.ceil((startOfUtcDay(now).getTime() + dayMs - now.getTime()) / 1000)
}

export interface ZoneDay {
  /** Date in the time zone, such as `2026-03-01`. */
  date: string
  /** First moment of the day. */
  start: Date
}

/** Returns true if the runtime knows the time zone, such as `America/Sao_Paulo` or `UTC`. */
export function isTimeZone(zone: string): boolean {
  try {
    createZoneFormat(zone)
    return true
  } catch {
    return false
  }
}

/** Returns the last `count` days of a zone including today, oldest first. A clock change makes a day 23 or 25 hours. */
export function lastDays(zone: string, count: number, now: Date): ZoneDay[] {
  const format = createZoneFormat(zone)
  const today = Date.parse(localDateAt(format, now.getTime()))
  return Array.from({ length: count }, (_, n) => {
    const midnight = today - (count - 1 - n) * dayMs
    const date = new Date(midnight).toISOString().slice(0, 10)
    return { date, start: new Date(startOf(format, midnight, date)) }
  })
}

/** Returns the first moment of a date, such as `2026-03-01`, in a zone. */
export const startOfDate = (format: Intl.DateTimeFormat, date: string): Date =>
  new Date(startOf(format, Date.parse(date), date))

/** Uses the one of the two offsets around the day that starts it first. A skipped day has no start of its own. */
function startOf(format: Intl.DateTimeFormat, midnight: number, date: string): number {
  const starts = [midnight - dayMs, midnight + dayMs].map((nearby) => midnight - offsetAt(format, nearby))
  const inside = starts.filter((start) => localDateAt(format, start) === date)
  return inside.length > 0 ? Math.min(...inside) : Math.max(...starts)
}

/** Returns the zone's offset from UTC in milliseconds. */
export function offsetAt(format: Intl.DateTimeFormat, at: number): number {
  return Date.parse(`${localTimeAt(format, at).replace(' ', 'T')}Z`) - Math.floor(at / 1000) * 1000
}

export const localDateAt = (format: Intl.DateTimeFormat, at: number): string => localTimeAt(format, at).slice(0, 10)

/** Returns `2026-03-01 09:00:00`: the Swedish locale formats times like ISO 8601. */
export const localTimeAt = (format: Intl.DateTimeFormat, at: number): string => format.format(at)

/** Formats by time zone: creating one takes a hundred times as long as using it. */
const zoneFormats = new Map<string, Intl.DateTimeFormat>()
/** There are about 600 zones, but each can be written in any case. */
const maxZoneFormats = 1000

export function createZoneFormat(timeZone: string): Intl.DateTimeFormat {
  const known = zoneFormats.get(timeZone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  if (zoneFormats.size >= maxZoneFormats) zoneFormats.clear()
  zoneFormats.set(timeZone, format)
  return format
}
