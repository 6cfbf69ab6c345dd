import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowTime, type Db, openDb } from '../../../src/base/db.ts'
import { within, workAtDoor } from '../../../src/base/shares/work.ts'
import { emptyDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-end.ts'
import { databaseByProxy } from '../../support/postgres/cutting-proxy.ts'

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

test('whoever has waited for a connection for long has so much less time for its answer', async (t) => {
  const { db, proxy } = await proxied(12_000)
  await pidsOf(db, 3)
  const now = performance.now.bind(performance)
  let aheadMs = 0
  t.mock.method(performance, 'now', () => now() + aheadMs)
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const holders = [1, 2, 3].map(() => db.tx(async () => held))
  const sent = Promise.withResolvers<void>()
  const asked = within(workAtDoor('x'), () =>
    db.tx(async (tx) => {
      const answer = tx`select 1`.execute()
      sent.resolve()
      return answer
    }),
  )
  proxy.silence(true)
  aheadMs = 10_000
  release()
  await Promise.all(holders)
  await sent.promise
  // Seven of the ten seconds are taken off the twelve.
  aheadMs += 5_500
  await assert.rejects(asked, { code: 'CONNECTION_LOST' })
})
