import type { Issue } from '../base/errors.ts'
import { clockOf, isTimeZone, textAt } from '../base/time.ts'
import { type Weekday, weekdays } from '../team/opening-hours.ts'

/** When nothing sounds or pops up, by the clocks of a zone. The bell fills all the same. */
export interface QuietHours {
  timeZone: string
  /** `22:00`, until `07:00` of the next day. */
  from: string
  to: string
  /** Quiet from midnight to midnight. */
  days: Weekday[]
}

/** Whether it is quiet at this moment. The end of a span belongs to it no more. */
export function isQuiet({ timeZone, from, to, days }: QuietHours, now: Date): boolean {
  const shown = textAt(clockOf(timeZone), now.getTime())
  // Monday is the first of ours and the second of JavaScript's.
  const today = weekdays[(new Date(`${shown.slice(0, 10)}T00:00:00Z`).getUTCDay() + 6) % 7]
  if (today !== undefined && days.includes(today)) return true
  const time = shown.slice(11, 16)
  return from < to ? from <= time && time < to : time >= from || time < to
}

/** What of quiet hours that fit their schema cannot be meant. */
export function issuesOfQuiet({ timeZone, from, to }: QuietHours): Issue[] {
  const ofZone = isTimeZone(timeZone) ? [] : [{ path: 'quiet.timeZone', message: 'must be an IANA time zone' }]
  const ofSpan = from === to ? [{ path: 'quiet.to', message: `must not be the same as from, ${from}` }] : []
  return [...ofZone, ...ofSpan]
}
