import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerColumns, answerIn } from '../../src/forms/answers.ts'
import { type Change, changeOf } from '../../src/home/change.ts'
import { soughtIn } from '../../src/webhooks/search.ts'

test('a figure is told beside the one of the time before', () => {
  const cases: [now: number | null, before: number | null, change: Change | null][] = [
    [12, 10, { kind: 'more', part: 0.2 }],
    [5, 10, { kind: 'less', part: 0.5 }],
    [10, 10, { kind: 'same', part: 0 }],
    [1001, 1000, { kind: 'same', part: 0 }],
    [3, 0, { kind: 'new', part: 0 }],
    [0, 0, null],
    [null, 10, null],
    [10, null, null],
  ]
  for (const [now, before, change] of cases) assert.deepEqual(changeOf(now, before), change, `${now} ${before}`)
})

test('what is typed to find deliveries is an id or an answer', () => {
  const id = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
  const cases: [typed: string, sought: ReturnType<typeof soughtIn>][] = [
    [` ${id.toUpperCase()} `, { about: id }],
    ['500', { answer: '500' }],
    ['5XX', { answer: '5xx' }],
    ['none', { answer: 'none' }],
    ['600', null],
    ['lead', null],
    ['', null],
  ]
  for (const [typed, sought] of cases) assert.deepEqual(soughtIn(typed), sought, typed)
})

test('answers have a column each, those of fields that the form has no more come last', () => {
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
