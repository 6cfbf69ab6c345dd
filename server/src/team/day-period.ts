import { invalid } from '../base/errors.ts'
import { createZoneFormat, localDateAt, parseIsoTime } from '../base/time.ts'

/** Days such as `2026-10-01`; both are included. */
export interface DayPeriod {
  from: string
  to: string
}

interface PeriodRules {
  /** How many days without `from`. */
  days?: number | undefined
  timeZone: string
  maxDays: number
  now: Date
}

const dayMs = 86_400_000

/** Returns the requested days: by default the last 30 up to today in the time zone. Throws 400. */
export function periodOf(
  { from, to }: Partial<DayPeriod>,
  { days = 30, timeZone, maxDays, now }: PeriodRules,
): DayPeriod {
  for (const [name, day] of Object.entries({ from, to })) {
    if (day !== undefined && parseIsoTime(day) === null)
      throw invalid(name, 'must be a day such as 2026-10-01', 'query')
  }
  const last = to ?? localDateAt(createZoneFormat(timeZone), now.getTime())
  const lastMs = Date.parse(last)
  const first = from ?? dateOf(lastMs - (days - 1) * dayMs)
  const length = (lastMs - Date.parse(first)) / dayMs + 1
  if (!(length >= 1)) throw invalid('from', 'must not be after to', 'query')
  if (length > maxDays) throw invalid('from', `must be at most ${maxDays} days before to`, 'query')
  return { from: first, to: last }
}

/** Returns each day of the period and the day after it. */
export function datesOf({ from, to }: DayPeriod): { dates: string[]; after: string } {
  const firstMs = Date.parse(from)
  const count = (Date.parse(to) - firstMs) / dayMs + 1
  const dates = Array.from({ length: count }, (_, n) => dateOf(firstMs + n * dayMs))
  return { dates, after: dateOf(firstMs + count * dayMs) }
}

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
