import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentPayload } from '../../src/app/events.ts'
import type { EventName } from '../../src/events/event-groups.ts'
import { eventCatalogue, eventNames } from '../../src/webhooks/event-catalogue.ts'
import { feedWorld, namesIn } from '../support/events/feed-world.ts'
import { world } from '../support/world.ts'

const subjectId = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
const at = new Date('2026-03-10T12:00:00.000Z')

test('every event has a guide, and a sample that bears its name', () => {
  for (const name of eventNames) {
    const { guide, sample } = eventCatalogue[name]
    const event = sample(subjectId, at)
    assert.deepEqual([event.name, event.subjectId], [name, subjectId])
    assert.match(guide, /^A .+\.$/)
  }
})

// Whatever the feed answers in a test is held against the schema of its event.
test('the sample of every event fits its schema, with phones and without', async () => {
  const w = await feedWorld()
  await w.record(eventNames)
  const scopes = ['leads.read', 'inbox.read'] as const
  for (const phoneVisibility of ['full', 'masked'] as const) {
    const { value } = await w.addKey({ scopes: [...scopes], phoneVisibility })
    const page = await w.page({}, value)
    assert.deepEqual(namesIn(page), eventNames)
    assert.equal(JSON.stringify(page).includes('5511900000001'), phoneVisibility === 'full')
  }
})

test('an event that only a newer version knows shows a masked reader nothing', async () => {
  const { vault, workspaceId } = await world()
  const keyring = await vault.keyring(workspaceId)
  const name: EventName = 'inbox.contact.renamed'
  assert.deepEqual(presentPayload(name, { phone: '5511900000001' }, { keyring, masked: true }), {})
})
