import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidInput } from '../../../src/base/errors.ts'
import { parseCalendar } from '../../../src/workspaces/service/parse-calendar.ts'

const now = new Date('2026-03-10T12:00:00Z')

const calendar = (...events: string[]) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//test//EN', ...events, 'END:VCALENDAR'].join('\r\n')
const event = (...lines: string[]) => ['BEGIN:VEVENT', `UID:${lines.join('')}`, ...lines, 'END:VEVENT'].join('\r\n')

const read = (...events: string[]) =>
  parseCalendar(calendar(...events), now).holidays.map(({ name, from, to }) => `${name} ${from} ${to}`)

const christmas = event('SUMMARY:Christmas', 'DTSTART;VALUE=DATE:20261225', 'DTEND;VALUE=DATE:20261226')
const march = event('SUMMARY:Today', 'DTSTART;VALUE=DATE:20260310')

const cases: [what: string, events: string[], expected: string[]][] = [
  ['a day with its end', [christmas], ['Christmas 2026-12-25 2026-12-25']],
  ['a day without an end', [march], ['Today 2026-03-10 2026-03-10']],
  [
    'several days, the end exclusive',
    [event('SUMMARY:Carnival', 'DTSTART;VALUE=DATE:20270206', 'DTEND;VALUE=DATE:20270211')],
    ['Carnival 2027-02-06 2027-02-10'],
  ],
  [
    'a duration',
    [event('SUMMARY:Fair', 'DTSTART;VALUE=DATE:20260601', 'DURATION:P3D')],
    ['Fair 2026-06-01 2026-06-03'],
  ],
  [
    'each year, for two years',
    [event('SUMMARY:New Year', 'DTSTART;VALUE=DATE:19700101', 'RRULE:FREQ=YEARLY')],
    ['New Year 2027-01-01 2027-01-01', 'New Year 2028-01-01 2028-01-01'],
  ],
  [
    'a weekday of each year, with one left out',
    [
      event(
        'SUMMARY:Thanksgiving',
        'DTSTART;VALUE=DATE:20201126',
        'RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH',
        'EXDATE;VALUE=DATE:20261126',
      ),
    ],
    ['Thanksgiving 2027-11-25 2027-11-25'],
  ],
  [
    'an end of the repetition',
    [event('SUMMARY:Jubilee', 'DTSTART;VALUE=DATE:20240501', 'RRULE:FREQ=YEARLY;UNTIL=20260601')],
    ['Jubilee 2026-05-01 2026-05-01'],
  ],
  [
    'past, far, cancelled, timed and weekly events are left out',
    [
      march,
      event('SUMMARY:Past', 'DTSTART;VALUE=DATE:20260301'),
      event('SUMMARY:Far', 'DTSTART;VALUE=DATE:20290301'),
      event('SUMMARY:Off', 'STATUS:CANCELLED', 'DTSTART;VALUE=DATE:20260401'),
      event('SUMMARY:Meeting', 'DTSTART:20260401T100000Z', 'DTEND:20260401T110000Z'),
      event('SUMMARY:Sunday', 'DTSTART;VALUE=DATE:20260315', 'RRULE:FREQ=WEEKLY'),
    ],
    ['Today 2026-03-10 2026-03-10'],
  ],
  ['the same day twice', [christmas, christmas], ['Christmas 2026-12-25 2026-12-25']],
  [
    'names without control characters, cut, or missing',
    [event(`SUMMARY:${'x'.repeat(200)}`, 'DTSTART;VALUE=DATE:20260401'), event('DTSTART;VALUE=DATE:20260402')],
    [`${'x'.repeat(100)} 2026-04-01 2026-04-01`, '– 2026-04-02 2026-04-02'],
  ],
  [
    'an impossible repetition does not spoil the others',
    [march, event('SUMMARY:Never', 'DTSTART;VALUE=DATE:20200101', 'RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30')],
    ['Today 2026-03-10 2026-03-10'],
  ],
]

for (const [what, events, expected] of cases) {
  test(`a calendar: ${what}`, () => {
    assert.deepEqual(
      read(...events).filter((line) => !line.startsWith('Never')),
      expected,
    )
  })
}

test('a moved occurrence moves only its own event', () => {
  const uid = ['BEGIN:VEVENT', 'UID:labour']
  const yearly = [...uid, 'SUMMARY:Labour', 'DTSTART;VALUE=DATE:20200501', 'RRULE:FREQ=YEARLY', 'END:VEVENT']
  const moved = [
    ...uid,
    'SUMMARY:Labour',
    'RECURRENCE-ID;VALUE=DATE:20260501',
    'DTSTART;VALUE=DATE:20260504',
    'END:VEVENT',
  ]
  const other = event('SUMMARY:Other', 'DTSTART;VALUE=DATE:20200501', 'RRULE:FREQ=YEARLY')
  assert.deepEqual(read(yearly.join('\r\n'), moved.join('\r\n'), other), [
    'Other 2026-05-01 2026-05-01',
    'Labour 2026-05-04 2026-05-04',
    ...['Labour 2027-05-01 2027-05-01', 'Other 2027-05-01 2027-05-01'],
  ])
})

test('what is left out is counted', () => {
  const { ignored } = parseCalendar(calendar(march, event('SUMMARY:Past', 'DTSTART;VALUE=DATE:20250301')), now)
  assert.equal(ignored, 1)
})

const nonsense: [what: string, text: string][] = [
  ['nothing of the kind', 'Hello'],
  ['another format', '{"holidays":[]}'],
  ['a card', 'BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Ana\r\nEND:VCARD'],
  ['an unfinished file', 'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:x'],
  ['no events', calendar()],
  ['only past events', calendar(event('SUMMARY:Past', 'DTSTART;VALUE=DATE:20250301'))],
  ['too many events', calendar(...Array.from({ length: 2001 }, () => 'BEGIN:VEVENT\r\nEND:VEVENT'))],
]

for (const [what, text] of nonsense) {
  test(`a file is refused: ${what}`, () => {
    assert.throws(() => parseCalendar(text, now), InvalidInput)
  })
}

test('a hostile calendar takes no long time', () => {
  const many = Array.from({ length: 1500 }, (_, n) =>
    event(`SUMMARY:Day ${n}`, 'DTSTART;VALUE=DATE:16000101', 'RRULE:FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR'),
  )
  const start = process.cpuUsage()
  try {
    parseCalendar(calendar(march, ...many), now)
  } catch {
    // Refusing it is as good.
  }
  const { user } = process.cpuUsage(start)
  assert.ok(user < 5_000_000, `${user} µs`)
})
