import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { limitConcurrency } from '../../../src/base/async/concurrency-limit.ts'

/** Begins so many works, each of which ends when its test lets it. */
function begin(count: number, limit: Parameters<typeof limitConcurrency>[0]) {
  const inTurn = limitConcurrency(limit)
  const begun: number[] = []
  const ends = Array.from({ length: count }, () => Promise.withResolvers<void>())
  const results = ends.map((end, n) =>
    inTurn(async () => {
      begun.push(n)
      await end.promise
      return n
    }),
  )
  return { begun, ends, results: Promise.allSettled(results) }
}

for (const how of ['resolve', 'reject'] as const) {
  test(`so many run at a time, the others in their order; those that ${how} let the next one go`, async () => {
    const { begun, ends, results } = begin(4, { atOnce: 2 })
    await turn()
    assert.deepEqual(begun, [0, 1])
    ends[1]?.[how]()
    await turn()
    assert.deepEqual(begun, [0, 1, 2])
    for (const end of ends) end.resolve()
    const statuses = (await results).map(({ status }) => status)
    assert.deepEqual([begun.length, statuses.filter((one) => one === 'rejected').length], [4, how === 'reject' ? 1 : 0])
  })
}

test('who comes while the next in line is called does not slip in before it', async () => {
  const inTurn = limitConcurrency({ atOnce: 1 })
  const begun: string[] = []
  const end = Promise.withResolvers<void>()
  const first = inTurn(() => end.promise)
  const second = inTurn(async () => void begun.push('second'))
  const third = first.then(() => inTurn(async () => void begun.push('third')))
  end.resolve()
  await Promise.all([second, third])
  assert.deepEqual(begun, ['second', 'third'])
})

test('who comes when so many wait is refused at once, and runs nothing', async () => {
  const { begun, ends, results } = begin(4, { atOnce: 1, maxWaiting: 2, refusal: () => new Error('full') })
  for (const end of ends) end.resolve()
  const [last] = (await results).slice(-1)
  assert.deepEqual(begun, [0, 1, 2])
  assert.match(String(last?.status === 'rejected' && last.reason), /full/)
})
