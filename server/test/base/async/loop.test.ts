import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { startLoop } from '../../../src/base/async/loop.ts'

const neverFails = () => assert.fail('no run fails here')
const times = { firstAfterMs: 10, pauseMs: 100 }

test('runs never overlap: the pause starts at the end of a run', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const runs: PromiseWithResolvers<void>[] = []
  const work = () => {
    const run = Promise.withResolvers<void>()
    runs.push(run)
    return run.promise
  }
  const loop = startLoop(times, work, neverFails)
  t.mock.timers.tick(10)
  t.mock.timers.tick(1000)
  assert.equal(runs.length, 1)
  runs[0]?.resolve()
  await turn()
  t.mock.timers.tick(99)
  assert.equal(runs.length, 1)
  t.mock.timers.tick(1)
  assert.equal(runs.length, 2)
  runs[1]?.resolve()
  await loop.stop()
})

test('a failed run is reported and the loop continues', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const errors: unknown[] = []
  let runs = 0
  const failing = async () => {
    runs++
    throw new Error('no')
  }
  const loop = startLoop(times, failing, (error) => errors.push(error))
  t.mock.timers.tick(10)
  await turn()
  t.mock.timers.tick(100)
  await turn()
  assert.deepEqual([runs, errors.length], [2, 2])
  await loop.stop()
})

test('stop waits for the current run and starts no more', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const run = Promise.withResolvers<void>()
  let runs = 0
  const loop = startLoop(
    times,
    () => {
      runs++
      return run.promise
    },
    neverFails,
  )
  t.mock.timers.tick(10)
  let stopped = false
  const stopping = loop.stop().then(() => {
    stopped = true
  })
  await turn()
  assert.equal(stopped, false)
  run.resolve()
  await stopping
  await turn()
  t.mock.timers.tick(1000)
  assert.equal(runs, 1)
})
