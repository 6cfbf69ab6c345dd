import assert from 'node:assert/strict'
import { test } from 'node:test'
import { highestOf, namedPoints, pieces, ticksFor } from '../../src/ui/charts/scale.ts'

test('the marks of an axis are few and round, and reach above the highest value', () => {
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

test('points are named as far as there is room, the last one always', () => {
  assert.deepEqual([...namedPoints(5, 1000, 60)], [0, 1, 2, 3, 4])
  assert.deepEqual([...namedPoints(7, 180, 60)], [0, 3, 6])
  assert.deepEqual([...namedPoints(24, 10, 60)], [23])
  assert.deepEqual([...namedPoints(0, 100, 60)], [])
})

test('the highest value is that of a stack where series stand on each other', () => {
  const series = [{ values: [1, 5, null] }, { values: [2, 3, 4] }]
  assert.equal(highestOf(series, true), 8)
  assert.equal(highestOf(series, false), 5)
  assert.equal(highestOf([], true), 0)
})

test('a line is cut where there is no value', () => {
  assert.deepEqual(pieces([null, 1, 2, null, null, 3]), [
    [
      { at: 1, value: 1 },
      { at: 2, value: 2 },
    ],
    [{ at: 5, value: 3 }],
  ])
  assert.deepEqual(pieces([null]), [])
})
