import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { manualClock } from '../../../src/base/clock.ts'
import { openDb, RetryTransaction, SecondConnection } from '../../../src/base/db.ts'
import { instanceScope, openKeyStore } from '../../../src/base/encryption/key-store.ts'
import { TooBusy } from '../../../src/base/scheduling/fair-queue.ts'
import { requestContext, runInContext } from '../../../src/base/scheduling/work-context.ts'
import { testDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'

const { db, options } = await testDatabase()
const keyStore = openKeyStore(db, { current: Buffer.alloc(32, 7) }, manualClock(new Date(0)))
await keyStore.ensureInstanceSecrets()
await db.sql`create table if not exists things (id integer primary key, text text)`
await db.sql`insert into things (id, text) values (1, 'a'), (2, 'b')`

/** Another pool on the same database. */
function pool(own: { maxConnections: number; lockTimeoutMs?: number }) {
  const other = openDb({ ...options, ...own })
  atEnd(() => other.close())
  return other
}

const ways: [name: string, use: () => Promise<unknown>][] = [
  ['a statement', async () => db.sql`select 1`],
  ['a statement with a dynamic text', async () => db.sql.unsafe('select 1')],
  ['a statement that writes', () => db.statement((tx) => tx`update things set text = 'c' where id = 1`)],
  ['a transaction', () => db.tx(async () => {})],
  [
    'pages of an answer',
    async () => {
      for await (const rows of db.sql`select 1`.cursor(1)) return rows
    },
  ],
  ['keys, even cached ones', () => keyStore.keyring(instanceScope)],
]

for (const [name, use] of ways) {
  test(`${name} by the pool throws inside a transaction, which is rolled back, and works before and after it`, async () => {
    await use()
    const isRefused = await db
      .tx(async (tx) => {
        await tx`update things set text = 'lost' where id = 2`
        await use()
      })
      .then(
        () => null,
        (error: unknown) => error,
      )
    assert.ok(isRefused instanceof SecondConnection)
    assert.match(isRefused.stack ?? '', /one-connection\.test\.ts/)
    assert.deepEqual([...(await db.sql`select text from things where id = 2`)], [{ text: 'b' }])
    await use()
  })
}

test('work started inside a transaction may use the pool after its end, and a fragment of the pool at any time', async () => {
  const ended = Promise.withResolvers<void>()
  let later: Promise<unknown> = Promise.resolve()
  const rows = await db.tx(async (tx) => {
    later = ended.promise.then(() => db.sql`select 1`)
    return tx`select id from things where ${db.sql`id = 1`}`
  })
  ended.resolve()
  await later
  assert.equal(rows.length, 1)
})

test('another database may be used inside a transaction', async () => {
  const other = pool({ maxConnections: 1 })
  assert.equal(await db.tx(() => other.tx(async () => 'done')), 'done')
})

test('operations that need two connections one after another never deadlock', async () => {
  const two = pool({ maxConnections: 2 })
  const work = () => two.tx(async (tx) => tx`select pg_sleep(0.001)`).then(() => two.sql`select 1`)
  await Promise.all(Array.from({ length: 40 }, work))
  assert.deepEqual(two.load(), { open: 0, waiting: 0, refused: 0 })
})

test('paging releases its connection, read to the end or not', async () => {
  const one = pool({ maxConnections: 1 })
  const read = async (most: number) => {
    let seen = 0
    for await (const rows of one.sql`select generate_series(1, 10)`.cursor(3)) {
      seen += rows.length
      if (seen >= most) break
    }
    return seen
  }
  assert.deepEqual([await read(100), await read(3), await read(100)], [10, 3, 10])
  await assert.rejects(async () => {
    for await (const _ of one.sql`select 1 / (2 - generate_series(1, 3))`.cursor(1));
  }, /division by zero/)
  assert.equal(one.load().open, 0)
})

test('a transaction that times out on a lock is rolled back, retried once, and then fails', async () => {
  const other = pool({ maxConnections: 2, lockTimeoutMs: 30 })
  let tries = 0
  const change = () =>
    other.tx(async (tx) => {
      tries++
      await tx`update things set text = 'd' where id = 1`
    })
  await db.tx(async (tx) => {
    await tx`select 1 from things where id = 1 for update`
    await assert.rejects(change, { code: '55P03' })
  })
  assert.equal(tries, 2)
  await change()
  assert.equal(tries, 3)
})

test('RetryTransaction releases the connection and locks while it waits, and runs the work again', async () => {
  const one = pool({ maxConnections: 1 })
  let isDone = false
  let tries = 0
  const answer = await one.tx(async (tx) => {
    tries++
    await tx`update things set text = 'e' where id = 1`
    if (isDone) return 'done'
    throw new RetryTransaction(async (same) => {
      await same.tx((inner) => inner`update things set text = 'f' where id = 1`)
      isDone = true
    })
  })
  assert.deepEqual([answer, tries], ['done', 2])
})

test('work that always throws RetryTransaction ends', async () => {
  let tries = 0
  const never = db.tx(async () => {
    tries++
    throw new RetryTransaction(async () => {})
  })
  await assert.rejects(never, RetryTransaction)
  assert.equal(tries, 6)
})

test("a workspace's single statements and transactions go past any number of another's that wait for a lock", async () => {
  const four = pool({ maxConnections: 4 })
  const of = <T>(owner: string, work: () => Promise<T>) => runInContext({ ...requestContext(''), owner }, work)
  const read = async () => four.sql`select text from things where id = 2`
  const write = () => four.statement((tx) => tx`update things set text = 'b' where id = 2`)
  await of('b', read)
  const change = () => of('a', () => four.statement((tx) => tx`update things set text = 'g' where id = 1`))
  let waiters: Promise<unknown>[] = []
  await db.tx(async (tx) => {
    await tx`select 1 from things where id = 1 for update`
    waiters = Array.from({ length: 40 }, change)
    await nextTurn()
    assert.deepEqual([four.load().open, four.load().waiting], [2, 38])
    for (let n = 0; n < 5; n++) await Promise.all([of('b', read), of('b', write)])
    assert.equal(await of('b', () => four.tx(async () => 'done')), 'done')
    assert.equal(four.load().waiting, 38)
  })
  await Promise.all(waiters)
})

test('a full queue refuses at once, and only its own requests', async () => {
  const one = pool({ maxConnections: 1 })
  const letGo = Promise.withResolvers<void>()
  const holding = one.tx(() => letGo.promise)
  const ask = (lane: string) => runInContext(requestContext(lane), async () => one.sql`select 1`)
  const waiting = Array.from({ length: 500 }, () => ask('x'))
  await assert.rejects(ask('x'), TooBusy)
  waiting.push(ask('y'))
  await nextTurn()
  assert.deepEqual([one.load().waiting, one.load().refused], [501, 1])
  letGo.resolve()
  await Promise.all([holding, ...waiting])
})
