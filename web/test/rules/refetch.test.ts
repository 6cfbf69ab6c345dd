import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { refetchQueries, restartQueries } from '../../src/api/refetch.ts'
import { throttle, throttleBatches } from '../../src/api/throttle.ts'

const queryKey = ['inbox']

test('events faster than responses do not keep responses from being shown, and the last one is fetched', async (t) => {
  const { queries, readings, shown } = observedQuery(t)
  readings[0]?.resolve('as it began')
  await settled()
  const events = [refetchQueries(queries, queryKey)]
  await settled()
  for (let n = 0; n < 20; n++) events.push(refetchQueries(queries, queryKey))
  await settled()
  assert.equal(readings.length, 2)

  readings[1]?.resolve('after the first')
  await settled()
  assert.equal(shown(), 'after the first')
  // The 19 calls meanwhile share one request, which started after them.
  assert.equal(readings.length, 3)
  readings[2]?.resolve('after the last')
  await Promise.all(events)
  assert.equal(shown(), 'after the last')
  assert.equal(readings.length, 3)
})

test('a first fetch is repeated if an event arrives meanwhile', async (t) => {
  const { queries, readings, shown } = observedQuery(t)
  const events = refetchQueries(queries, queryKey)
  readings[0]?.resolve('perhaps older than the message')
  await settled()
  readings[1]?.resolve('as it is')
  await events
  assert.equal(shown(), 'as it is')
})

test('after a break nothing waits for a response that may never come', async (t) => {
  const { queries, readings, shown } = observedQuery(t)
  readings[0]?.resolve('before')
  await settled()
  void refetchQueries(queries, queryKey)
  await settled()
  const back = restartQueries(queries, queryKey)
  await settled()
  readings[2]?.resolve('after the break')
  await back
  assert.equal(shown(), 'after the break')
})

test('calls during a run or the pause cause one more run, after a pause as long as the run and at least the interval', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const runs: PromiseWithResolvers<void>[] = []
  const ask = throttle(250, () => {
    const run = Promise.withResolvers<void>()
    runs.push(run)
    return run.promise
  })
  const pass = async (ms: number) => {
    now += ms
    t.mock.timers.tick(ms)
    await settled()
  }
  const end = async (n: number) => {
    runs[n]?.resolve()
    await settled()
  }

  ask()
  assert.equal(runs.length, 1)
  for (let n = 0; n < 10; n++) ask()
  await pass(40)
  await end(0)
  await pass(249)
  assert.equal(runs.length, 1)
  await pass(1)
  assert.equal(runs.length, 2)

  // The pause is as long as a slow request took.
  ask()
  await pass(2_000)
  await end(1)
  await pass(1_999)
  assert.equal(runs.length, 2)
  await pass(1)
  assert.equal(runs.length, 3)

  // No calls since.
  await end(2)
  await pass(10_000)
  assert.equal(runs.length, 3)
})

test('in busy moments the newest item of each id is passed on in a batch at the end, and the first at once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const taken: string[][] = []
  const gathering = throttleBatches<string>(100, (items) => taken.push([...items]))
  gathering.add('ana', 'ana 1')
  assert.deepEqual(taken, [['ana 1']])
  for (const [id, item] of [
    ['ana', 'ana 2'],
    ['rui', 'rui 1'],
    ['eva', 'eva 1'],
    ['ana', 'ana 3'],
  ] as const) {
    gathering.add(id, item)
  }
  gathering.remove('rui')
  await settled()
  t.mock.timers.tick(99)
  assert.equal(taken.length, 1)
  t.mock.timers.tick(1)
  assert.deepEqual(taken[1], ['eva 1', 'ana 3'])
  await settled()
  t.mock.timers.tick(1_000)
  assert.equal(taken.length, 2)
})

/** Observes a query whose responses the test controls. */
function observedQuery(t: TestContext) {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  const readings: PromiseWithResolvers<string>[] = []
  const queryFn = () => {
    const reading = Promise.withResolvers<string>()
    readings.push(reading)
    return reading.promise
  }
  t.after(new QueryObserver(queries, { queryKey, queryFn, gcTime: Number.POSITIVE_INFINITY }).subscribe(() => {}))
  return { queries, readings, shown: () => queries.getQueryData<string>(queryKey) }
}

/** Runs all pending microtasks. */
const settled = () => new Promise((resolve) => setImmediate(resolve))
