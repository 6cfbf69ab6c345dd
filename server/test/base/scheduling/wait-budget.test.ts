import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WaitBudget } from '../../../src/base/scheduling/work-context.ts'

test('consecutive waits add up, and the time in between does not count', () => {
  const waits = new WaitBudget()
  waits.begin(1_000)
  waits.end(1_400)
  waits.begin(9_000)
  assert.equal(waits.ms(9_250), 650)
  waits.end(9_500)
  assert.equal(waits.ms(20_000), 900)
})

test('parallel waits count once', () => {
  const waits = new WaitBudget()
  waits.begin(0)
  waits.begin(100)
  waits.end(300)
  assert.equal(waits.ms(400), 400)
  waits.end(500)
  assert.equal(waits.ms(600), 500)
})

test('waits of half a minute ago are forgotten, and a longer wait has no limit', () => {
  const waits = new WaitBudget()
  waits.begin(0)
  waits.end(5_000)
  waits.begin(28_000)
  assert.equal(waits.ms(29_000), 6_000)
  assert.equal(waits.ms(30_000), 0)
  waits.begin(31_000)
  assert.equal(waits.ms(32_000), 0)
  waits.end(32_000)
  waits.end(32_000)
  waits.begin(40_000)
  assert.equal(waits.ms(41_000), 1_000)
})

test('nothing counts once the response has started', () => {
  const waits = new WaitBudget()
  waits.begin(0)
  waits.stop()
  assert.equal(waits.ms(10_000), 0)
  waits.end(10_000)
  waits.begin(11_000)
  assert.deepEqual([waits.ms(20_000), waits.isOver], [0, true])
})
