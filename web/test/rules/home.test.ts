import assert from 'node:assert/strict'
import { test } from 'node:test'
import { duration } from '../../src/home/duration.ts'
import { readHomeSearch } from '../../src/home/search.ts'
import { moved, statusToken } from '../../src/settings/status-token.ts'

test('a length of time is told in the unit that suits it', () => {
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
  for (const [seconds, told] of cases) assert.equal(duration(seconds, 'en'), told, String(seconds))
})

test('what the address says of the home page is read, and nonsense left out', () => {
  assert.deepEqual(readHomeSearch({ days: 7 }), { days: 7 })
  assert.deepEqual(readHomeSearch({ days: 8, other: 'x' }), {})
})

test('the name of a step becomes a token, and a step moves within the list', () => {
  const cases: [typed: string, token: string | null][] = [
    ['In Review', 'in_review'],
    ['  Negociação! ', 'negociacao'],
    ['won', 'won'],
    ['—', null],
    ['x'.repeat(51), null],
  ]
  for (const [typed, token] of cases) assert.equal(statusToken(typed), token, typed)
  assert.deepEqual(moved(['a', 'b', 'c'], 'b', -1), ['b', 'a', 'c'])
  assert.deepEqual(moved(['a', 'b', 'c'], 'c', 1), ['a', 'b', 'c'])
  assert.deepEqual(moved(['a', 'b', 'c'], 'a', -1), ['a', 'b', 'c'])
})
