import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFarAhead, partitionName, periodAt, periodOf, periodToCreate } from '../../src/base/partitions.ts'

const period = (from: string, to: string) => ({ from: new Date(from), to: new Date(to) })
const one = period('2026-12-07', '2026-12-21')

const times: [time: string, expected: ReturnType<typeof period>][] = [
  ['2026-12-07T00:00:00.000Z', one],
  ['2026-12-20T23:59:59.999Z', one],
  ['2026-12-21T00:00:00.000Z', period('2026-12-21', '2027-01-04')],
  ['1970-01-01T00:00:00.000Z', period('1969-12-22', '1970-01-05')],
]

test('a period is two weeks from a Monday at 00:00 UTC', () => {
  for (const [time, expected] of times) assert.deepEqual(periodAt(new Date(time)), expected, time)
})

const makings: [now: string, expected: string | null][] = [
  ['2026-11-29T23:59:59.999Z', null],
  ['2026-11-30T00:00:00.000Z', 'events_20261207'],
  ['2026-12-05T00:00:00.000Z', 'events_20261207'],
  ['2026-12-05T00:00:00.001Z', null],
  ['2026-12-06T23:59:59.999Z', null],
  ['2026-12-07T00:00:00.000Z', null],
  ['2026-12-14T00:00:00.000Z', 'events_20261221'],
]

test('the next period is created in the week before it starts, but not in the last two days', () => {
  for (const [now, expected] of makings) {
    const made = periodToCreate(new Date(now))
    assert.equal(made && partitionName('events', made), expected, now)
  }
})

const names: [name: string, expected: ReturnType<typeof period> | null][] = [
  ['events_20261207', one],
  ['events_20261214', null],
  ['events_default', null],
  ['other_20261207', null],
  ['events_99999999', null],
]

test('only names of partitions with a period are parsed as a period', () => {
  for (const [name, expected] of names) assert.deepEqual(periodOf('events', name), expected, name)
})

test('a period that starts more than four weeks ahead is from a wrong clock', () => {
  assert.equal(isFarAhead(one, new Date('2026-11-09')), false)
  assert.equal(isFarAhead(one, new Date('2026-11-08')), true)
})
