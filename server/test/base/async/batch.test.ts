import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { batch } from '../../../src/base/async/batch.ts'
import { isRolledBack, openDb } from '../../../src/base/db.ts'
import { conflict } from '../../../src/base/errors.ts'
import { NoConnection } from '../../../src/base/postgres/failures.ts'
import { currentContext, requestContext, runInContext } from '../../../src/base/scheduling/work-context.ts'
import { testDatabase } from '../../support/database.ts'

interface Group {
  key: string
  items: readonly number[]
  end: PromiseWithResolvers<void>
}

/** Doubles numbers, one group at a time, each released by its test. */
function doubling({ maxGroups = 1, maxGroupSize = 10 } = {}) {
  const begun: Group[] = []
  const double = batch<number, number>({
    maxGroups,
    maxGroupSize,
    work: async (key, items) => {
      const group = { key, items, end: Promise.withResolvers<void>() }
      begun.push(group)
      await group.end.promise
      return items.map((item) => item * 2)
    },
    isRolledBack: () => true,
  })
  return { begun, double, items: () => begun.map((group) => group.items) }
}

test('a single item runs at once, items meanwhile are batched, and each gets its own result', async () => {
  const { begun, double, items } = doubling()
  const answers = Promise.all([1, 2, 3].map((n) => double('a', n)))
  assert.deepEqual(items(), [[1]])
  begun[0]?.end.resolve()
  await turn()
  assert.deepEqual(items(), [[1], [2, 3]])
  begun[1]?.end.resolve()
  assert.deepEqual(await answers, [2, 4, 6])
  void double('a', 4)
  assert.deepEqual(items().at(-1), [4])
})

test('group size and groups per key are limited, and keys are independent', async () => {
  const { begun, double, items } = doubling({ maxGroups: 2, maxGroupSize: 2 })
  for (const n of [1, 2, 3, 4, 5, 6]) void double('a', n)
  void double('b', 7)
  assert.deepEqual(items(), [[1], [2], [7]])
  begun[1]?.end.resolve()
  await turn()
  assert.deepEqual(items().slice(3), [[3, 4]])
  begun[0]?.end.resolve()
  await turn()
  assert.deepEqual(items().slice(4), [[5, 6]])
  assert.deepEqual(
    begun.map(({ key }) => key),
    ['a', 'a', 'b', 'a', 'a'],
  )
})

test('an item fails only if it fails alone', async () => {
  const bad = fc.uniqueArray(fc.nat({ max: 19 }))
  await fc.assert(
    fc.asyncProperty(bad, async (failing) => {
      const keep = batch<number, number>({
        maxGroups: 1,
        maxGroupSize: 20,
        work: async (_key, items) => {
          await turn()
          if (items.some((item) => failing.includes(item))) throw new Error('refused')
          return items
        },
        isRolledBack: () => true,
      })
      const answers = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => keep('a', n)))
      for (const [n, { status }] of answers.entries()) {
        assert.equal(status, failing.includes(n) ? 'rejected' : 'fulfilled')
      }
    }),
    { numRuns: 50 },
  )
})

test('a group with an unknown result is not retried', async () => {
  let maxGroups = 0
  const lost = batch<number, number>({
    maxGroups: 1,
    maxGroupSize: 10,
    work: async () => {
      maxGroups++
      await turn()
      throw new Error('the connection broke')
    },
    isRolledBack: () => false,
  })
  const answers = await Promise.allSettled([1, 2, 3].map((n) => lost('a', n)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
  assert.equal(maxGroups, 2)
})

test('a database or rule error means rolled back; a broken connection does not', async () => {
  const { db } = await testDatabase()
  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => assert.fail('it should fail'),
      (error: unknown) => error,
    )
  assert.equal(isRolledBack(await failureOf(db.sql`select 1 / 0`)), true)
  assert.equal(isRolledBack(conflict('taken')), true)
  assert.equal(isRolledBack(await failureOf(db.sql`select pg_terminate_backend(pg_backend_pid())`)), false)
  const nowhere = openDb({ socketFolder: '/nowhere', maxConnections: 1, connectTimeoutMs: 10 })
  assert.equal(isRolledBack(await failureOf(nowhere.sql`select 1`)), false)
  await nowhere.close()
})

test('while the database is unavailable, items that have waited too long fail with the same error, and no group is retried', async (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const begun: { items: readonly number[]; end: PromiseWithResolvers<void> }[] = []
  const ask = batch<number, number>({
    maxGroups: 1,
    maxGroupSize: 10,
    work: async (_, items) => {
      const group = { items, end: Promise.withResolvers<void>() }
      begun.push(group)
      await group.end.promise
      return items
    },
    isRolledBack: () => true,
  })
  const outcomes: string[] = []
  const noting = (n: number) =>
    ask('a', n).then(
      () => outcomes.push(`${n} done`),
      (error) => outcomes.push(`${n} ${error.code ?? error.message}`),
    )
  void noting(1)
  void noting(2)
  nowMs = 13_000
  void noting(3)
  nowMs = 16_000
  begun[0]?.end.reject(new NoConnection())
  await turn()
  assert.deepEqual(outcomes, ['1 NO_CONNECTION', '2 NO_CONNECTION'])
  assert.deepEqual(begun[1]?.items, [3])
  for (const n of [4, 5]) void noting(n)
  begun[1]?.end.resolve()
  await turn()
  nowMs = 26_000
  begun[2]?.end.reject(new NoConnection())
  await turn()
  assert.deepEqual(outcomes.slice(2), ['3 done', '4 NO_CONNECTION', '5 NO_CONNECTION'])
  for (const n of [6, 7, 8]) void noting(n)
  begun[3]?.end.resolve()
  await turn()
  nowMs = 36_000
  begun[4]?.end.reject(new Error('a bad item'))
  await turn()
  assert.deepEqual(
    begun.slice(5).map(({ items }) => items),
    [[7], [8]],
  )
})

test('a group uses the wait budget of its longest waiter, and its duration counts against the budget of each item', async (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const ends: (() => void)[] = []
  const waited: (number | undefined)[] = []
  const keep = batch<number, number>({
    maxGroups: 1,
    maxGroupSize: 10,
    work: async (_key, items) => {
      waited.push(currentContext().waitBudget?.ms(nowMs))
      await new Promise<void>((resolve) => ends.push(resolve))
      return items
    },
    isRolledBack: () => false,
  })
  const [first, second, third] = [requestContext(''), requestContext(''), requestContext('')]
  const answers = [runInContext(first, () => keep('a', 1))]
  nowMs = 1_000
  answers.push(runInContext(second, () => keep('a', 2)))
  nowMs = 3_000
  answers.push(runInContext(third, () => keep('a', 3)))
  nowMs = 4_000
  ends.shift()?.()
  await turn()
  nowMs = 9_000
  ends.shift()?.()
  assert.deepEqual(await Promise.all(answers), [1, 2, 3])
  assert.deepEqual(waited, [0, 3_000])
  const sums = [first, second, third].map(({ waitBudget }) => waitBudget?.ms(nowMs))
  assert.deepEqual(sums, [4_000, 8_000, 6_000])
  // Background work has no time limit.
  const unasked = keep('a', 4)
  ends.shift()?.()
  await unasked
  assert.equal(waited.at(-1), undefined)
})
