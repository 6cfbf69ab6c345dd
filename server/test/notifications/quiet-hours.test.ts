import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isQuiet, type QuietHours } from '../../src/notifications/preferences.ts'

const night: QuietHours = { timeZone: 'UTC', from: '22:00', to: '07:00', days: [] }
const noon: QuietHours = { ...night, from: '12:00', to: '14:00' }
const saoPaulo: QuietHours = { ...night, timeZone: 'America/Sao_Paulo' }
const berlin: QuietHours = { ...night, timeZone: 'Europe/Berlin', from: '01:30', to: '02:30' }
const kiritimati: QuietHours = { ...noon, timeZone: 'Pacific/Kiritimati', days: ['monday'] }
const weekend: QuietHours = { ...noon, days: ['saturday', 'sunday'] }

// 2026-03-10 is a Tuesday.
const cases: [what: string, hours: QuietHours, at: string, quiet: boolean][] = [
  ['before a night', night, '2026-03-10T21:59:59.999Z', false],
  ['its first moment', night, '2026-03-10T22:00:00Z', true],
  ['midnight', night, '2026-03-11T00:00:00Z', true],
  ['its last minute', night, '2026-03-11T06:59:59.999Z', true],
  ['its end', night, '2026-03-11T07:00:00Z', false],
  ['before a span within the day', noon, '2026-03-10T11:59:00Z', false],
  ['within it', noon, '2026-03-10T13:59:00Z', true],
  ['its end', noon, '2026-03-10T14:00:00Z', false],
  ['night elsewhere, day there', saoPaulo, '2026-03-10T22:30:00Z', false],
  ['night there', saoPaulo, '2026-03-11T01:00:00Z', true],
  ['a day of quiet', weekend, '2026-03-14T00:00:00Z', true],
  ['its last moment', weekend, '2026-03-15T23:59:59Z', true],
  ['the day after it', weekend, '2026-03-16T00:00:00Z', false],
  ['a day as the zone counts it', kiritimati, '2026-03-15T10:00:00Z', true],
  ['which is another one in UTC', kiritimati, '2026-03-16T10:30:00Z', false],
  ['an hour that comes once more: the first', berlin, '2026-10-25T00:15:00Z', true],
  ['an hour that comes once more: the second', berlin, '2026-10-25T01:15:00Z', true],
  ['after it', berlin, '2026-10-25T01:31:00Z', false],
  ['an hour that is left out', berlin, '2026-03-29T01:00:00Z', false],
  ['before the hour that is left out', berlin, '2026-03-29T00:45:00Z', true],
]

for (const [what, hours, at, quiet] of cases) {
  test(`${what} is ${quiet ? 'quiet' : 'not quiet'}: ${hours.from} to ${hours.to}, ${hours.timeZone}, ${at}`, () => {
    assert.equal(isQuiet(hours, new Date(at)), quiet)
  })
}
