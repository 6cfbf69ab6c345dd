import { language, t } from '../../text/index.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** Formats a time span: `now`, `5 min`, `3 h`, `2 d`. */
export function formatSpan(ms: number): string {
  const { time } = t.common
  const length = Math.abs(ms)
  if (length < minuteMs) return time.now
  if (length < hourMs) return time.minutes({ n: Math.floor(length / minuteMs) })
  if (length < dayMs) return time.hours({ n: Math.floor(length / hourMs) })
  return time.days({ n: Math.floor(length / dayMs) })
}

/** Formats how long ago a time was. */
export function timeAgo(iso: string): string {
  const ms = Date.now() - Date.parse(iso)
  return ms < minuteMs ? t.common.time.justNow : t.common.time.ago({ span: formatSpan(ms) })
}

/** Formats a time in a list: the time today, the weekday this week, otherwise the date. */
export function formatShortTime(iso: string, now: Date = new Date()): string {
  const at = new Date(iso)
  if (isSameDay(at, now)) return format(at, { hour: 'numeric', minute: '2-digit' })
  const isThisWeek = Math.abs(now.getTime() - at.getTime()) < 6 * dayMs
  if (isThisWeek) return format(at, { weekday: 'short' })
  const isThisYear = at.getFullYear() === now.getFullYear()
  return format(at, { day: 'numeric', month: 'short', ...(isThisYear ? {} : { year: 'numeric' }) })
}

/** Formats a day as a separator between messages. */
export function formatDay(iso: string, now: Date = new Date()): string {
  const at = new Date(iso)
  if (isSameDay(at, now)) return t.common.time.today
  if (isSameDay(at, new Date(now.getTime() - dayMs))) return t.common.time.yesterday
  const isThisYear = at.getFullYear() === now.getFullYear()
  return format(at, { weekday: 'long', day: 'numeric', month: 'long', ...(isThisYear ? {} : { year: 'numeric' }) })
}

export const formatTime = (iso: string): string => format(new Date(iso), { hour: 'numeric', minute: '2-digit' })

/** Formats date and time. */
export const formatDateTime = (iso: string): string =>
  format(new Date(iso), { dateStyle: 'medium', timeStyle: 'short' })

/** Formats date and time to the second. */
export const formatDateTimeSeconds = (iso: string): string =>
  format(new Date(iso), { dateStyle: 'medium', timeStyle: 'medium' })

export const isSameDay = (a: Date, b: Date): boolean => a.toDateString() === b.toDateString()

export const formatNumber = (value: number, options: Intl.NumberFormatOptions = {}): string =>
  cached(numbers, options, () => new Intl.NumberFormat(language, options)).format(value)

/** Formats a fraction in percent, with at most so many decimals. */
export const formatPercent = (fraction: number, decimals = 0): string =>
  formatNumber(fraction, { style: 'percent', maximumFractionDigits: decimals })

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const

/** Returns the name of a day of the week; 0 is Monday. */
export const weekdayName = (nth: number): string =>
  format(new Date(Date.UTC(2024, 0, 1 + nth)), { weekday: 'long', timeZone: 'UTC' })

const format = (at: Date, options: Intl.DateTimeFormatOptions): string =>
  cached(moments, options, () => new Intl.DateTimeFormat(language, options)).format(at)

// Creating a formatter is far slower than using it, and each row of a list uses several.
const numbers = new Map<string, Intl.NumberFormat>()
const moments = new Map<string, Intl.DateTimeFormat>()

function cached<T>(cache: Map<string, T>, options: object, make: () => T): T {
  const name = JSON.stringify(options)
  const known = cache.get(name) ?? make()
  cache.set(name, known)
  return known
}

/** Formats a date without a time, such as `2026-12-25`. */
export const formatUtcDay = (date: string): string => format(new Date(date), { dateStyle: 'medium', timeZone: 'UTC' })

/** Formats a day in UTC, as in the server's statistics. */
export const formatUtcDate = (iso: string): string =>
  format(new Date(iso), { day: 'numeric', month: 'short', timeZone: 'UTC' })
