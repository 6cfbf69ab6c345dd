import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { allowTime, type Db, openDb } from '../../../src/base/db.ts'
import { takeTime, within, workAtDoor } from '../../../src/base/shares/work.ts'
import { emptyDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-end.ts'
import { databaseByProxy } from '../../support/postgres/cutting-proxy.ts'
import { until } from '../../support/until.ts'

/** Longer than the pool takes to look whether somebody is silent. */
const long = 'pg_sleep(2.3)'

async function proxied(silenceMs: number) {
  const { options } = await emptyDatabase()
  const { proxy, options: byProxy } = await databaseByProxy(options)
  const db = openDb({ ...byProxy, maxConnections: 3, silenceMs })
  atEnd(() => db.close())
  return { db, proxy }
}

/** The sessions behind so many transactions that are open at the same time. */
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

test('when one session is silent, those that nobody asks are given up with it: they lead to the same server', async () => {
  const { db, proxy } = await proxied(50)
  const old = await pidsOf(db, 3)
  proxy.silence(true)
  await assert.rejects(async () => db.sql`select 1`, { code: 'CONNECTION_LOST' })
  proxy.silence(false)
  const fresh = await pidsOf(db, 3)
  assert.deepEqual(
    fresh.filter((pid) => old.includes(pid)),
    [],
  )
})

test('a transaction that has asked for more time is not taken for silent, and the next on its session is again', async () => {
  const { db } = await proxied(100)
  await db.tx(async (tx) => {
    await allowTime(tx, 60_000)
    await tx.unsafe(`select ${long}`, [])
  })
  await assert.rejects(async () => db.sql.unsafe(`select ${long}`, []), { code: 'CONNECTION_LOST' })
  assert.equal((await db.sql`select 1`).length, 1)
})

const ways: [what: string, ask: (db: Db) => Promise<unknown>][] = [
  ['transaction', (db) => db.tx(async (tx) => tx`select 1`)],
  ['statement', async (db) => db.sql`select 1`],
]

for (const [what, ask] of ways) {
  test(`a ${what} that has waited for a connection for long has so much less time for its answer`, async (t) => {
    const { db, proxy } = await proxied(12_000)
    await pidsOf(db, 3)
    const ahead = clockAhead(t)
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const inside = [1, 2, 3].map(() => Promise.withResolvers<void>())
    const holders = inside.map(({ resolve }) =>
      db.tx(async () => {
        resolve()
        await held
      }),
    )
    await Promise.all(inside.map(({ promise }) => promise))
    const ended = within(workAtDoor('x'), () => ask(db)).then(
      () => 'answered',
      (error) => error.code,
    )
    await until(() => db.load().waiting === 1, 'one who waits')
    proxy.silence(true)
    const before = proxy.asked()
    ahead(10_000)
    release()
    await Promise.all(holders)
    await until(() => proxy.asked() > before, 'a question')
    // Nine and a half of the ten seconds are taken off the twelve, but never below four.
    ahead(5_500)
    assert.equal(await Promise.race([ended, looks()]), 'CONNECTION_LOST')
  })
}

test('what a request has waited for before is taken off the time for an answer, and what others have is not', async (t) => {
  const { db, proxy } = await proxied(12_000)
  await pidsOf(db, 3)
  const ahead = clockAhead(t)
  const codes = (run: () => Promise<unknown>) => run().then(() => 'answered', errorCode)
  const request = () => {
    const work = workAtDoor('x')
    return <T>(run: () => Promise<T>) => within(work, run)
  }
  const [slow, quick] = [request(), request()]
  await slow(() => db.tx(async (tx) => tx`select 1`.then(() => ahead(8_000))))
  await quick(async () => db.sql`select 1`)
  proxy.silence(true)
  const before = proxy.asked()
  const ofSlow = slow(() => codes(async () => db.tx(async (tx) => tx`select 1`)))
  const ofQuick = quick(() => codes(async () => db.tx(async (tx) => tx`select 1`)))
  await until(() => proxy.asked() >= before + 2, 'both questions')
  ahead(6_000)
  assert.equal(await Promise.race([ofSlow, looks()]), 'CONNECTION_LOST')
  assert.equal(await Promise.race([ofQuick, looks()]), 'waits')
  ahead(6_000)
  assert.equal(await ofQuick, 'CONNECTION_LOST')
})

test('the statements of a transaction have little more together than one of them, unless nobody waits for its answer', async (t) => {
  const { db } = await proxied(12_000)
  const ahead = clockAhead(t)
  const inTwo = () =>
    db.tx(async (tx) => {
      await tx`select 1`
      ahead(16_000)
      return tx.unsafe(`select ${long}`, [])
    })
  assert.equal(await within(workAtDoor('x'), inTwo).then(() => 'answered', errorCode), 'CONNECTION_LOST')
  const whoseAnswerHasBegun = () => {
    takeTime()
    return inTwo()
  }
  assert.equal(await within(workAtDoor('x'), whoseAnswerHasBegun).then(() => 'answered', errorCode), 'answered')
  assert.equal(await inTwo().then(() => 'answered', errorCode), 'answered')
})

const errorCode = (error: { code?: string }) => error.code

/** Puts the clock forward, by so much each time. */
function clockAhead(t: TestContext): (ms: number) => void {
  const now = performance.now.bind(performance)
  let aheadMs = 0
  t.mock.method(performance, 'now', () => now() + aheadMs)
  return (ms) => {
    aheadMs += ms
  }
}

/** Resolves when the pool has had time to look. */
const looks = () => setTimeout(3_000, 'waits')
