import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  endShown,
  endTyped,
  problemOf,
  type Span,
  sortedWeek,
  usualHours,
  withOneMore,
} from '../../src/settings/hours/week-hours.ts'

const spans = (text: string): Span[] =>
  text === '' ? [] : text.split(' ').map((span) => ({ from: span.split('-')[0] ?? '', to: span.split('-')[1] ?? '' }))

const days: [day: string, problem: ReturnType<typeof problemOf>][] = [
  ['', null],
  ['09:00-12:00 13:00-18:00', null],
  ['13:00-18:00 09:00-12:00', null],
  ['09:00-12:00 12:00-24:00', null],
  ['09:00-', 'missing'],
  ['-18:00', 'missing'],
  ['18:00-09:00', 'order'],
  ['09:00-09:00', 'order'],
  ['09:00-12:00 11:59-18:00', 'overlap'],
  ['09:00-18:00 10:00-11:00', 'overlap'],
]

for (const [day, problem] of days) {
  test(`a day of ${day || 'nothing'} ${problem === null ? 'may be saved' : `may not: ${problem}`}`, () => {
    assert.equal(problemOf(spans(day)), problem)
  })
}

test('the end of a day is typed and shown as 00:00, and its spans are saved in order', () => {
  assert.deepEqual([endTyped('00:00'), endShown('24:00'), endTyped('18:00')], ['24:00', '00:00', '18:00'])
  const { week } = usualHours('UTC')
  const { monday } = sortedWeek({ ...week, monday: spans('13:00-24:00 09:00-12:00') })
  assert.deepEqual(monday, spans('09:00-12:00 13:00-24:00'))
})

test('one more time begins where the last one ends', () => {
  assert.deepEqual(withOneMore([]), spans('09:00-18:00'))
  assert.deepEqual(withOneMore(spans('09:00-12:00')).at(-1), { from: '12:00', to: '' })
  assert.deepEqual(withOneMore(spans('09:00-24:00')).at(-1), { from: '', to: '' })
})
