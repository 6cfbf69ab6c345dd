import type { Workspace } from '../../data/workspace.ts'
import { weekdays } from '../../ui/format/time.ts'

export type Hours = NonNullable<Workspace['hours']>
type Week = Hours['week']
type Weekday = keyof Week
export type Span = Week[Weekday][number]

export const maxSpans = 4
const latest = '24:00'

const office = (): Span[] => [{ from: '09:00', to: '18:00' }]

/** Returns the default: office hours in the reader's time zone. */
export const defaultHours = (timeZone: string): Hours => ({
  timeZone,
  week: {
    monday: office(),
    tuesday: office(),
    wednesday: office(),
    thursday: office(),
    friday: office(),
    saturday: [],
    sunday: [],
  },
})

export const zoneHere = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** Adds a time span after the others. */
export function withAddedSpan(spans: readonly Span[]): Span[] {
  const last = spans.at(-1)
  if (last === undefined) return office()
  return [...spans, { from: last.to === latest ? '' : last.to, to: '' }]
}

/** Formats the end of a day as 00:00, since time inputs do not support 24:00. */
export const formatEnd = (to: string): string => (to === latest ? '00:00' : to)
export const parseEnd = (text: string): string => (text === '00:00' ? latest : text)

type SpanProblem = 'missing' | 'order' | 'overlap'

/** Returns the error that prevents saving a day. Spans may be in any order. */
export function problemOf(spans: readonly Span[]): SpanProblem | null {
  if (spans.some(({ from, to }) => from === '' || to === '')) return 'missing'
  if (spans.some(({ from, to }) => to <= from)) return 'order'
  const sorted = inOrder(spans)
  return sorted.some(({ from }, n) => n > 0 && from < (sorted[n - 1]?.to ?? '')) ? 'overlap' : null
}

export const isComplete = (week: Week): boolean => weekdays.every((day) => problemOf(week[day]) === null)

/** Returns the hours to store, with the spans of each day in order. */
export function sortedHours(hours: Hours | null): Hours | null {
  if (hours === null) return null
  const days = weekdays.map((day) => [day, inOrder(hours.week[day])])
  return { ...hours, week: Object.fromEntries(days) }
}

const inOrder = (spans: readonly Span[]): Span[] => spans.toSorted((a, b) => (a.from < b.from ? -1 : 1))

/** Copies Monday's hours to Tuesday through Friday. */
export function copyMonday(week: Week): Week {
  const { monday } = week
  return { ...week, tuesday: monday, wednesday: monday, thursday: monday, friday: monday }
}
