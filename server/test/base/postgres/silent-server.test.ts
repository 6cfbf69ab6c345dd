import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Db, openDb, setStatementTimeout, type Tx } from '../../../src/base/db.ts'
import { requestContext, runInContext, stopWaitBudget } from '../../../src/base/scheduling/work-context.ts'
import { emptyDatabase } from '../../support/database.ts'
import { atEnd, oncePerFile } from '../../support/file-lifecycle.ts'
import { databaseByProxy } from '../../support/postgres/cutting-proxy.ts'
import { until } from '../../support/until.ts'

const silenceMs = 12_000
const database = oncePerFile(emptyDatabase)

/** A pool behind a proxy that can withhold the server's answers. The test controls the pool's clock. */
async function world(t: TestContext, maxConnections = 3) {
  const { db: direct, options } = await database()
  const { proxy, options: byProxy } = await databaseByProxy(options)
  const now = performance.now.bind(performance)
  let aheadMs = 0
  t.mock.method(performance, 'now', () => now() + aheadMs)
  t.mock.timers.enable({ apis: ['setInterval'] })
  const db = openDb({ ...byProxy, maxConnections, silenceMs })
  atEnd(() => db.close())
  /** The pool checks for silent sessions at the end of this time. */
  const pass = (ms: number) => {
    aheadMs += ms
    t.mock.timers.tick(1_000)
  }
  /** Runs `ask` against a silent server, advances the clock after it was sent, and returns its result so far. */
  const askInSilence = async (ask: () => Promise<unknown>, ms: number) => {
    const before = proxy.clientBytes()
    proxy.silence(true)
    const ended = outcomeOf(ask())
    await until(() => proxy.clientBytes() > before, 'the question')
    pass(ms)
    const outcome = await soon(ended)
    proxy.silence(false)
    return outcome
  }
  /** The same with a server that responds: the last statement waits for a lock. */
  const askBlocked = async (ask: (block: (tx: Tx) => Promise<unknown>) => Promise<unknown>, ms: number) => {
    const [isHeld, isOver] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const holding = direct.tx(async (tx) => {
      await tx`select pg_advisory_xact_lock(1)`
      isHeld.resolve()
      await isOver.promise
    })
    await isHeld.promise
    const ended = outcomeOf(ask(async (tx) => tx`select pg_advisory_xact_lock(1)`))
    const waiting = () => direct.sql`select from pg_locks where locktype = 'advisory' and not granted`
    await until(async () => (await waiting()).length === 1, 'the wait for the lock')
    pass(ms)
    await nextTurn()
    isOver.resolve()
    await holding
    return ended
  }
  return { db, proxy, pass, askInSilence, askBlocked }
}

const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'answered',
    (error) => error.code,
  )

const soon = (ended: Promise<string>) => Promise.race([ended, nextTurn('waits')])

/** Returns the sessions of this many open transactions. */
async function pidsOf(db: Db, count: number): Promise<number[]> {
  const all = Promise.withResolvers<void>()
  let left = count
  const inside = () =>
    db.tx(async (tx) => {
      const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
      if (--left === 0) all.resolve()
      await all.promise
      return row?.pid ?? 0
    })
  return Promise.all(Array.from({ length: count }, inside))
}

const ways: [what: string, ask: (db: Db) => Promise<unknown>][] = [
  ['transaction', (db) => db.tx(async (tx) => tx`select 1`)],
  ['statement', async (db) => db.sql`select 1`],
]

test('when one session is silent, idle ones are closed too: they lead to the same server', async (t) => {
  const { db, askInSilence } = await world(t)
  const old = await pidsOf(db, 3)
  assert.equal(await askInSilence(async () => db.sql`select 1`, silenceMs + 1_000), 'CONNECTION_LOST')
  const fresh = await pidsOf(db, 3)
  assert.deepEqual(
    fresh.filter((pid) => old.includes(pid)),
    [],
  )
})

for (const [what, ask] of ways) {
  test(`a ${what} waits for a silent server once, and not again for each attempt`, async (t) => {
    const { db, proxy, askInSilence } = await world(t, 1)
    await db.sql`select 1`
    const connections = proxy.accepted()
    assert.equal(await askInSilence(() => ask(db), silenceMs + 1_000), 'CONNECTION_LOST')
    await db.sql`select 1`
    assert.equal(proxy.accepted() - connections, 1)
  })

  test(`a ${what} that has waited long for a connection has less time for its answer`, async (t) => {
    const { db, proxy, pass } = await world(t)
    await pidsOf(db, 3)
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const inside = [1, 2, 3].map(() => Promise.withResolvers<void>())
    const holders = inside.map(({ resolve }) =>
      db.tx(async () => {
        resolve()
        await held
      }),
    )
    await Promise.all(inside.map(({ promise }) => promise))
    const ended = outcomeOf(runInContext(requestContext('x'), () => ask(db)))
    await until(() => db.load().waiting === 1, 'one who waits')
    proxy.silence(true)
    const before = proxy.clientBytes()
    pass(10_000)
    release()
    await Promise.all(holders)
    await until(() => proxy.clientBytes() > before, 'a question')
    // Nine and a half of the ten seconds are subtracted from the twelve, with a minimum of four.
    pass(5_500)
    assert.equal(await soon(ended), 'CONNECTION_LOST')
  })
}

test('an extended statement timeout also extends the silence timeout, for that transaction only', async (t) => {
  const { db, askBlocked } = await world(t)
  const patient = askBlocked(
    (block) =>
      db.tx(async (tx) => {
        await setStatementTimeout(tx, 60_000)
        await block(tx)
      }),
    50_000,
  )
  assert.equal(await patient, 'answered')
  assert.equal(await askBlocked((block) => db.tx(block), 16_000), 'CONNECTION_LOST')
  assert.equal((await db.sql`select 1`).length, 1)
})

test('the time that a request has waited is subtracted from its answer timeout, and from no other', async (t) => {
  const { db, proxy, pass } = await world(t)
  await pidsOf(db, 3)
  const request = () => {
    const work = requestContext('x')
    return <T>(run: () => Promise<T>) => runInContext(work, run)
  }
  const [slow, quick] = [request(), request()]
  await slow(() => db.tx(async (tx) => tx`select 1`.then(() => pass(8_000))))
  await quick(async () => db.sql`select 1`)
  proxy.silence(true)
  const before = proxy.clientBytes()
  const [ofSlow, ofQuick] = [slow, quick].map((within) =>
    within(() => outcomeOf(db.tx(async (tx) => tx`select 1`))),
  ) as [Promise<string>, Promise<string>]
  await until(() => proxy.clientBytes() >= before + 2, 'both questions')
  pass(6_000)
  assert.deepEqual([await soon(ofSlow), await soon(ofQuick)], ['CONNECTION_LOST', 'waits'])
  pass(6_000)
  assert.equal(await ofQuick, 'CONNECTION_LOST')
})

test('all statements of a transaction together have little more time than one, unless no caller waits', async (t) => {
  const { db, pass, askBlocked } = await world(t)
  const inTwo = (block: (tx: Tx) => Promise<unknown>) =>
    db.tx(async (tx) => {
      await tx`select 1`
      pass(16_000)
      return block(tx)
    })
  const atDoor = (prepare: () => void) =>
    askBlocked(
      (block) =>
        runInContext(requestContext('x'), () => {
          prepare()
          return inTwo(block)
        }),
      1,
    )
  assert.equal(await atDoor(() => {}), 'CONNECTION_LOST')
  assert.equal(await atDoor(stopWaitBudget), 'answered', 'its answer has begun')
  assert.equal(await askBlocked(inTwo, 1), 'answered')
})
