import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerColumns, answerIn } from '../../src/forms/answers.ts'
import { moveItem, statusToken } from '../../src/settings/status-token.ts'
import { withTexts } from '../../src/text/index.ts'
import { type Change, changeOf } from '../../src/ui/charts/change.ts'
import { ticksFor } from '../../src/ui/charts/scale.ts'
import { formatDuration } from '../../src/ui/format/duration.ts'
import { parseDeliverySearch } from '../../src/webhooks/search.ts'

await withTexts(async () => {})

test('axis ticks are few and round, and reach the highest value', () => {
  const cases: [highest: number, ticks: number[]][] = [
    [0, [0, 1]],
    [0.4, [0, 0.1, 0.2, 0.3, 0.4]],
    [1, [0, 1]],
    [3, [0, 1, 2, 3]],
    [7, [0, 2, 4, 6, 8]],
    [23, [0, 10, 20, 30]],
    [100, [0, 25, 50, 75, 100]],
    [1_234_567, [0, 500_000, 1_000_000, 1_500_000]],
  ]
  for (const [highest, ticks] of cases) assert.deepEqual(ticksFor(highest), ticks, String(highest))
})

test('durations are formatted in a suitable unit', () => {
  const cases: [seconds: number, told: string][] = [
    [0, '0 sec'],
    [12.4, '12 sec'],
    [59.6, '1 min'],
    [90, '2 min'],
    [3570, '1 hr'],
    [5400, '1.5 hr'],
    [50_400, '14 hr'],
    [86_400, '1 day'],
    [216_000, '2.5 days'],
  ]
  for (const [seconds, told] of cases) assert.equal(formatDuration(seconds, 'en'), told, String(seconds))
})

test('a status name becomes a token, and a status moves within the list', () => {
  const cases: [typed: string, token: string | null][] = [
    ['In Review', 'in_review'],
    ['  Negociação! ', 'negociacao'],
    ['won', 'won'],
    ['—', null],
    ['x'.repeat(51), null],
  ]
  for (const [typed, token] of cases) assert.equal(statusToken(typed), token, typed)
  assert.deepEqual(moveItem(['a', 'b', 'c'], 'b', -1), ['b', 'a', 'c'])
  assert.deepEqual(moveItem(['a', 'b', 'c'], 'c', 1), ['a', 'b', 'c'])
  assert.deepEqual(moveItem(['a', 'b', 'c'], 'a', -1), ['a', 'b', 'c'])
})

test('a figure is compared with the previous period', () => {
  const cases: [now: number | null, before: number | null, change: Change | null][] = [
    [12, 10, { kind: 'more', fraction: 0.2 }],
    [5, 10, { kind: 'less', fraction: 0.5 }],
    [10, 10, { kind: 'same', fraction: 0 }],
    [1001, 1000, { kind: 'same', fraction: 0 }],
    [3, 0, { kind: 'new', fraction: 0 }],
    [0, 0, null],
    [null, 10, null],
    [10, null, null],
  ]
  for (const [now, before, change] of cases) assert.deepEqual(changeOf(now, before), change, `${now} ${before}`)
})

test('a delivery search is an id or a response status', () => {
  const id = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
  const cases: [typed: string, sought: ReturnType<typeof parseDeliverySearch>][] = [
    [` ${id.toUpperCase()} `, { about: id }],
    ['500', { response: '500' }],
    ['5XX', { response: '5xx' }],
    ['none', { response: 'none' }],
    ['600', null],
    ['lead', null],
    ['', null],
  ]
  for (const [typed, sought] of cases) assert.deepEqual(parseDeliverySearch(typed), sought, typed)
})

test('every field has a column of answers; fields the form no longer has come last', () => {
  const fields = [
    { key: 'firstName', label: 'Name' },
    { key: 'size', label: 'Size' },
  ]
  const old = { key: 'colour', label: 'Colour', value: 'red' }
  const submissions = [{ answers: null }, { answers: [old, { key: 'size', label: 'Old size', value: '1' }] }]
  assert.deepEqual(
    answerColumns(fields, submissions).map(({ label }) => label),
    ['Name', 'Size', 'Colour'],
  )
  assert.equal(answerIn({ answers: [old, { key: 'terms', label: 'Terms', value: true }] }, 'terms'), 'Yes')
  assert.equal(answerIn({ answers: [old] }, 'colour'), 'red')
  assert.equal(answerIn({ answers: null }, 'colour'), '')
})
