import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentPayload } from '../../src/app/events.ts'
import type { EventName } from '../../src/events/record.ts'
import { eventCatalog, eventNames } from '../../src/webhooks/event-catalog.ts'
import { feedWorld, namesIn } from '../support/events/feed-world.ts'
import { world } from '../support/world.ts'

const subjectId = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'
const at = new Date('2026-03-10T12:00:00.000Z')

test('every event has a guide and a sample with its name', () => {
  for (const name of eventNames) {
    const { guide, sample } = eventCatalog[name]
    const event = sample(subjectId, at)
    assert.deepEqual([event.name, event.subjectId], [name, subjectId])
    assert.match(guide, /^A .+\.$/)
  }
})

// Every feed response in tests is validated against its event schema.
test('samples match their schemas, masked or not, and masked ones contain no phone', async () => {
  const w = await feedWorld()
  await w.record(eventNames)
  const contact = { phone: '5511900000001', name: '+55 11 90000-0001' }
  await w.record(['inbox.message.received'], { more: { contact } })
  const names = [...eventNames, 'inbox.message.received']
  const everything = { events: eventNames.join() }
  const full = await w.page(everything)
  assert.deepEqual(namesIn(full), names)
  assert.match(JSON.stringify(full), /5511900000001/)
  const { value } = await w.addKey({ scopes: ['leads.read', 'inbox.read'], phoneVisibility: 'masked' })
  const masked = await w.page(everything, value)
  assert.deepEqual(namesIn(masked), names)
  assert.doesNotMatch(JSON.stringify(masked), /90000/)
  assert.equal(masked.events[0].payload.phone, '55119*****001')
  assert.equal(masked.events[4].payload.contact.phone, '55119*****001')
  assert.match(masked.events[4].payload.message.external_id, /^masked_/)
})

test('a masked reader sees nothing of an unknown newer event', async () => {
  const { keyStore, workspaceId } = await world()
  const keyring = await keyStore.keyring(workspaceId)
  const name: EventName = 'inbox.contact.renamed'
  assert.deepEqual(presentPayload(name, { phone: '5511900000001' }, { keyring, masked: true }), {})
})
