import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  dueAt,
  type Holiday,
  type OpeningHours,
  openingAt,
  type Span,
  validateHolidays,
  validateHours,
  zoneTime,
} from '../../src/team/opening-hours.ts'
import { pick } from '../support/pick.ts'

const spans = (text: string): Span[] =>
  text === '' ? [] : text.split(' ').map((span) => ({ from: span.slice(0, 5), to: span.slice(6) }))

const keeping = (timeZone: string, weekday: string, saturday = '', sunday = ''): OpeningHours => {
  const day = spans(weekday)
  const week = { monday: day, tuesday: day, wednesday: day, thursday: day, friday: day }
  return { timeZone, week: { ...week, saturday: spans(saturday), sunday: spans(sunday) } }
}

const office = keeping('America/Sao_Paulo', '09:00-12:00 13:00-18:00', '09:00-13:00')
const bar = keeping('Europe/Berlin', '00:00-02:00 20:00-24:00', '00:00-24:00', '00:00-02:00')
const allDay = keeping('Asia/Kathmandu', '00:00-12:00 12:00-24:00', '00:00-24:00', '00:00-24:00')
const nights = keeping('Europe/Berlin', '', '', '01:30-02:30')
const early = keeping('Europe/Berlin', '', '', '02:10-02:50 08:00-10:00')
const never = keeping('UTC', '')

const moments: [what: string, hours: OpeningHours, now: string, opening: string][] = [
  ['the first minute', office, '2026-03-02T12:00:00Z', 'open until 2026-03-02T15:00'],
  ['a moment before it', office, '2026-03-02T11:59:59.999Z', 'closed until 2026-03-02T12:00'],
  ['the end', office, '2026-03-02T21:00:00Z', 'closed until 2026-03-03T12:00'],
  ['between two spans', office, '2026-03-02T15:30:00Z', 'closed until 2026-03-02T16:00'],
  ['another day in the zone than by UTC', office, '2026-03-08T02:00:00Z', 'closed until 2026-03-09T12:00'],
  ['over a week end', office, '2026-03-07T16:00:00Z', 'closed until 2026-03-09T12:00'],
  ['through midnight', bar, '2026-03-03T22:30:00Z', 'open until 2026-03-04T01:00'],
  ['after midnight', bar, '2026-03-03T23:30:00Z', 'open until 2026-03-04T01:00'],
  ['through two midnights', bar, '2026-03-06T20:00:00Z', 'open until 2026-03-08T01:00'],
  ['at all times', allDay, '2026-03-04T18:14:59Z', 'open'],
  ['at all times, at midnight', allDay, '2026-03-04T18:15:00Z', 'open'],
  ['at no time', never, '2026-03-04T12:00:00Z', 'closed'],
  ['once a week, the same day after it', nights, '2026-03-01T12:00:00Z', 'closed until 2026-03-08T00:30'],
  ['the end that clocks are set forward past', nights, '2026-03-29T00:59:00Z', 'open until 2026-03-29T01:00'],
  ['both of what clocks show twice', nights, '2026-10-25T00:45:00Z', 'open until 2026-10-25T01:30'],
  ['a span that clocks left out', early, '2026-03-29T00:59:00Z', 'closed until 2026-03-29T06:00'],
  ['a day of 23 hours', office, '2018-11-04T11:30:00Z', 'closed until 2018-11-05T11:00'],
  ['the day after clocks were set', bar, '2026-03-30T17:00:00Z', 'closed until 2026-03-30T18:00'],
]

for (const [what, hours, now, expected] of moments) {
  test(`business hours: ${what}`, () => {
    const { isOpen, nextChangeAt } = openingAt(hours, new Date(now))
    const until = nextChangeAt === null ? '' : ` until ${nextChangeAt.toISOString().slice(0, 16)}`
    assert.equal(`${isOpen ? 'open' : 'closed'}${until}`, expected)
  })
}

test('openings and closings alternate at the reported times, through a year', () => {
  for (const hours of [office, bar, nights, early]) {
    let now = new Date('2026-01-01T00:00:00Z')
    let { isOpen } = openingAt(hours, now)
    for (let changes = 0; changes < 100; changes++) {
      const { nextChangeAt } = openingAt(hours, now)
      assert.ok(nextChangeAt !== null && nextChangeAt > now)
      assert.equal(openingAt(hours, new Date(nextChangeAt.getTime() - 1)).isOpen, isOpen)
      now = nextChangeAt
      assert.equal(openingAt(hours, now).isOpen, !isOpen, `${hours.timeZone} ${now.toISOString()}`)
      isOpen = !isOpen
    }
  }
})

const holiday = (from: string, to = from): Holiday => ({ name: 'Holiday', from, to })
const closedOn = (hours: OpeningHours, from: string, to?: string): OpeningHours => ({
  ...hours,
  holidays: [holiday('2026-01-01'), holiday(from, to)],
})

const holidayMoments: [what: string, hours: OpeningHours, now: string, opening: string][] = [
  ['the day before', closedOn(office, '2026-03-03'), '2026-03-02T12:00:00Z', 'open until 2026-03-02T15:00'],
  ['the evening before', closedOn(office, '2026-03-03'), '2026-03-02T22:00:00Z', 'closed until 2026-03-04T12:00'],
  ['the day', closedOn(office, '2026-03-03'), '2026-03-03T12:30:00Z', 'closed until 2026-03-04T12:00'],
  [
    'a span that ends at its midnight',
    closedOn(bar, '2026-03-04'),
    '2026-03-03T22:30:00Z',
    'open until 2026-03-03T23:00',
  ],
  [
    'a span that begins at its end',
    closedOn(bar, '2026-03-03'),
    '2026-03-03T22:30:00Z',
    'closed until 2026-03-03T23:00',
  ],
  [
    'its first moment in another zone',
    closedOn(allDay, '2026-03-05'),
    '2026-03-04T18:14:59Z',
    'open until 2026-03-04T18:15',
  ],
  ['its day in another zone', closedOn(allDay, '2026-03-05'), '2026-03-04T18:15:00Z', 'closed until 2026-03-05T18:15'],
  [
    'several days',
    closedOn(office, '2026-03-03', '2026-03-20'),
    '2026-03-05T12:30:00Z',
    'closed until 2026-03-21T12:00',
  ],
  ['several months', closedOn(office, '2026-03-03', '2026-06-30'), '2026-03-05T12:30:00Z', 'closed'],
  ['a day when clocks are set', closedOn(bar, '2026-03-29'), '2026-03-28T23:30:00Z', 'closed until 2026-03-29T22:00'],
]

for (const [what, hours, now, expected] of holidayMoments) {
  test(`holidays: ${what}`, () => {
    const { isOpen, nextChangeAt } = openingAt(hours, new Date(now))
    const until = nextChangeAt === null ? '' : ` until ${nextChangeAt.toISOString().slice(0, 16)}`
    assert.equal(`${isOpen ? 'open' : 'closed'}${until}`, expected)
  })
}

test('holidays must be days that exist, in order', () => {
  const all = [holiday('2026-02-28'), holiday('2026-02-29'), holiday('2026-03-02', '2026-03-01')]
  assert.deepEqual(pick(validateHolidays(all), 'path'), ['holidays[1].from', 'holidays[1].to', 'holidays[2].to'])
})

const goals: [what: string, hours: OpeningHours | null, since: string, minutes: number, due: string | null][] = [
  ['without hours', null, '2026-03-01T03:00:00Z', 90, '2026-03-01T04:30'],
  ['while open', office, '2026-03-02T12:00:00Z', 60, '2026-03-02T13:00'],
  ['until the end of a span', office, '2026-03-02T20:00:00Z', 60, '2026-03-02T21:00'],
  ['before opening', office, '2026-03-02T08:00:00Z', 60, '2026-03-02T13:00'],
  ['over a break', office, '2026-03-02T14:30:00Z', 60, '2026-03-02T16:30'],
  ['over a night', office, '2026-03-02T20:30:00Z', 60, '2026-03-03T12:30'],
  ['over a week end', office, '2026-03-07T15:30:00Z', 60, '2026-03-09T12:30'],
  ['over a holiday', closedOn(office, '2026-03-03'), '2026-03-02T20:30:00Z', 60, '2026-03-04T12:30'],
  ['for several days', office, '2026-03-02T12:00:00Z', 1200, '2026-03-04T17:00'],
  ['at all times', allDay, '2026-03-04T18:00:00Z', 1440, '2026-03-05T18:00'],
  ['in hours that clocks show twice', nights, '2026-10-24T22:00:00Z', 90, '2026-10-25T01:00'],
  ['in hours that clocks leave out', nights, '2026-03-29T00:00:00Z', 45, '2026-04-04T23:45'],
  ['at no time', never, '2026-03-04T12:00:00Z', 1, null],
]

for (const [what, hours, since, minutes, due] of goals) {
  test(`minutes of business hours: ${what}`, () => {
    assert.equal(dueAt(new Date(since), minutes, hours)?.toISOString().slice(0, 16) ?? null, due)
  })
}

test('each minute of business hours counts once, through a year of clock changes', () => {
  for (const hours of [office, bar, nights, early, closedOn(bar, '2026-03-20', '2026-04-02')]) {
    for (let at = Date.UTC(2026, 0, 1, 0, 7); at < Date.UTC(2026, 11, 1); at += 11 * 86_400_000 + 3_660_000) {
      const since = new Date(at)
      const due = dueAt(since, 100, hours)
      assert.ok(due !== null)
      let openMs = 0
      for (let from = since; from < due; ) {
        const { isOpen, nextChangeAt } = openingAt(hours, from)
        const to = nextChangeAt === null || nextChangeAt > due ? due : nextChangeAt
        if (isOpen) openMs += to.getTime() - from.getTime()
        from = to
      }
      assert.equal(openMs, 100 * 60_000, `${hours.timeZone} ${since.toISOString()}`)
    }
  }
})

const faults: [what: string, hours: OpeningHours, path: string | null][] = [
  ['spans in order', office, null],
  ['spans that touch', allDay, null],
  ['no span', never, null],
  ['a zone that there is not', keeping('Europe/Atlantis', '09:00-18:00'), 'hours.timeZone'],
  ['an end before its beginning', keeping('UTC', '', '18:00-09:00'), 'hours.week.saturday[0].to'],
  ['nothing between', keeping('UTC', '', '', '09:00-09:00'), 'hours.week.sunday[0].to'],
  ['spans that overlap', keeping('UTC', '', '', '09:00-12:00 11:00-18:00'), 'hours.week.sunday[1].from'],
  ['spans out of order', keeping('UTC', '', '', '13:00-18:00 09:00-12:00'), 'hours.week.sunday[1].from'],
]

for (const [what, hours, path] of faults) {
  test(`hours with ${what} are ${path === null ? 'accepted' : 'refused'}`, () => {
    assert.deepEqual(pick(validateHours(hours), 'path'), path === null ? [] : [path])
  })
}

test('a time is shown as local time of the zone', () => {
  assert.equal(zoneTime(office, new Date('2026-03-02T12:00:00Z')), '2026-03-02 09:00')
})
