import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { type Db, openDb, type Tx } from '../../src/base/db.ts'
import { newId } from '../../src/base/id.ts'
import { migrate } from '../../src/base/migrate.ts'
import { listPeriods, makeAhead } from '../../src/base/partitions/partitions.ts'
import { periodAt } from '../../src/base/partitions/periods.ts'
import type { Keyring } from '../../src/base/sealing/keyring.ts'
import { readFeed } from '../../src/events/feed.ts'
import { recordEvents } from '../../src/events/record.ts'
import { eventsByTime, removeOldEvents } from '../../src/events/retention.ts'
import { sequenceEvents } from '../../src/events/sequence.ts'
import { emptyDatabase } from '../support/database.ts'
import { atEnd } from '../support/file-end.ts'
import { until } from '../support/until.ts'

const dayMs = 24 * 3_600_000
const before = 42
const [workspaceId, otherId] = [randomUUID(), randomUUID()]
const keyring = { seal: () => Buffer.from('sealed') } as unknown as Keyring
const names = ['lead.created'] as const

test('an installation is brought to periods while it is written to: no event is refused, lost or out of order', async () => {
  const { db, options } = await emptyDatabase()
  await migrate(db, undefined, before)
  await db.sql`
    insert into workspaces (id, name, created_at, updated_at)
    select id, 'Acme', now(), now()
    from unnest(${[workspaceId, otherId]}::uuid[]) as w (id)`
  await fill(db, 5000)
  const old = openDb(options)
  atEnd(() => old.close())
  const [writing, placing] = [keepOn(() => recordOne(old)), keepOn(() => sequenceEvents(old, workspaceId))]
  await Promise.all([writing.more(20), placing.more(5)])
  // One that has begun before goes on taking numbers while the upgrade waits for it.
  const [isBegun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const around = old.tx(async (tx) => {
    await record(tx, otherId)
    isBegun.resolve()
    await mayEnd.promise
    for (let n = 0; n < 5; n++) await record(tx, otherId)
  })
  await isBegun.promise
  const migrating = migrate(db)
  const waiting = () => old.sql`select from pg_locks where relation = 'events'::regclass and not granted`
  await until(async () => (await waiting()).length > 0, 'an upgrade that waits')
  mayEnd.resolve()
  await Promise.all([migrating, around])
  await Promise.all([writing.more(20), placing.more(5)])
  const soon = new Date(periodAt(new Date()).to.getTime() - 3 * dayMs)
  assert.equal(await makeAhead(db, eventsByTime, soon), 1)
  await Promise.all([writing.more(20), placing.more(5)])
  const written = await writing.stop()
  await placing.stop()
  await sequenceEvents(db, workspaceId)
  await sequenceEvents(db, otherId)

  const count = 5000 + written
  const feed = await readFeed(
    db.sql,
    workspaceId,
    { after: 0, upTo: count + 1 },
    { names, connectionIds: [], limit: count + 1 },
  )
  assert.deepEqual(
    feed.map(({ position }) => position),
    Array.from({ length: count }, (_, n) => n + 1),
  )
  const [row] = await db.sql<{ numbers: number; inOrder: boolean }[]>`
    select count(distinct seq)::integer as numbers, bool_and(in_order) as "inOrder"
    from (
      select seq, seq > coalesce(lag(seq) over (partition by workspace_id order by position), 0) as in_order
      from events
    ) as s`
  assert.deepEqual(row, { numbers: count + 6, inOrder: true })

  // What was there ends row by row, what comes in its period with the period.
  const [period] = await listPeriods(db.sql, 'events')
  assert.ok(period)
  await db.tx((tx) => recordEvents(tx, keyring, workspaceId, [event()], new Date(period.from)))
  await sequenceEvents(db, workspaceId)
  const clock = { now: () => new Date(period.to.getTime() + 31 * dayMs) }
  assert.equal(await removeOldEvents(db, clock, async () => Number.POSITIVE_INFINITY), count + 7)
  assert.deepEqual(await listPeriods(db.sql, 'events'), [])
  assert.equal((await db.sql`select from events`).length, 0)
})

const event = () => ({ name: names[0], subjectId: newId(systemClock.now()), connectionId: null, payload: {} })

const record = (tx: Tx, of = workspaceId) => recordEvents(tx, keyring, of, [event()], systemClock.now())
const recordOne = (db: Db) => db.tx((tx) => record(tx))

/** As it was written by the version before. */
async function fill({ sql }: Db, count: number): Promise<void> {
  await sql`
    insert into events (workspace_id, id, name, subject_id, payload, occurred_at, position)
    select ${workspaceId}::uuid, id, 'lead.created', gen_random_uuid(), 'sealed', now() - interval '1 day', place
    from unnest(${Array.from({ length: count }, () => newId(new Date(Date.now() - dayMs)))}::uuid[]) with ordinality as e (id, place)`
  await sql`
    insert into event_feeds (workspace_id, last_position)
    values (${workspaceId}, ${count})`
}

/** Does something again and again, one after another; what fails, `more` and `stop` throw. */
function keepOn(work: () => Promise<unknown>) {
  let [done, isOver] = [0, false]
  const going = (async () => {
    for (; !isOver; done++) await work()
  })()
  return {
    /** Once so many more are done. */
    more: async (count: number) => {
      const enough = done + count
      const reached = async () => {
        while (done < enough) await new Promise((resolve) => setImmediate(resolve))
      }
      await Promise.race([reached(), going])
    },
    stop: async () => {
      isOver = true
      await going
      return done
    },
  }
}
