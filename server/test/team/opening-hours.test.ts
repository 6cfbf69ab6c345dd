import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OpeningHours, openingAt, type Span, validateHours, zoneTime } from '../../src/team/opening-hours.ts'
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
