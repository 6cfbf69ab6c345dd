import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryLimiter, type Limiter } from '../../../src/auth/rate-limit/limiter.ts'
import { createLookupLimit, type LookupLimitOf, lookupsPerMinute } from '../../../src/auth/rate-limit/lookup-limit.ts'
import { manualClock } from '../../../src/base/clock.ts'

// What a request costs is held by guesses.test.ts of leads and of the inbox; here is what several nodes make of it.

const noon = new Date('2026-03-10T12:00:00Z')

/** Names numbers that are not there; answers how many could be named. */
function guess(node: LookupLimitOf, count: number): Promise<number> {
  return node('key').spend(async (budget) => {
    const named = Math.min(count, budget.remaining())
    for (let n = 0; n < named; n++) budget.recordMiss()
    return named
  })
}

test('once other nodes have exhausted the limit, a node stops with its next miss, until units expire', async () => {
  const clock = manualClock(noon)
  const limiter = createMemoryLimiter(clock)
  const [one, two] = [createLookupLimit({ limiter, clock }), createLookupLimit({ limiter, clock })]
  assert.equal(await guess(one, 100), lookupsPerMinute)
  assert.equal(await guess(one, 1), 0)
  assert.equal(await guess(two, 1), 1)
  assert.equal(await guess(two, 1), 0)
  clock.advance(61_000)
  assert.equal(await guess(two, 100), lookupsPerMinute)
})

test('without the shared store a node uses its own count', async () => {
  const clock = manualClock(noon)
  const limiter: Limiter = { take: () => Promise.reject(new Error('away')), close: async () => {} }
  const node = createLookupLimit({ limiter, clock })
  assert.equal(await guess(node, 100), lookupsPerMinute)
  assert.equal(await guess(node, 1), 0)
})

test('work of one reader runs sequentially, even after failures, and does not block others', async () => {
  const clock = manualClock(noon)
  const node = createLookupLimit({ limiter: createMemoryLimiter(clock), clock })
  const held = Promise.withResolvers<void>()
  const steps: string[] = []
  const failing = node('a').spend(async (budget) => {
    await held.promise
    for (let n = 0; n < lookupsPerMinute; n++) budget.recordMiss()
    steps.push('first of a')
    throw new Error('no such lead')
  })
  const second = node('a').spend(async (budget) => {
    steps.push('second of a')
    return budget.remaining()
  })
  assert.equal(await node('b').spend(async (budget) => budget.remaining()), lookupsPerMinute)
  assert.deepEqual(steps, [])
  held.resolve()
  await assert.rejects(failing, /no such lead/)
  assert.equal(await second, 0)
  assert.deepEqual(steps, ['first of a', 'second of a'])
})
