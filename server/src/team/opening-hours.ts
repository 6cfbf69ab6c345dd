import type { Issue } from '../base/errors.ts'
import { createZoneFormat, isTimeZone, localDateAt, localTimeAt, offsetAt } from '../base/time.ts'

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
export type Weekday = (typeof weekdays)[number]

/** From `09:00` to `18:00`, for example; `24:00` is the end of the day. */
export interface Span {
  from: string
  to: string
}

/** Business hours in a time zone. */
export interface OpeningHours {
  /** IANA name, such as `America/Sao_Paulo`. */
  timeZone: string
  /** Sorted and not overlapping. */
  week: Record<Weekday, Span[]>
}

export interface Opening {
  isOpen: boolean
  /** Null if nothing changes within a week. */
  nextChangeAt: Date | null
}

const minuteMs = 60_000
const dayMs = 1440 * minuteMs
/** Covers from today to after the same day of next week. */
const daysCovered = 9
/** Hours that stay open for longer never close. */
const alwaysMs = 7.5 * dayMs

/** Returns whether the team is open, and when that changes. Adjacent spans count as one, also across midnight. */
export function openingAt({ timeZone, week }: OpeningHours, now: Date): Opening {
  const at = now.getTime()
  let openUntil: number | null = null
  for (const { start, end } of momentsOf(timeZone, week, at)) {
    if (end <= at || end <= start) continue
    if (openUntil === null && start > at) return { isOpen: false, nextChangeAt: new Date(start) }
    if (openUntil !== null && start > openUntil) break
    openUntil = Math.max(openUntil ?? 0, end)
  }
  if (openUntil === null) return { isOpen: false, nextChangeAt: null }
  return { isOpen: true, nextChangeAt: openUntil - at > alwaysMs ? null : new Date(openUntil) }
}

/** Returns the local time in the zone, such as `2026-03-02 09:00`. */
export const zoneTime = ({ timeZone }: OpeningHours, at: Date): string =>
  localTimeAt(createZoneFormat(timeZone), at.getTime()).slice(0, 16)

/** Returns the errors of hours that match their schema. */
export function validateHours({ timeZone, week }: OpeningHours): Issue[] {
  const ofZone = isTimeZone(timeZone) ? [] : [{ path: 'hours.timeZone', message: 'must be an IANA time zone' }]
  return [...ofZone, ...weekdays.flatMap((day) => validateDay(week[day], `hours.week.${day}`))]
}

function validateDay(spans: readonly Span[], path: string): Issue[] {
  return spans.flatMap(({ from, to }, n) => {
    const before = spans[n - 1]
    // Times in this format sort chronologically.
    if (to <= from) return [{ path: `${path}[${n}].to`, message: `must be later than from, ${from}` }]
    if (before === undefined || from >= before.to) return []
    return [{ path: `${path}[${n}].from`, message: `must not be earlier than the end before it, ${before.to}` }]
  })
}

/** Yields the spans from today on, as times. */
function* momentsOf(timeZone: string, week: OpeningHours['week'], now: number) {
  const clock = createZoneFormat(timeZone)
  const today = Date.parse(localDateAt(clock, now))
  for (let midnight = today; midnight < today + daysCovered * dayMs; midnight += dayMs) {
    // Monday is index 0 in `weekdays` and 1 in JavaScript.
    const day = weekdays[(new Date(midnight).getUTCDay() + 6) % 7]
    for (const { from, to } of day === undefined ? [] : week[day]) {
      const start = momentOf(clock, midnight + msOf(from), 'first')
      yield { start, end: momentOf(clock, midnight + msOf(to), to === endOfDay ? 'first' : 'last') }
    }
  }
}

const endOfDay = '24:00'
const msOf = (time: string): number => (Number(time.slice(0, 2)) * 60 + Number(time.slice(3))) * minuteMs

/**
 * Returns when the clocks of the zone show a time. When they are set back they show it twice: a span covers both. When
 * they are set forward past it, returns the moment of the change.
 */
function momentOf(clock: Intl.DateTimeFormat, wall: number, which: 'first' | 'last'): number {
  const near = [wall - offsetAt(clock, wall - dayMs), wall - offsetAt(clock, wall + dayMs)]
  const shown = near.filter((at) => at + offsetAt(clock, at) === wall)
  if (shown.length > 0) return which === 'first' ? Math.min(...shown) : Math.max(...shown)
  let [before, after] = [Math.min(...near), Math.max(...near)]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (middle + offsetAt(clock, middle) < wall) before = middle
    else after = middle
  }
  return after
}
