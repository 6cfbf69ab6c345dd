import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removeOldEvents } from '../../src/events/retention.ts'
import { createSequencer } from '../../src/events/sequence.ts'
import { purgeDeletedLeads } from '../../src/leads/write/restore.ts'
import { feedWorld, namesIn } from '../support/events/feed-world.ts'

const dayMs = 24 * 3_600_000
const allRead = async () => Number.POSITIVE_INFINITY

test('an old event is kept while it has no position or follows a newer one', async () => {
  const w = await feedWorld()
  const kept = async () => {
    await removeOldEvents(w.db, w.clock, allRead)
    const rows = await w.db.sql<{ name: string }[]>`
      select name
      from events
      where workspace_id = ${w.workspaceId}
      order by seq`
    return rows.map(({ name }) => name)
  }
  await w.record(['lead.created'])
  w.clock.advance(31 * dayMs)
  assert.deepEqual(await kept(), ['lead.created'])
  await createSequencer(w.db).sequenceAll()
  assert.deepEqual(await kept(), [])

  await w.record(['lead.updated'])
  await createSequencer(w.db).sequence(w.workspaceId)
  w.clock.advance(-31 * dayMs)
  await w.record(['lead.deleted'])
  await createSequencer(w.db).sequence(w.workspaceId)
  w.clock.advance(31 * dayMs)
  assert.deepEqual(await kept(), ['lead.updated', 'lead.deleted'])
})

test('gaps from a purge do not affect readers', async () => {
  const w = await feedWorld()
  const { id } = await w.lead()
  await w.call('DELETE', `/api/v1/leads/${id}`)
  w.clock.advance(31 * dayMs)
  await w.record(['inbox.message.sent'])
  const { next_cursor: before } = await w.page({ limit: '1' })
  assert.equal(await purgeDeletedLeads(w.db, w.clock), 1)
  assert.deepEqual(namesIn(await w.page({ after: before })), ['inbox.message.sent'])
  assert.deepEqual(namesIn(await w.page()), ['inbox.message.sent'])
})
