import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualClock } from '../../src/base/clock.ts'
import { openDb } from '../../src/base/db.ts'
import { createLog } from '../../src/base/log.ts'
import { createScheduledJobs, type ScheduledJob, type ScheduledJobDeps } from '../../src/base/scheduled-jobs.ts'
import { statementCountOf, testDatabase } from '../support/database.ts'
import { atEnd } from '../support/file-lifecycle.ts'
import { testNoon } from '../support/world.ts'

const hourMs = 3_600_000
let count = 0
/** The database is shared by the tests of this file. */
const freshName = () => `chore-${++count}`

async function deps(): Promise<ScheduledJobDeps & { clock: ReturnType<typeof manualClock> }> {
  const { db } = await testDatabase()
  return { db, clock: manualClock(testNoon), log: createLog('silent') }
}

test('each period has one run of each job, however many processes poll', async () => {
  const own = await deps()
  const { options } = await testDatabase()
  const other = openDb({ ...options, maxConnections: 3 })
  atEnd(() => other.close())
  const runs = new Map<string, number>()
  const jobs = [3_000, 5_000, hourMs].map((everyMs): ScheduledJob => {
    const name = freshName()
    const work = async () => runs.set(name, (runs.get(name) ?? 0) + 1).size
    return { name, everyMs, work }
  })
  const processes = Array.from({ length: 5 }, (_, n) =>
    createScheduledJobs({ ...own, db: n % 2 === 0 ? own.db : other }, jobs),
  )
  for (let second = 0; second < 60; second++) {
    await Promise.all(processes.map(({ startDue }) => startDue()))
    await Promise.all(processes.map(({ idle }) => idle()))
    own.clock.advance(1_000)
  }
  assert.deepEqual([...runs.values()], [20, 12, 1])
})

test('a job that never ran is due at once, and otherwise after its period', async () => {
  const own = await deps()
  let runs = 0
  const jobs = createScheduledJobs(own, [{ name: freshName(), everyMs: hourMs, work: async () => ++runs }])
  const look = async () => {
    await jobs.startDue()
    await jobs.idle()
    return runs
  }
  assert.equal(await look(), 1)
  own.clock.advance(hourMs - 1)
  assert.equal(await look(), 1)
  own.clock.advance(1)
  assert.equal(await look(), 2)
})

test('a run that dies with its process is not repeated, and the next period has its own', async () => {
  const own = await deps()
  const name = freshName()
  const dying = createScheduledJobs(own, [{ name, everyMs: hourMs, work: () => new Promise(() => {}) }])
  await dying.startDue()
  let runs = 0
  const living = createScheduledJobs(own, [{ name, everyMs: hourMs, work: async () => ++runs }])
  own.clock.advance(hourMs - 1)
  await living.startDue()
  assert.equal(runs, 0)
  own.clock.advance(1)
  await living.startDue()
  await living.idle()
  assert.equal(runs, 1)
})

test('a job that takes longer than its period does not overlap with itself', async () => {
  const own = await deps()
  const { promise, resolve } = Promise.withResolvers<number>()
  let runs = 0
  const work = () => {
    runs++
    return promise
  }
  const jobs = createScheduledJobs(own, [{ name: freshName(), everyMs: 3_000, work }])
  await jobs.startDue()
  own.clock.advance(10_000)
  await jobs.startDue()
  assert.equal(runs, 1)
  resolve(1)
  await jobs.idle()
  await jobs.startDue()
  assert.equal(runs, 2)
})

test('a failed job is logged, delays no other job and runs again in its next period', async () => {
  const own = await deps()
  const told: string[] = []
  const [bad, good] = [freshName(), freshName()]
  const fail = async () => {
    throw new Error('no')
  }
  const jobs = createScheduledJobs({ ...own, onRun: (name, result) => told.push(`${name} ${result}`) }, [
    { name: bad, everyMs: 3_000, work: fail },
    { name: good, everyMs: 3_000, work: async () => 0 },
  ])
  for (let turn = 0; turn < 2; turn++) {
    await jobs.startDue()
    await jobs.idle()
    own.clock.advance(3_000)
  }
  const each = [`${bad} failed`, `${good} done`]
  assert.deepEqual(told.sort(), [...each, ...each].sort())
})

test('a clock that was set back does not delay a job', async () => {
  const own = await deps()
  let runs = 0
  const jobs = createScheduledJobs(own, [{ name: freshName(), everyMs: 3_000, work: async () => ++runs }])
  own.clock.advance(25 * hourMs)
  await jobs.startDue()
  await jobs.idle()
  own.clock.set(testNoon)
  await jobs.startDue()
  await jobs.idle()
  assert.equal(runs, 2)
})

test('the database is not queried before a job can be due, nor for a job without work', async () => {
  const own = await deps()
  const state = { isDue: false, runs: 0 }
  const chore = { name: freshName(), everyMs: 3_000, isDue: () => state.isDue, work: async () => ++state.runs }
  const hourly = { name: freshName(), everyMs: hourMs, work: async () => 0 }
  const processes = [1, 2].map(() => createScheduledJobs(own, [chore, hourly]))
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      for (const { startDue, idle } of processes) {
        await startDue()
        await idle()
      }
      own.clock.advance(1_000)
    }
  }
  await pass(10)
  assert.equal(await statementCountOf(() => pass(60)), 0)
  state.isDue = true
  await pass(30)
  assert.equal(state.runs, 10)
})

test('a job whose isDue throws is reported and delays no other', async () => {
  const own = await deps()
  let runs = 0
  const isDue = async () => {
    throw new Error('away')
  }
  const jobs = createScheduledJobs(own, [
    { name: freshName(), everyMs: 3_000, isDue, work: async () => 0 },
    { name: freshName(), everyMs: 3_000, work: async () => ++runs },
  ])
  await assert.rejects(jobs.startDue(), /away/)
  await jobs.idle()
  assert.equal(runs, 1)
})
