import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Db } from '../../src/base/db.ts'
import { newId } from '../../src/base/id.ts'
import { createNextPartition, listPeriods, periodAt } from '../../src/base/partitions.ts'
import { eventPartitions, removeOldEvents } from '../../src/events/retention.ts'
import { sequenceEvents } from '../../src/events/sequence.ts'
import { openNode, skipIfDistributed, testDatabase } from '../support/database.ts'
import { eventsPath, type FeedWorld, feedWorld, namesIn } from '../support/events/feed-world.ts'
import { atEnd } from '../support/file-lifecycle.ts'

const dayMs = 24 * 3_600_000
const everything = async () => Number.POSITIVE_INFINITY

interface PeriodWorld extends FeedWorld {
  make(): Promise<number>
  /** Retries, like a worker, while a vacuum locks the table. */
  makeOne(): Promise<void>
  sweep(): Promise<number>
}

/** A world whose clock is a week before the end of a period that no earlier test has used. */
async function freshPeriod(): Promise<PeriodWorld> {
  const w = await feedWorld()
  // All tests share the partitions of a database: each starts after those of earlier tests.
  w.clock.advance(70 * dayMs)
  w.clock.advance(periodAt(w.clock.now()).to.getTime() + 7 * dayMs - w.clock.now().getTime())
  const make = () => createNextPartition(w.db, eventPartitions, w.clock.now())
  const sweep = () => removeOldEvents(w.db, w.clock, everything)
  await sweep()
  return { ...w, make, makeOne: () => again(async () => (await make()) === 1), sweep }
}

/** Retries, like a worker, until the condition is true; bounded by the test's timeout. */
async function again(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo()));
}

const periodsOf = async ({ db }: { db: Db }) => (await listPeriods(db.sql, 'events')).map(({ name }) => name)

/** Returns the partitions of a workspace's events, in feed order. */
async function partsOf({ db, workspaceId }: FeedWorld): Promise<string[]> {
  const rows = await db.sql<{ part: string }[]>`
    select tableoid::regclass::text as part
    from events
    where workspace_id = ${workspaceId}
    order by position, seq`
  // Under Citus, the shard name has a number after the partition name.
  return rows.map(({ part }) => part.replace(/^(events_(?:\d{8}|default))_\d+$/, '$1'))
}

test('events go into their partitions, are read across the boundary in order, and are dropped with them', async () => {
  const w = await freshPeriod()
  const beginning = (await w.page()).next_cursor
  await w.record(['lead.created'])
  await w.makeOne()
  assert.equal(await w.make(), 0, 'it is there')
  w.clock.advance(7 * dayMs)
  await w.record(['lead.updated'])
  assert.equal(await w.make(), 0, 'there is time for the next')
  w.clock.advance(7 * dayMs)
  await w.makeOne()
  w.clock.advance(7 * dayMs - 1)
  await w.record(['lead.deleted'])
  w.clock.advance(1)
  await w.record(['lead.restored'])
  const all = await w.page()
  assert.deepEqual(namesIn(all), ['lead.created', 'lead.updated', 'lead.deleted', 'lead.restored'])
  const [first, second] = await periodsOf(w)
  assert.deepEqual(await partsOf(w), ['events_default', first, first, second])
  const cursors: string[] = []
  for (let after = beginning; cursors.length < 4; ) {
    after = (await w.page({ after, limit: '1' })).next_cursor
    cursors.push(after)
  }

  // The first event is older than all partitions and is deleted; those of the first partition are hidden, then dropped.
  w.clock.advance(29 * dayMs)
  assert.equal(await w.sweep(), 1)
  assert.deepEqual(await periodsOf(w), [first, second])
  assert.deepEqual(namesIn(await w.page()), ['lead.deleted', 'lead.restored'])
  w.clock.advance(dayMs)
  assert.equal(await w.sweep(), 1)
  assert.deepEqual(await periodsOf(w), [second])
  assert.deepEqual(await partsOf(w), [second])
  assert.deepEqual(namesIn(await w.page()), ['lead.restored'])
  const answers = await Promise.all(cursors.map((after) => w.call('GET', eventsPath, { query: { after } })))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [410, 410, 200, 200],
  )
  assert.deepEqual(namesIn(answers[2]?.body), ['lead.restored'])
  w.clock.advance(14 * dayMs)
  await w.sweep()
  assert.deepEqual(await periodsOf(w), [])
})

test('a partition is kept while an event has no position or is unread', async () => {
  const w = await freshPeriod()
  await w.makeOne()
  w.clock.advance(7 * dayMs)
  await w.record(['lead.created', 'lead.updated'])
  w.clock.advance(44 * dayMs + 1)
  const [period] = await periodsOf(w)
  await w.sweep()
  assert.deepEqual(await partsOf(w), [period, period], 'neither has a place')
  await sequenceEvents(w.db, w.workspaceId)
  await removeOldEvents(w.db, w.clock, async () => 1)
  assert.deepEqual(await partsOf(w), [period, period], 'the second was not read')
  assert.deepEqual(namesIn(await w.page()), ['lead.updated'])
  w.clock.advance(dayMs)
  assert.equal(await removeOldEvents(w.db, w.clock, async () => 1), 1)
  assert.deepEqual(await partsOf(w), [period], 'what has ended does not wait for it for ever')
  assert.equal(await w.sweep(), 1)
  assert.deepEqual(await periodsOf(w), [])
})

test('an event with any id time is stored and ends', async () => {
  const w = await freshPeriod()
  await w.makeOne()
  const ids = [randomUUID(), newId(new Date(0)), newId(new Date(Date.UTC(2999, 0))), newId(w.clock.now())]
  ids.push('00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  for (const id of ids) {
    await w.db.sql`
      insert into events (workspace_id, id, name, subject_id, payload, occurred_at)
      values (${w.workspaceId}, ${id}, 'lead.created', gen_random_uuid(), '', ${w.clock.now()})`
  }
  await sequenceEvents(w.db, w.workspaceId)
  assert.equal((await partsOf(w)).filter((part) => part === 'events_default').length, ids.length)
  w.clock.advance(31 * dayMs)
  assert.equal(await w.sweep(), ids.length)
  assert.deepEqual(await partsOf(w), [])
})

test('no partition is created for a period with events in the default partition', async () => {
  const w = await freshPeriod()
  await w.db.sql`
    insert into events (workspace_id, id, name, subject_id, payload, occurred_at)
    values (
      ${w.workspaceId}, ${newId(new Date(w.clock.now().getTime() + 8 * dayMs))}, 'lead.created', gen_random_uuid(), '',
      ${w.clock.now()}
    )`
  assert.equal(await w.make(), 0)
  w.clock.advance(14 * dayMs)
  await w.record(['lead.updated'])
  await w.makeOne()
  assert.deepEqual(await partsOf(w), ['events_default', 'events_default'])
})

test(
  'concurrent creation and removal of partitions is safe while events are recorded',
  skipIfDistributed('to drop a part takes several servers longer than others wait'),
  async () => {
    const w = await freshPeriod()
    const { options } = await testDatabase()
    const others = [openNode(options), openNode(options)]
    atEnd(async () => {
      for (const db of others) await db.close()
    })
    let recorded = 0
    for (let round = 0; round < 8; round++) {
      const [made] = await Promise.all([
        Promise.all([w.db, ...others].map((db) => createNextPartition(db, eventPartitions, w.clock.now()))),
        Promise.all([w.db, ...others].map((db) => removeOldEvents(db, w.clock, everything))),
        ...Array.from({ length: 20 }, () => w.record(['lead.created']).then(() => recorded++)),
      ])
      assert.ok(made.reduce((sum, one) => sum + one, 0) <= 1)
      await sequenceEvents(w.db, w.workspaceId)
      w.clock.advance(7 * dayMs)
    }
    assert.equal(recorded, 160)
    w.clock.advance(40 * dayMs)
    await again(async () => {
      for (const db of [w.db, ...others]) await removeOldEvents(db, w.clock, everything)
      return (await periodsOf(w)).length === 0
    })
    assert.deepEqual(await partsOf(w), [])
  },
)

test('a worker that waits for the table lock blocks nobody and retries', async () => {
  const w = await freshPeriod()
  const { options } = await testDatabase()
  const reader = openNode(options)
  atEnd(() => reader.close())
  const { promise, resolve } = Promise.withResolvers<void>()
  const { promise: isReading, resolve: reads } = Promise.withResolvers<void>()
  const reading = reader.tx(async (tx) => {
    await tx`select from events limit 1`
    reads()
    await promise
  })
  await isReading
  assert.equal(await w.make(), 0)
  await w.record(['lead.created'])
  resolve()
  await reading
  await w.makeOne()
})
