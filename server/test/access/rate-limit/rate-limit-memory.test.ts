import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryLimiter } from '../../../src/access/rate-limit/rate-limit-memory.ts'
import { manualClock } from '../../../src/base/clock.ts'
import { noon } from '../../support/guarded-app.ts'

test('a burst over the minute edge is one burst', async () => {
  const clock = manualClock(new Date('2026-03-01T12:00:59.900Z'))
  const limiter = createMemoryLimiter(clock)
  let accepted = 0
  for (let request = 0; request < 600; request++) {
    if (request === 300) clock.advance(200)
    if ((await limiter.take('a', 300)).allowed) accepted++
  }
  assert.equal(accepted, 300)
})

test('who waits as long as told is let in, who comes a moment earlier is not', async () => {
  const clock = manualClock(noon)
  const limiter = createMemoryLimiter(clock)
  for (let request = 0; request < 3; request++) await limiter.take('a', 3)
  const { retryAfterSeconds } = await limiter.take('a', 3)
  clock.advance((retryAfterSeconds - 1) * 1000)
  assert.equal((await limiter.take('a', 3)).allowed, false)
  clock.advance(1000)
  assert.equal((await limiter.take('a', 3)).allowed, true)
})

test('keys do not touch each other, and many of them do not end the count of one', async () => {
  const clock = manualClock(noon)
  const limiter = createMemoryLimiter(clock)
  for (let request = 0; request < 2; request++) await limiter.take('a', 2)
  for (let key = 0; key < 25_000; key++) assert.ok((await limiter.take(`form:${key}`, 2)).allowed)
  assert.equal((await limiter.take('a', 2)).allowed, false)
})
