import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Chore, type ChoreDeps, createChores } from '../../src/base/chores.ts'
import { manualClock } from '../../src/base/clock.ts'
import { openDb } from '../../src/base/db.ts'
import { createLog } from '../../src/base/log.ts'
import { statementCountOf, testDatabase } from '../support/database.ts'
import { atEnd } from '../support/file-end.ts'
import { testNoon } from '../support/world.ts'

const hourMs = 3_600_000
let count = 0
/** The database is shared by the tests of this file. */
const freshName = () => `chore-${++count}`

async function deps(): Promise<ChoreDeps & { clock: ReturnType<typeof manualClock> }> {
  const { db } = await testDatabase()
  return { db, clock: manualClock(testNoon), log: createLog('silent') }
}

test('however many processes look, each period sees one run of each chore', async () => {
  const own = await deps()
  const { options } = await testDatabase()
  const other = openDb({ ...options, maxConnections: 3 })
  atEnd(() => other.close())
  const runs = new Map<string, number>()
  const chores = [3_000, 5_000, hourMs].map((everyMs): Chore => {
    const name = freshName()
    const work = async () => runs.set(name, (runs.get(name) ?? 0) + 1).size
    return { name, everyMs, work }
  })
  const processes = Array.from({ length: 5 }, (_, n) =>
    createChores({ ...own, db: n % 2 === 0 ? own.db : other }, chores),
  )
  for (let second = 0; second < 60; second++) {
    await Promise.all(processes.map(({ begin }) => begin()))
    await Promise.all(processes.map(({ idle }) => idle()))
    own.clock.advance(1_000)
  }
  assert.deepEqual([...runs.values()], [20, 12, 1])
})

test('a chore is due at once when nobody has done it, and not before its period has passed', async () => {
  const own = await deps()
  let runs = 0
  const chores = createChores(own, [{ name: freshName(), everyMs: hourMs, work: async () => ++runs }])
  const look = async () => {
    await chores.begin()
    await chores.idle()
    return runs
  }
  assert.equal(await look(), 1)
  own.clock.advance(hourMs - 1)
  assert.equal(await look(), 1)
  own.clock.advance(1)
  assert.equal(await look(), 2)
})

test('a run that dies with its process is not made up for, and the next period has its own', async () => {
  const own = await deps()
  const name = freshName()
  const dying = createChores(own, [{ name, everyMs: hourMs, work: () => new Promise(() => {}) }])
  await dying.begin()
  let runs = 0
  const living = createChores(own, [{ name, everyMs: hourMs, work: async () => ++runs }])
  own.clock.advance(hourMs - 1)
  await living.begin()
  assert.equal(runs, 0)
  own.clock.advance(1)
  await living.begin()
  await living.idle()
  assert.equal(runs, 1)
})

test('a chore that takes longer than its period is not begun a second time beside itself', async () => {
  const own = await deps()
  const { promise, resolve } = Promise.withResolvers<number>()
  let runs = 0
  const work = () => {
    runs++
    return promise
  }
  const chores = createChores(own, [{ name: freshName(), everyMs: 3_000, work }])
  await chores.begin()
  own.clock.advance(10_000)
  await chores.begin()
  assert.equal(runs, 1)
  resolve(1)
  await chores.idle()
  await chores.begin()
  assert.equal(runs, 2)
})

test('a chore that fails is told, holds up no other, and has its next turn', async () => {
  const own = await deps()
  const told: string[] = []
  const [bad, good] = [freshName(), freshName()]
  const fail = async () => {
    throw new Error('no')
  }
  const chores = createChores({ ...own, ran: (name, result) => told.push(`${name} ${result}`) }, [
    { name: bad, everyMs: 3_000, work: fail },
    { name: good, everyMs: 3_000, work: async () => 0 },
  ])
  for (let turn = 0; turn < 2; turn++) {
    await chores.begin()
    await chores.idle()
    own.clock.advance(3_000)
  }
  const each = [`${bad} failed`, `${good} done`]
  assert.deepEqual(told.sort(), [...each, ...each].sort())
})

test('a clock that was set back does not hold a chore up', async () => {
  const own = await deps()
  let runs = 0
  const chores = createChores(own, [{ name: freshName(), everyMs: 3_000, work: async () => ++runs }])
  own.clock.advance(25 * hourMs)
  await chores.begin()
  await chores.idle()
  own.clock.set(testNoon)
  await chores.begin()
  await chores.idle()
  assert.equal(runs, 2)
})

test('nobody asks for a turn before it can have come, nor for that of a chore that is not due', async () => {
  const own = await deps()
  const state = { isDue: false, runs: 0 }
  const chore = { name: freshName(), everyMs: 3_000, isDue: () => state.isDue, work: async () => ++state.runs }
  const hourly = { name: freshName(), everyMs: hourMs, work: async () => 0 }
  const processes = [1, 2].map(() => createChores(own, [chore, hourly]))
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      for (const { begin, idle } of processes) {
        await begin()
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

test('a chore that cannot say whether it is due is told of, and holds up no other', async () => {
  const own = await deps()
  let runs = 0
  const isDue = async () => {
    throw new Error('away')
  }
  const chores = createChores(own, [
    { name: freshName(), everyMs: 3_000, isDue, work: async () => 0 },
    { name: freshName(), everyMs: 3_000, work: async () => ++runs },
  ])
  await assert.rejects(chores.begin(), /away/)
  await chores.idle()
  assert.equal(runs, 1)
})
