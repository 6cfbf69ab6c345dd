import type { Fragment, Sql } from '../base/db.ts'
import type { Issue } from '../base/errors.ts'
import { createZoneFormat, isTimeZone, localDateAt, localTimeAt, offsetAt, parseIsoTime } from '../base/time.ts'

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
export type Weekday = (typeof weekdays)[number]

/** From `09:00` to `18:00`, for example; `24:00` is the end of the day. */
export interface Span {
  from: string
  to: string
}

/** Days on which the team is closed, whatever the weekday: dates in the time zone of the hours, both inclusive. */
export interface Holiday {
  name: string
  /** `2026-12-25`, for example. */
  from: string
  to: string
}

/** Business hours in a time zone. */
export interface OpeningHours {
  /** IANA name, such as `America/Sao_Paulo`. */
  timeZone: string
  /** Sorted and not overlapping. */
  week: Record<Weekday, Span[]>
  holidays?: readonly Holiday[]
}

export interface Opening {
  isOpen: boolean
  /** Null if nothing changes within a week, or if it is closed for a month. */
  nextChangeAt: Date | null
}

const minuteMs = 60_000
const dayMs = 1440 * minuteMs
/** Covers a month of holidays, and from today to after the same day of next week. */
const daysCovered = 40
/** Hours that stay open for longer never close. */
const alwaysMs = 7.5 * dayMs

/** SQL: the business hours of `workspaces w` with its holidays; null if it has no hours. */
export const hoursWithHolidays = (sql: Sql): Fragment => sql`
  case when w.hours is not null then w.hours || jsonb_build_object('holidays', w.holidays) end`

/** Returns whether the team is open, and when that changes. Adjacent spans count as one, also across midnight. */
export function openingAt(hours: OpeningHours, now: Date): Opening {
  const at = now.getTime()
  let openUntil: number | null = null
  for (const { start, end } of momentsOf(hours, at, daysCovered)) {
    if (end <= at || end <= start) continue
    if (openUntil === null && start > at) return { isOpen: false, nextChangeAt: new Date(start) }
    if (openUntil !== null && start > openUntil) break
    openUntil = Math.max(openUntil ?? 0, end)
    if (openUntil - at > alwaysMs) return { isOpen: true, nextChangeAt: null }
  }
  if (openUntil === null) return { isOpen: false, nextChangeAt: null }
  return { isOpen: true, nextChangeAt: new Date(openUntil) }
}

/** Days after which a goal that never ends within business hours is given up. */
const maxGoalDays = 120

/**
 * Returns when so many minutes of business hours have passed since a time: the clock stands still while the team is
 * closed. Null hours are always open. Returns null if they are not reached within four months.
 */
export function dueAt(startedAt: Date, minutes: number, hours: OpeningHours | null): Date | null {
  const at = startedAt.getTime()
  let leftMs = minutes * minuteMs
  if (hours === null) return new Date(at + leftMs)
  let countedTo = at
  for (const { start, end } of momentsOf(hours, at, maxGoalDays)) {
    const from = Math.max(start, countedTo)
    if (end <= from) continue
    if (end - from >= leftMs) return new Date(from + leftMs)
    leftMs -= end - from
    countedTo = end
  }
  return null
}

/** Returns the local time in the zone, such as `2026-03-02 09:00`. */
export const zoneTime = ({ timeZone }: OpeningHours, at: Date): string =>
  localTimeAt(createZoneFormat(timeZone), at.getTime()).slice(0, 16)

/** Returns the errors of holidays that match their schema. */
export const validateHolidays = (holidays: readonly Holiday[], path = 'holidays'): Issue[] =>
  holidays.flatMap(({ from, to }, n) => {
    const missing = (['from', 'to'] as const).filter((field) => parseIsoTime({ from, to }[field]) === null)
    if (missing.length > 0) {
      return missing.map((field) => ({ path: `${path}[${n}].${field}`, message: 'must be a date such as 2026-12-25' }))
    }
    return to < from ? [{ path: `${path}[${n}].to`, message: `must not be before from, ${from}` }] : []
  })

/** Returns the errors of hours that match their schema. */
export function validateHours({ timeZone, week }: Pick<OpeningHours, 'timeZone' | 'week'>): Issue[] {
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

/** Yields the spans of so many days from today on, as times. */
function* momentsOf({ timeZone, week, holidays = [] }: OpeningHours, now: number, days: number) {
  const clock = createZoneFormat(timeZone)
  const today = Date.parse(localDateAt(clock, now))
  for (let midnight = today; midnight < today + days * dayMs; midnight += dayMs) {
    if (holidays.length > 0) {
      const date = new Date(midnight).toISOString().slice(0, 10)
      // Dates in this format sort chronologically.
      if (holidays.some(({ from, to }) => from <= date && date <= to)) continue
    }
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
