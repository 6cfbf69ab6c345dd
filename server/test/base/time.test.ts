import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readIsoTime, secondsToNextUtcDay, startOfUtcDay } from '../../src/base/time.ts'

test('ISO 8601 is read as the table says', () => {
  const rows: [text: string, time: string][] = [
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['1970-01-01', '1970-01-01T00:00:00.000Z'],
    ['9999-12-31', '9999-12-31T00:00:00.000Z'],
    ['2026-01-31T10:20', '2026-01-31T10:20:00.000Z'],
    ['2026-01-31T10:20Z', '2026-01-31T10:20:00.000Z'],
    ['2026-01-31T10:20:30', '2026-01-31T10:20:30.000Z'],
    ['2026-01-31T10:20:30Z', '2026-01-31T10:20:30.000Z'],
    ['2026-01-31t10:20:30z', '2026-01-31T10:20:30.000Z'],
    ['2026-01-31T10:20:30.4Z', '2026-01-31T10:20:30.400Z'],
    ['2026-01-31T10:20:30.45678Z', '2026-01-31T10:20:30.456Z'],
    ['2026-01-31T10:20:30,999999999Z', '2026-01-31T10:20:30.999Z'],
    ['2026-01-31T10:20:30-03:00', '2026-01-31T13:20:30.000Z'],
    ['2026-01-31T10:20:30+05:30', '2026-01-31T04:50:30.000Z'],
    ['2026-01-31T10:20:30+0530', '2026-01-31T04:50:30.000Z'],
    ['2026-01-31T10:20:30-03', '2026-01-31T13:20:30.000Z'],
    ['2026-12-31T23:30:00-01:00', '2027-01-01T00:30:00.000Z'],
    ['2026-01-31T10:20:30+00:00', '2026-01-31T10:20:30.000Z'],
  ]
  for (const [text, time] of rows) assert.equal(readIsoTime(text)?.toISOString(), time, text)
})

test('what is no time, or no time that exists, is null', () => {
  const texts = [
    '',
    'yesterday',
    '2026',
    '2026-01',
    '20260131',
    '2026-1-31',
    '26-01-31',
    '2026-00-10',
    '2026-13-01',
    '2026-01-00',
    '2026-01-32',
    '2026-02-29',
    '2026-02-30',
    '2026-04-31',
    '2100-02-29',
    '2026-01-31T',
    '2026-01-31T10',
    '2026-01-31T24:00',
    '2026-01-31T24:00:00Z',
    '2026-01-31T10:60Z',
    '2026-01-31T10:20:60Z',
    '2026-01-31T10:20:30.Z',
    '2026-01-31T10:20:30+24:00',
    '2026-01-31T10:20:30+01:60',
    '2026-01-31T10:20:30 02:00',
    '2026-01-31 10:20:30',
    '2026-01-31Z',
    '2026-01-31T10:20:30ZZ',
    ' 2026-01-31',
    '2026-01-31\n',
    '1969-12-31',
    '1970-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '0000-01-01',
    '+012026-01-31T10:20:30Z',
    '-002026-01-31',
    '1769853600000',
    '2026-W05-6',
    '٢٠٢٦-01-31',
  ]
  for (const text of texts) assert.equal(readIsoTime(text), null, text)
})

test('what we write ourselves is read back', () => {
  const date = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  fc.assert(fc.property(date, (time) => readIsoTime(time.toISOString())?.getTime() === time.getTime()))
})

test('a UTC day starts at midnight and ends after the seconds that remain', () => {
  const rows: [now: string, dayStart: string, seconds: number][] = [
    ['2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z', 86_400],
    ['2026-03-01T00:00:00.001Z', '2026-03-01T00:00:00.000Z', 86_400],
    ['2026-03-01T23:59:59.000Z', '2026-03-01T00:00:00.000Z', 1],
    ['2026-03-01T23:59:59.999Z', '2026-03-01T00:00:00.000Z', 1],
    ['2026-12-31T12:00:00.000Z', '2026-12-31T00:00:00.000Z', 43_200],
  ]
  for (const [now, dayStart, seconds] of rows) {
    assert.equal(startOfUtcDay(new Date(now)).toISOString(), dayStart)
    assert.equal(secondsToNextUtcDay(new Date(now)), seconds, now)
  }
})
