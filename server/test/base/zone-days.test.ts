import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTimeZone, lastDays } from '../../src/base/time.ts'

const starts = (zone: string, count: number, now: string) =>
  lastDays(zone, count, new Date(now)).map(({ date, start }) => `${date} ${start.toISOString().slice(0, 16)}`)

test('days start at midnight in the zone, and today is the last', () => {
  assert.deepEqual(starts('UTC', 2, '2026-03-01T00:00:00Z'), [
    '2026-02-28 2026-02-28T00:00',
    '2026-03-01 2026-03-01T00:00',
  ])
  assert.deepEqual(starts('America/Sao_Paulo', 2, '2026-03-01T02:59:59Z'), [
    '2026-02-27 2026-02-27T03:00',
    '2026-02-28 2026-02-28T03:00',
  ])
  assert.deepEqual(starts('Asia/Kathmandu', 1, '2026-03-01T18:15:00Z'), ['2026-03-02 2026-03-01T18:15'])
})

test('a day with a clock change is an hour shorter or longer', () => {
  assert.deepEqual(starts('Europe/Berlin', 3, '2026-03-30T12:00:00Z'), [
    '2026-03-28 2026-03-27T23:00',
    '2026-03-29 2026-03-28T23:00',
    '2026-03-30 2026-03-29T22:00',
  ])
  assert.deepEqual(starts('Europe/Berlin', 2, '2026-10-26T12:00:00Z'), [
    '2026-10-25 2026-10-24T22:00',
    '2026-10-26 2026-10-25T23:00',
  ])
})

test('a day without midnight starts at its first moment, and one with two midnights at the second', () => {
  // Until 2019 clocks in São Paulo changed at midnight.
  assert.deepEqual(starts('America/Sao_Paulo', 2, '2018-11-05T12:00:00Z'), [
    '2018-11-04 2018-11-04T03:00',
    '2018-11-05 2018-11-05T02:00',
  ])
  assert.deepEqual(starts('America/Sao_Paulo', 2, '2018-02-18T12:00:00Z'), [
    '2018-02-17 2018-02-17T02:00',
    '2018-02-18 2018-02-18T03:00',
  ])
})

test('a day that the zone skipped is empty', () => {
  const [before, left, after] = lastDays('Pacific/Apia', 3, new Date('2011-12-31T00:00:00Z'))
  assert.deepEqual([before?.date, left?.date, after?.date], ['2011-12-29', '2011-12-30', '2011-12-31'])
  assert.deepEqual(left?.start, after?.start)
})

test('time zones are recognized by name', () => {
  assert.deepEqual(['UTC', 'America/Sao_Paulo', 'Mars/Olympus', '', 'x;y'].map(isTimeZone), [
    true,
    true,
    false,
    false,
    false,
  ])
})
