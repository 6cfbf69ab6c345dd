import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isFarAhead, partitionName, weekAt, weekOf, weekToMake } from '../../src/base/partitions/weeks.ts'

const week = (from: string, to: string) => ({ from: new Date(from), to: new Date(to) })
const second = week('2026-12-07', '2026-12-14')

const times: [time: string, expected: ReturnType<typeof week>][] = [
  ['2026-12-07T00:00:00.000Z', second],
  ['2026-12-13T23:59:59.999Z', second],
  ['2026-12-14T00:00:00.000Z', week('2026-12-14', '2026-12-21')],
  ['1970-01-01T00:00:00.000Z', week('1969-12-29', '1970-01-05')],
]

test('a week begins on Monday, at midnight UTC', () => {
  for (const [time, expected] of times) assert.deepEqual(weekAt(new Date(time)), expected, time)
})

const makings: [now: string, expected: string | null][] = [
  ['2026-11-30T00:00:00.000Z', 'events_20261207'],
  ['2026-12-05T00:00:00.000Z', 'events_20261207'],
  ['2026-12-05T00:00:00.001Z', null],
  ['2026-12-06T23:59:59.999Z', null],
  ['2026-12-07T00:00:00.000Z', 'events_20261214'],
]

test('the next week is made, unless it begins within two days', () => {
  for (const [now, expected] of makings) {
    const made = weekToMake(new Date(now))
    assert.equal(made && partitionName('events', made), expected, now)
  }
})

const names: [name: string, expected: ReturnType<typeof week> | null][] = [
  ['events_20261207', second],
  ['events_20261208', null],
  ['events_default', null],
  ['other_20261207', null],
  ['events_99999999', null],
]

test('the name of a part says its week, and no other name does', () => {
  for (const [name, expected] of names) assert.deepEqual(weekOf('events', name), expected, name)
})

test('a week that begins more than five weeks from now was made by a clock that was wrong', () => {
  assert.equal(isFarAhead(second, new Date('2026-11-02')), false)
  assert.equal(isFarAhead(second, new Date('2026-11-01')), true)
})
