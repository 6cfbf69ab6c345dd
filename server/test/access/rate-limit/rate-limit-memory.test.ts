import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryLimiter } from '../../../src/access/rate-limit/rate-limit-memory.ts'
import { manualClock } from '../../../src/base/clock.ts'
import { noon } from '../../support/guarded-app.ts'

test('keys do not touch each other, and many of them do not end the count of one', async () => {
  const clock = manualClock(noon)
  const limiter = createMemoryLimiter(clock)
  for (let request = 0; request < 2; request++) await limiter.take('a', 2)
  for (let key = 0; key < 25_000; key++) assert.ok((await limiter.take(`form:${key}`, 2)).allowed)
  assert.equal((await limiter.take('a', 2)).allowed, false)
})
