import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { singleFlight, singleFlightByKey } from '../../../src/base/async/batch.ts'
import { NoConnection } from '../../../src/base/postgres/failures.ts'

test('concurrent calls share a run, but never one that started before them', async () => {
  const ends: ((n: number) => void)[] = []
  const ask = singleFlight(() => new Promise<number>((resolve) => ends.push(resolve)))
  const first = ask()
  const [second, third] = [ask(), ask()]
  assert.equal(ends.length, 1)
  ends[0]?.(1)
  assert.equal(await first, 1)
  await turn()
  assert.equal(ends.length, 2)
  const fourth = ask()
  ends[1]?.(2)
  assert.deepEqual(await Promise.all([second, third]), [2, 2])
  await turn()
  ends[2]?.(3)
  assert.equal(await fourth, 3)
})

test('a failed run rejects only the calls that share it', async () => {
  let fails = true
  const ask = singleFlight(async () => {
    if (fails) throw new Error('away')
    return 'here'
  })
  const before = Promise.allSettled([ask(), ask(), ask()])
  await turn()
  fails = false
  assert.equal(await ask(), 'here')
  assert.deepEqual(
    (await before).map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  )
})

test('keys are independent, and an idle one runs at once', async () => {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const ask = singleFlightByKey((key) => {
    begun.push(key)
    return new Promise<void>((resolve) => ends.set(key, resolve))
  })
  const asked = [ask('a'), ask('b'), ask('a')]
  assert.deepEqual(begun, ['a', 'b'])
  ends.get('a')?.()
  await turn()
  assert.deepEqual(begun, ['a', 'b', 'a'])
  for (const end of ends.values()) end()
  await Promise.all(asked)
  void ask('a')
  assert.deepEqual(begun, ['a', 'b', 'a', 'a'])
})

test('a call that has waited too long behind a failed run gets its error, and a later call starts a new run', async (t) => {
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const runs: PromiseWithResolvers<string>[] = []
  const ask = singleFlight(() => {
    const run = Promise.withResolvers<string>()
    runs.push(run)
    return run.promise
  })
  const [first, second] = [ask(), ask()].map((asked) => asked.catch((error) => error.code))
  nowMs = 16_000
  runs[0]?.reject(new NoConnection())
  assert.deepEqual([await first, await second], ['NO_CONNECTION', 'NO_CONNECTION'])
  assert.equal(runs.length, 1)
  const third = ask()
  const fourth = ask()
  runs[1]?.reject(new NoConnection())
  await assert.rejects(third)
  await turn()
  runs[2]?.resolve('here')
  assert.equal(await fourth, 'here')
})
