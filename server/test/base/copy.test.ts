import assert from 'node:assert/strict'
import { test } from 'node:test'
import { copyStatement, loadTables, readCatalog, withSession } from '../../src/base/copy/catalog.ts'
import { copyIn, copyOut } from '../../src/base/copy/copy.ts'
import { firstIdAt } from '../../src/base/id.ts'
import { createNextPartition } from '../../src/base/partitions.ts'
import { migratedDatabase, type TestDatabase, testDatabase } from '../support/database.ts'
import { addressOf } from '../support/postgres/own-postgres.ts'

test('a copy of many megabytes applies backpressure and leaves no listeners', async () => {
  const { db, options } = await testDatabase()
  await db.sql`create table copied (line text)`
  const blocks = 12
  const lines = Buffer.from(`${'x'.repeat(1023)}\n`.repeat(1024))
  async function* pieces() {
    for (let n = 0; n < blocks; n++) yield lines
  }
  await withSession(addressOf(options), 'parley test', async (client) => {
    const { stream } = client.connection
    const before = stream.listenerCount('close')
    assert.equal(await copyIn(client, 'copy copied from stdin', pieces()), blocks * 1024)
    assert.equal(stream.listenerCount('close'), before)
  })
  await db.sql`drop table copied`
})

test('a partitioned table is copied as one, and the target routes its rows to its own partitions', async () => {
  const [from, to] = [await testDatabase(), await migratedDatabase()]
  // The two databases have different first periods.
  const events = { table: 'events', column: 'id' }
  assert.equal(await createNextPartition(from.db, events, new Date('2026-12-03')), 1)
  assert.equal(await createNextPartition(to.db, events, new Date('2026-12-17')), 1)
  const ids = ['2026-12-08', '2026-12-22', '2999-01-01'].map((day) => firstIdAt(new Date(day)))
  await from.db.sql`
    insert into events (workspace_id, id, name, subject_id, payload, occurred_at)
    select gen_random_uuid(), id, 'lead.created', gen_random_uuid(), '', now()
    from unnest(${ids}::uuid[]) as id`
  const partsOf = async ({ db }: TestDatabase) => {
    const rows = await db.sql<{ part: string }[]>`select tableoid::regclass::text as part from events order by id`
    return rows.map(({ part }) => part)
  }
  assert.deepEqual(await partsOf(from), ['events_20261207', 'events_default', 'events_default'])

  await withSession(addressOf(from.options), 'parley test', (source) =>
    withSession(addressOf(to.options), 'parley test', async (target) => {
      const catalog = await readCatalog(source)
      assert.deepEqual(
        catalog.tables.flatMap(({ name }) => (name.startsWith('events') ? [name] : [])),
        ['events'],
      )
      await loadTables(target, catalog, async ({ fill }) => {
        for (const table of catalog.tables) {
          const rows = await fill(table, copyOut(source, copyStatement(table, 'to stdout')))
          if (table.name === 'events') assert.equal(rows, ids.length)
        }
      })
    }),
  )
  assert.deepEqual(await partsOf(to), ['events_default', 'events_20261221', 'events_default'])
})
