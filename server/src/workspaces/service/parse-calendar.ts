import type ICAL from 'ical.js'
import { invalid } from '../../base/errors.ts'
import { loadLater } from '../../base/load-later.ts'
import type { Holiday } from '../../team/opening-hours.ts'

const ical = loadLater<typeof ICAL>('ical.js')

export const maxCalendarLength = 262_144
const maxEvents = 2000
/** Occurrences that are computed, of all events together: an old calendar with 50 holidays has fewer. */
const maxOccurrences = 10_000
const maxNameLength = 100
const yearsAhead = 2
/** The day is still running somewhere. */
const dayMs = 86_400_000

export interface ParsedCalendar {
  /** Sorted by day, without duplicates. */
  holidays: Holiday[]
  /** Events that are no days of the next two years, or repeat otherwise than yearly. */
  ignored: number
}

/**
 * Returns the all-day events of an iCalendar file that are not over, for two years. Events that repeat each year occur
 * in both. Throws 400 for a file that is not a calendar, or has no such event.
 */
export function parseCalendar(text: string, now: Date): ParsedCalendar {
  const events = parseEvents(text)
  const from = new Date(now.getTime() - dayMs).toISOString().slice(0, 10)
  const to = `${now.getUTCFullYear() + yearsAhead}${from.slice(4)}`
  const found = new Map<string, Holiday>()
  const budget = { left: maxOccurrences }
  let ignored = 0
  for (const event of events) {
    const days = daysOf(event, to, budget).filter((day) => day.to >= from && day.from <= to)
    if (days.length === 0) ignored++
    for (const day of days) found.set(`${day.from} ${day.to} ${day.name}`, day)
  }
  if (found.size === 0) throw invalid('text', 'has no all-day events from today on')
  return { holidays: [...found.values()].sort((a, b) => (a.from < b.from ? -1 : 1)), ignored }
}

const notCalendar = 'is not an iCalendar file: it must begin with BEGIN:VCALENDAR and contain events'

function parseEvents(text: string): ICAL.Event[] {
  const library = ical()
  const parts = readParts(() => {
    // Removes the byte order mark of files from some systems.
    const calendar = new library.Component(library.parse(text.replace(/^\uFEFF/, '')) as unknown[])
    return calendar.name === 'vcalendar' ? calendar.getAllSubcomponents('vevent') : []
  })
  if (parts.length === 0) throw invalid('text', notCalendar)
  if (parts.length > maxEvents) throw invalid('text', `must have at most ${maxEvents} events, but has ${parts.length}`)
  return readParts(() => {
    const uidOf = (part: ICAL.Component) => part.getFirstPropertyValue('uid')
    const [exceptions = [], events = []] = [true, false].map((isException) =>
      parts.filter((part) => part.hasProperty('recurrence-id') === isException),
    )
    // By default, the library applies exceptions to the events of other ids too.
    const byUid = Map.groupBy(exceptions, uidOf)
    return events.map((part) => new library.Event(part, { exceptions: byUid.get(uidOf(part)) ?? [] }))
  })
}

/** The library throws errors of many kinds for files that it cannot read. */
function readParts<T>(read: () => T): T {
  try {
    return read()
  } catch {
    throw invalid('text', notCalendar)
  }
}

/** Returns the days of an event; none for one that is not all-day, is cancelled or repeats otherwise than yearly. */
function daysOf(event: ICAL.Event, to: string, budget: OccurrenceBudget): Holiday[] {
  const status = event.component.getFirstPropertyValue('status')
  try {
    // `startDate` is null if an event has none, against the types.
    if (!event.startDate?.isDate || String(status).toUpperCase() === 'CANCELLED') return []
    if (!event.isRecurring()) return [dayOf(event.summary, event.startDate, event.endDate)]
    const isYearly = event.component.getAllProperties('rrule').every((rule) => frequencyOf(rule) === 'YEARLY')
    return isYearly ? occurrencesOf(event, to, budget) : []
  } catch {
    // One event with impossible values does not spoil the others.
    return []
  }
}

const frequencyOf = (rule: ICAL.Property): unknown => (rule.getFirstValue() as { freq?: unknown } | null)?.freq

/** Occurrences that may still be computed. */
interface OccurrenceBudget {
  left: number
}

function occurrencesOf(event: ICAL.Event, to: string, budget: OccurrenceBudget): Holiday[] {
  const days: Holiday[] = []
  const occurrences = event.iterator()
  while (budget.left-- > 0) {
    const next = occurrences.next()
    // The types hide that the last one is followed by nothing.
    if (!next || dateOf(next) > to) break
    const { item, startDate, endDate } = event.getOccurrenceDetails(next)
    days.push(dayOf(item.summary, startDate, endDate))
  }
  return days
}

/** The end of an all-day event is the day after; without one it is one day. */
function dayOf(summary: string | null, start: ICAL.Time, end: ICAL.Time | null): Holiday {
  const from = dateOf(start)
  const last = end === null ? from : new Date(Date.parse(dateOf(end)) - dayMs).toISOString().slice(0, 10)
  return { name: nameOf(summary), from, to: last > from ? last : from }
}

const dateOf = (time: ICAL.Time): string => time.toString().slice(0, 10)

/** Without control characters, which the app could not show. */
function nameOf(summary: string | null): string {
  const name = (summary ?? '')
    .slice(0, maxNameLength)
    .replace(/\p{Cc}/gu, ' ')
    .trim()
  return name === '' ? '–' : name
}
