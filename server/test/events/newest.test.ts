import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { mock, test } from 'node:test'
import { eraseEvents } from '../../src/events/erase.ts'
import { sequenceEvents } from '../../src/events/sequence.ts'
import { eventsPath, feedWorld, type Json, namesIn } from '../support/events/feed-world.ts'
import { atEnd } from '../support/file-lifecycle.ts'

const opening = mock.method(crypto, 'createDecipheriv')
syncBuiltinESMExports()
atEnd(async () => {
  opening.mock.restore()
  syncBuiltinESMExports()
})

/** Counts decryptions during the call. */
async function openedBy(work: () => Promise<unknown>): Promise<number> {
  const before = opening.mock.callCount()
  await work()
  return opening.mock.callCount() - before
}

test('the newest events are decrypted once for all readers', async () => {
  const w = await feedWorld()
  const { value: other } = await w.addKey({ scopes: ['leads.read', 'inbox.read'] })
  const { value: masked } = await w.addKey({ scopes: ['leads.read', 'inbox.read'], phoneVisibility: 'masked' })
  for (const key of [other, masked]) await w.call('GET', eventsPath, { key, query: { after: 'latest' } })
  await w.record(['lead.created', 'lead.updated', 'inbox.message.received'])
  assert.equal(await openedBy(() => w.page()), 3)
  const first = await w.page()
  assert.equal(await openedBy(async () => assert.deepEqual(await w.page({}, other), first)), 0)
  const opened = await openedBy(async () => {
    const page = await w.page({}, masked)
    assert.deepEqual(namesIn(page), namesIn(first))
    assert.notDeepEqual(page, first)
  })
  assert.equal(opened, 0)
})

test('erased events are dropped from all caches', async () => {
  const w = await feedWorld()
  const { id } = await w.lead()
  await w.record(['lead.updated'])
  await w.page()
  assert.equal(await openedBy(() => w.page()), 0)
  await w.db.tx((tx) => eraseEvents(tx, w.workspaceId, [id], async () => ({})))
  assert.equal(await openedBy(async () => assert.deepEqual(namesIn(await w.page()), ['lead.updated'])), 1)
})

test('a reader with few visible events learns of unsequenced events at the end', async () => {
  const w = await feedWorld()
  await w.record(Array<'lead.created'>(5).fill('lead.created'))
  while ((await sequenceEvents(w.db, w.workspaceId)) > 0);
  await w.record(['lead.deleted'])
  const first = await w.page({ limit: '2', events: 'lead.deleted' })
  assert.deepEqual([namesIn(first), first.has_more], [[], true])
  const second = await w.page({ limit: '2', events: 'lead.deleted', after: first.next_cursor })
  assert.deepEqual([namesIn(second), second.has_more], [['lead.deleted'], false])
})

test('an event older than the cached ones is sent as it was recorded, whatever its characters', async () => {
  const w = await feedWorld()
  const more = { firstName: 'Zoë "la niña" 🎉\n' }
  await w.record(['lead.created', 'lead.updated'], { more })
  const newest = await w.page({ limit: '2' })
  await w.record(Array<'lead.created'>(1000).fill('lead.created'))
  while ((await sequenceEvents(w.db, w.workspaceId)) > 0);
  let old = newest
  const opened = await openedBy(async () => {
    old = await w.page({ limit: '2' })
  })
  assert.equal(opened, 2)
  assert.deepEqual(old.events, newest.events)
  assert.deepEqual(
    old.events.map(({ payload }: Json) => payload.firstName),
    [more.firstName, more.firstName],
  )
})
