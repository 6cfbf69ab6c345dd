import type { Stats } from '../data/stats.ts'
import { language } from '../text/index.ts'
import type { Point } from '../ui/charts/chart-props.ts'

/** Returns the labels for days. Days are already in the reader's time zone, so they are formatted in UTC. */
export function pointsOf(days: Stats['days']): Point[] {
  const short = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', timeZone: 'UTC' })
  const full = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeZone: 'UTC' })
  return days.map(({ date }) => {
    const at = new Date(date)
    return { key: date, short: short.format(at), full: full.format(at) }
  })
}
