import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentPayload } from '../../src/app/events.ts'
import { createDeliveryWorker } from '../../src/webhooks/deliver/worker.ts'
import { erasureWorld } from '../support/erasure-world.ts'
import { follow, startNode } from '../support/events/feed-world.ts'
import { atEnd } from '../support/file-lifecycle.ts'
import { marina } from '../support/inbox/inbox-world.ts'
import { leadPath } from '../support/leads/leads.ts'
import { memoryIndexWorld } from '../support/leads/memory-index-world.ts'
import { signedInMember } from '../support/member.ts'
import { pick } from '../support/pick.ts'

const phone = marina.phone ?? ''

test('a feed reader continues past the gap, and gets each erased lead by its id only', async () => {
  const w = await erasureWorld()
  const first = await w.lead({ firstName: 'Other' })
  const { body: page } = await w.call('GET', '/api/v1/events')
  const lead = await w.lead({ firstName: 'Marina', phone, email: 'marina@example.com', notes: 'n' })
  await w.customerWrites('Hi')
  const last = await w.lead({ firstName: 'Last' })
  await w.erase({ phone })
  const { status, body } = await w.call('GET', '/api/v1/events', { query: { after: page.next_cursor } })
  assert.equal(status, 200)
  const told = body.events.map((event: { event: string; payload: { id: string } }) => [event.event, event.payload.id])
  assert.deepEqual(told, [
    ['lead.created', last.id],
    ['lead.deleted', lead.id],
  ])
  const { createdAt, updatedAt, deletedAt, ...tombstone } = body.events[1].payload
  assert.deepEqual(
    Object.values(tombstone)
      .filter((value) => value !== null)
      .sort(),
    ['-', lead.id, lead.id, 'medium', 'new', 'other'],
  )
  assert.ok(createdAt && updatedAt && deletedAt)
  const { body: whole } = await w.call('GET', '/api/v1/events')
  assert.equal(whole.events[0].payload.id, first.id)
})

test('pending deliveries are not sent, and others keep their order', async () => {
  const w = await erasureWorld()
  w.receiver.answer(() => ({ status: 500 }))
  const other = await w.lead({ firstName: 'Other' })
  const lead = await w.lead({ firstName: 'Marina', phone })
  await w.customerWrites('Hi')
  await w.drain()
  await w.call('PATCH', leadPath(other.id), { body: { status: 'won' } })
  await w.call('PATCH', leadPath(lead.id), { body: { status: 'won' } })
  await w.drain()
  const before = w.receiver.received.length
  await w.erase({ phone })
  w.receiver.answer(() => ({ status: 204 }))
  w.clock.advance(3_600_000)
  await w.drain()
  const sent = w.receiver.received.slice(before)
  assert.deepEqual(
    pick(
      sent.filter(({ body }) => body.id === other.id),
      'event',
    ),
    ['lead.created', 'lead.updated'],
  )
  assert.deepEqual(
    sent.filter(({ body }) => body.id !== other.id).map(({ event, body }) => [event, body.id]),
    [['lead.deleted', lead.id]],
  )
})

test('a worker drops deliveries in memory: the next is not sent, and a pending response is not stored', async () => {
  const w = await erasureWorld()
  const lead = await w.lead({ firstName: 'Marina', phone })
  await w.call('PATCH', leadPath(lead.id), { body: { status: 'won' } })
  const erased = Promise.withResolvers<void>()
  w.receiver.answer(async ({ text }) => {
    await erased.promise
    return { status: 200, body: `taken: ${text}` }
  })
  const worker = createDeliveryWorker({ ...w, present: presentPayload, random: () => 0 })
  atEnd(() => worker.stop())
  worker.start()
  await w.receiver.reached(1)
  await w.erase({ phone })
  erased.resolve()
  await w.receiver.reached(2)
  await worker.stop()
  assert.deepEqual(pick(w.receiver.received, 'event'), ['lead.created', 'lead.deleted'])
  const rows = await w.db.sql<{ event_name: string; delivered_answer: Buffer | null }[]>`
    select event_name, delivered_answer from webhook_deliveries where workspace_id = ${w.workspaceId} order by position`
  const kept = rows.flatMap((row) => (row.delivered_answer === null ? [] : row.event_name))
  assert.deepEqual(kept, ['lead.deleted'])
})

test('the memory index no longer finds an erased lead, and is not rebuilt for it', async () => {
  const w = await memoryIndexWorld()
  const admin = await signedInMember(w, 'admin')
  const [one] = w.nodes
  assert.ok(one)
  for (let n = 0; n < 60; n++) await w.lead({ firstName: 'Other', lastName: `N${n}` })
  const lead = await w.lead({ firstName: 'Zyxmarina', phone })
  for (let n = 0; n < 60; n++) await w.lead({ firstName: 'Other', lastName: `M${n}` })
  assert.equal(await one.indexes.warm(w.workspaceId), true)
  const total = async () => (await one.list({ search: 'zyxmarina' })).body.pagination.total
  assert.equal(await total(), 1)
  assert.equal((await admin.call('POST', '/erasures', { leadId: lead.id })).status, 201)
  assert.equal(await total(), 0)
  assert.equal((await one.list({})).body.pagination.total, 120)
  assert.deepEqual(one.counts, { image: 3, database: 0 })
})

test('open pages are notified that the conversation and the lead were erased', async () => {
  const w = await erasureWorld()
  const lead = await w.lead({ firstName: 'Marina', phone })
  const { id } = await w.customerWrites('Hi')
  const node = await startNode(w)
  const stream = await follow(w, node, { cookie: w.admin.cookie })
  await w.erase({ phone })
  const told = new Map<string, unknown>()
  while (told.size < 2) {
    const { event, data } = await stream.next()
    if (event === 'team.conversation.gone') told.set(event, data.conversationId)
    if (event === 'lead.deleted') told.set(event, data.payload?.id ?? data.id)
  }
  assert.deepEqual(Object.fromEntries(told), { 'team.conversation.gone': id, 'lead.deleted': lead.id })
})

test('an edit that waits for its message is erased with a customer who has no conversation', async () => {
  const w = await erasureWorld()
  const other = { ...marina, userId: 'US.other', phone: '5511900000001' }
  const edit = { type: 'edited', direction: 'inbound', text: 'Edited', at: w.clock.now() } as const
  await w.deliver({ ...edit, originalId: 'wamid.hers', customer: marina })
  await w.deliver({ ...edit, originalId: 'wamid.other', customer: other })
  const waiting = () => w.db.sql`select from parked_revisions where workspace_id = ${w.workspaceId}`
  assert.equal((await waiting()).length, 2)
  await w.erase({ phone })
  assert.equal((await waiting()).length, 1)
})
