import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  createMemoryLimiter,
  emptyWindow,
  returnUnits,
  takeUnits,
  waitMs,
} from '../../../src/auth/rate-limit/limiter.ts'
import { manualClock } from '../../../src/base/clock.ts'
import { noon } from '../../support/guarded-app.ts'
import { assertNeverMoreThan } from '../../support/sliding-window.ts'

const slotMs = 250

const rows: [guarantee: string, laterMs: number, granted: number][] = [
  ['nothing comes back within the window', 59_999, 0],
  ['nothing comes back within the slot after it', 60_249, 0],
  ['all comes back one slot after the window', 60_250, 5],
  ['a clock set back a little gives nothing back', -30_000, 0],
  ['a clock set back a lot gives nothing back', -3_600_000, 0],
]

for (const [guarantee, laterMs, granted] of rows) {
  test(`after a burst: ${guarantee}`, () => {
    const window = emptyWindow()
    const startMs = 7_200_000
    takeUnits(window, startMs, slotMs, 5, 5)
    assert.equal(takeUnits(window, startMs + laterMs, slotMs, 5, 5), granted)
  })
}

test('a clock set back an hour blocks a key for one window, not for an hour', () => {
  const window = emptyWindow()
  takeUnits(window, 7_200_000, slotMs, 5, 5)
  assert.equal(takeUnits(window, 3_600_000, slotMs, 5, 1), 0)
  assert.equal(takeUnits(window, 3_600_000 + 60_250, slotMs, 5, 1), 1)
})

test('after lowering a limit, requests wait until enough units expire', () => {
  const window = emptyWindow()
  takeUnits(window, 0, slotMs, 10, 4)
  takeUnits(window, 1000, slotMs, 10, 4)
  assert.equal(takeUnits(window, 1000, slotMs, 3, 1), 0)
  assert.equal(waitMs(window, 1000, slotMs, 3), 60_250)
  assert.equal(waitMs(window, 1000, slotMs, 6), 59_250)
})

test('the reported wait is sufficient, and not one slot longer', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5000 }), { minLength: 5, maxLength: 60 }), (stepsMs) => {
      const window = emptyWindow()
      let nowMs = 0
      for (const stepMs of stepsMs) {
        nowMs += stepMs
        takeUnits(window, nowMs, slotMs, 5, 1)
      }
      if (window.total < 5) return
      const wait = waitMs(window, nowMs, slotMs, 5)
      assert.equal(takeUnits(structuredClone(window), nowMs + wait - 1, slotMs, 5, 1), 0)
      assert.equal(takeUnits(structuredClone(window), nowMs + wait, slotMs, 5, 1), 1)
    }),
  )
})

test('returned units can be taken again', () => {
  const window = emptyWindow()
  takeUnits(window, 0, slotMs, 10, 10)
  returnUnits(window, 0, 4)
  returnUnits(window, 99, 4)
  assert.equal(takeUnits(window, 0, slotMs, 10, 10), 4)
})

test('no 60 s ever contain more than the limit, for any arrivals', () => {
  const arrivals = fc.array(fc.tuple(fc.nat(9000), fc.integer({ min: 1, max: 8 })), { maxLength: 300 })
  fc.assert(
    fc.property(arrivals, fc.integer({ min: 1, max: 20 }), fc.constantFrom(250, 500), (steps, limit, slot) => {
      const window = emptyWindow()
      const accepted: number[] = []
      let nowMs = 0
      for (const [stepMs, wanted] of steps) {
        nowMs += stepMs
        const granted = takeUnits(window, nowMs, slot, limit, wanted)
        for (let unit = 0; unit < granted; unit++) accepted.push(nowMs)
      }
      assertNeverMoreThan(limit, accepted)
    }),
  )
})

test('keys are independent, and many keys do not reset the count of one', async () => {
  const clock = manualClock(noon)
  const limiter = createMemoryLimiter(clock)
  for (let request = 0; request < 2; request++) await limiter.take('a', 2)
  for (let key = 0; key < 25_000; key++) assert.ok((await limiter.take(`form:${key}`, 2)).allowed)
  assert.equal((await limiter.take('a', 2)).allowed, false)
})
