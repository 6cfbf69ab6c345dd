import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { allowTime, type Db, openDb } from '../../../src/base/db.ts'
import { within, workAtDoor } from '../../../src/base/shares/work.ts'
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
    const now = performance.now.bind(performance)
    let aheadMs = 0
    t.mock.method(performance, 'now', () => now() + aheadMs)
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
    aheadMs = 10_000
    release()
    await Promise.all(holders)
    await until(() => proxy.asked() > before, 'a question')
    // Eight of the ten seconds are taken off the twelve.
    aheadMs += 5_500
    assert.equal(await Promise.race([ended, looks()]), 'CONNECTION_LOST')
  })
}

/** Resolves when the pool has had time to look. */
const looks = () => setTimeout(3_000, 'waits')
