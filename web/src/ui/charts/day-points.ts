import { language } from '../../text/index.ts'
import type { Point } from './chart-props.ts'

/** Returns the labels for days. Days are already in the reader's time zone, so they are formatted in UTC. */
export function dayPoints(dates: readonly string[]): Point[] {
  const short = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', timeZone: 'UTC' })
  const full = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeZone: 'UTC' })
  return dates.map((date) => ({ key: date, short: short.format(new Date(date)), full: full.format(new Date(date)) }))
}

const dayMs = 86_400_000

/** Returns the days from the first to the last. */
export function daysBetween(from: string, to: string): string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)]
  return Array.from({ length: Math.round((last - first) / dayMs) + 1 }, (_, n) =>
    new Date(first + n * dayMs).toISOString().slice(0, 10),
  )
}
