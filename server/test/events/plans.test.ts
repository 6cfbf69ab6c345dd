import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/base/id.ts'
import { feedStates } from '../../src/events/feed.ts'
import { removeOldEvents } from '../../src/events/retention.ts'
import { sequenceEvents } from '../../src/events/sequence.ts'
import { statementsOf } from '../support/database.ts'
import { feedWorld } from '../support/events/feed-world.ts'
import { accessPathsTo, findBadPlans } from '../support/query-plans.ts'

// The plan of a new installation, which is kept until the table is analyzed.
test('sequencing uses ids while the table is empty too', async () => {
  const w = await feedWorld()
  const statements = await statementsOf(async () => {
    await w.record(['lead.created'])
    await sequenceEvents(w.db, w.workspaceId)
  })
  const placing = statements.filter(({ text }) => /update events/.test(text))
  await w.db.sql`truncate events`
  assert.equal(placing.length, 1)
  for (const one of placing)
    assert.deepEqual((await accessPathsTo(w.db, one, 'events')).sort(), [
      'events_default_pkey',
      'events_default_unplaced',
    ])
})

test('no feed statement scans all events or a whole index', async () => {
  const w = await feedWorld()
  const names = Array<'lead.created'>(1000).fill('lead.created')
  for (let round = 0; round < 5; round++) await w.record(names)
  await w.page()
  await w.db.sql`analyze events`
  const { value: some } = await w.addKey({
    scopes: ['leads.read', 'inbox.read'],
    connectionIds: [newId(w.clock.now())],
  })
  const statements = await statementsOf(async () => {
    await w.record(['lead.created', 'inbox.message.sent'])
    const { next_cursor: after } = await w.page({ events: 'lead.created' })
    await w.page({ after }, some)
    await feedStates(w.db.sql, [w.workspaceId])
    await w.record(['lead.created'])
    await sequenceEvents(w.db, w.workspaceId)
    w.clock.advance(31 * 24 * 3_600_000)
    await removeOldEvents(w.db, w.clock, async () => Number.POSITIVE_INFINITY)
  })
  assert.deepEqual(await findBadPlans(w.db, statements, ['events']), [])
})
