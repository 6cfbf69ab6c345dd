import { language, t } from '../../text/index.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** How long ago or ahead, short: `now`, `5 min`, `3 h`, `2 d`. */
export function formatSpan(ms: number): string {
  const { time } = t.common
  const length = Math.abs(ms)
  if (length < minuteMs) return time.now
  if (length < hourMs) return time.minutes({ n: Math.floor(length / minuteMs) })
  if (length < dayMs) return time.hours({ n: Math.floor(length / hourMs) })
  return time.days({ n: Math.floor(length / dayMs) })
}

/** How long ago a moment was, as a phrase. */
export function timeAgo(iso: string): string {
  const ms = Date.now() - Date.parse(iso)
  return ms < minuteMs ? t.common.time.justNow : t.common.time.ago({ span: formatSpan(ms) })
}

/** A moment beside others in a list: the time today, the weekday this week, else the date. */
export function formatShortTime(iso: string, now: Date = new Date()): string {
  const at = new Date(iso)
  if (isSameDay(at, now)) return format(at, { hour: 'numeric', minute: '2-digit' })
  const isThisWeek = Math.abs(now.getTime() - at.getTime()) < 6 * dayMs
  if (isThisWeek) return format(at, { weekday: 'short' })
  const isThisYear = at.getFullYear() === now.getFullYear()
  return format(at, { day: 'numeric', month: 'short', ...(isThisYear ? {} : { year: 'numeric' }) })
}

/** A day as a separator between messages. */
export function formatDay(iso: string, now: Date = new Date()): string {
  const at = new Date(iso)
  if (isSameDay(at, now)) return t.common.time.today
  if (isSameDay(at, new Date(now.getTime() - dayMs))) return t.common.time.yesterday
  const isThisYear = at.getFullYear() === now.getFullYear()
  return format(at, { weekday: 'long', day: 'numeric', month: 'long', ...(isThisYear ? {} : { year: 'numeric' }) })
}

export const formatTime = (iso: string): string => format(new Date(iso), { hour: 'numeric', minute: '2-digit' })

/** A moment in full, for titles and logs. */
export const formatDateTime = (iso: string): string =>
  format(new Date(iso), { dateStyle: 'medium', timeStyle: 'short' })

/** The same to the second, where things happen faster than people act. */
export const formatDateTimeSeconds = (iso: string): string =>
  format(new Date(iso), { dateStyle: 'medium', timeStyle: 'medium' })

export const isSameDay = (a: Date, b: Date): boolean => a.toDateString() === b.toDateString()

export const formatNumber = (value: number, options: Intl.NumberFormatOptions = {}): string =>
  cached(numbers, options, () => new Intl.NumberFormat(language, options)).format(value)

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const

/** The name of a day of the week; 0 is Monday. */
export const weekdayName = (nth: number): string =>
  format(new Date(Date.UTC(2024, 0, 1 + nth)), { weekday: 'long', timeZone: 'UTC' })

const format = (at: Date, options: Intl.DateTimeFormatOptions): string =>
  cached(moments, options, () => new Intl.DateTimeFormat(language, options)).format(at)

// One takes far longer to make than to use, and each row of a list uses several.
const numbers = new Map<string, Intl.NumberFormat>()
const moments = new Map<string, Intl.DateTimeFormat>()

function cached<T>(made: Map<string, T>, options: object, make: () => T): T {
  const name = JSON.stringify(options)
  const known = made.get(name) ?? make()
  made.set(name, known)
  return known
}

/** The date of a day in UTC, as the service counts days in statistics. */
export const formatUtcDate = (iso: string): string =>
  format(new Date(iso), { day: 'numeric', month: 'short', timeZone: 'UTC' })
