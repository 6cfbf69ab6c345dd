import assert from 'node:assert/strict'
import { test as once, test } from 'node:test'
import type { ChannelEvent, Customer } from '../../../src/channels/channel-event.ts'
import { deleteOldParked } from '../../../src/inbox/receive/early-statuses.ts'
import { recordEcho } from '../../../src/inbox/receive/echo.ts'
import { createReceive } from '../../../src/inbox/receive/receive.ts'
import { customerMessage, type InboxWorld, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { storedMessage } from '../../support/inbox/stored-messages.ts'

type Revision = Extract<ChannelEvent, { originalId: string }>

const told = (w: InboxWorld, type: Revision['type'], more: Partial<Revision> & { text?: string } = {}) =>
  ({
    type,
    originalId: 'wamid.late',
    direction: 'inbound',
    customer: marina,
    at: w.clock.now(),
    ...(type === 'edited' && { text: 'Edited' }),
    ...more,
  }) as Revision
const minuteAgo = (w: InboxWorld) => new Date(w.clock.now().getTime() - 60_000)
const late = (w: InboxWorld, fields: Partial<Extract<ChannelEvent, { type: 'message' }>> = {}) =>
  customerMessage({ externalId: 'wamid.late', text: 'Secret', at: minuteAgo(w), ...fields })
const waiting = async ({ db, workspaceId }: InboxWorld): Promise<number> => {
  const [row] = await db.sql<[{ count: number }]>`
    select count(*)::integer as count from parked_revisions where workspace_id = ${workspaceId}`
  return row.count
}

for (const isKnown of [true, false]) {
  const who = isKnown ? 'a customer who is known' : 'a customer who never wrote'

  test(`a withdrawal and edits of ${who} that arrive before their message are applied to it`, async () => {
    const w = await inboxWorld()
    if (isKnown) await w.customerWrites('Hello')
    await w.deliver(told(w, 'edited', { at: minuteAgo(w) }))
    await w.deliver(told(w, 'edited', { at: minuteAgo(w) }))
    await w.deliver(late(w))
    assert.equal((await storedMessage(w, 'wamid.late')).text, 'Edited')
    await w.deliver(told(w, 'withdrawn', { originalId: 'wamid.2' }))
    await w.deliver(late(w, { externalId: 'wamid.2' }))
    const [{ id }] = await w.conversations()
    const message = await storedMessage(w, 'wamid.2')
    assert.deepEqual([message.text, message.revision?.withdrawnAt], ['', w.clock.now().toISOString()])
    assert.equal((await w.texts(id)).includes('Secret'), false)
    assert.equal(await waiting(w), 0)
  })
}

test('a revision by the other side at the same time does not take the place of the author’s', async () => {
  const w = await inboxWorld()
  await w.deliver(told(w, 'edited', { direction: 'outbound', text: 'Not theirs' }))
  await w.deliver(told(w, 'edited'))
  await w.deliver(late(w))
  assert.equal((await storedMessage(w, 'wamid.late')).text, 'Edited')
})

test('messages of the phone, a history or another app withdrawn before they arrive are stored withdrawn', async () => {
  const w = await inboxWorld()
  const said = { customer: marina, kind: 'text', text: 'Secret', at: minuteAgo(w) } as const
  const rows: [
    externalId: string,
    direction: Revision['direction'],
    arrive: (externalId: string) => Promise<unknown>,
  ][] = [
    ['wamid.echo', 'outbound', (externalId) => w.deliver({ type: 'echo', externalId, ...said })],
    [
      'wamid.history',
      'inbound',
      (externalId) => w.deliver({ type: 'history', externalId, direction: 'inbound', status: 'read', ...said }),
    ],
    [
      'wamid.app',
      'outbound',
      (externalId) =>
        recordEcho(w.receiveDeps, w.workspaceId, {
          ...{ connectionId: w.connectionId, to: marina.phone ?? '', externalId, kind: 'text', text: 'Secret' },
          occurredAt: null,
        }),
    ],
  ]
  for (const [originalId, direction, arrive] of rows) {
    await w.deliver(told(w, 'withdrawn', { originalId, direction }))
    await arrive(originalId)
    assert.equal((await storedMessage(w, originalId)).text, '', originalId)
  }
})

test('a reaction removed before it arrives does not exist; a newer one stays', async () => {
  const w = await inboxWorld()
  await w.customerWrites('Hello', { externalId: 'wamid.1' })
  await w.deliver(told(w, 'reaction_lifted', { originalId: 'wamid.1', at: minuteAgo(w) }))
  const reaction = { externalId: 'wamid.1', emoji: '👍' }
  w.clock.advance(1000)
  await w.deliver(late(w, { externalId: 'wamid.r2', text: '👍', detail: { reaction }, at: w.clock.now() }))
  await w.deliver(
    late(w, { externalId: 'wamid.r1', text: '👍', detail: { reaction }, at: new Date(minuteAgo(w).getTime() - 2000) }),
  )
  const [lifted, kept] = [await storedMessage(w, 'wamid.r1'), await storedMessage(w, 'wamid.r2')]
  assert.deepEqual([lifted.text, kept.text], ['', '👍'])
})

test('a customer cannot change messages of another, nor our answers', async () => {
  const w = await inboxWorld()
  const other: Customer = { ...marina, phone: '5511900000001' }
  await w.deliver(told(w, 'withdrawn', { customer: other }))
  await w.deliver(told(w, 'withdrawn', { direction: 'outbound', at: minuteAgo(w) }))
  await w.deliver(late(w))
  assert.equal((await storedMessage(w, 'wamid.late')).text, 'Secret')
})

once('at the same moment and on two nodes one of both sees the other', async () => {
  for (const isKnown of [true, false]) {
    for (let n = 0; n < 6; n++) {
      const w = await inboxWorld()
      if (isKnown) await w.customerWrites('Hello')
      const receiver = { workspaceId: w.workspaceId, id: w.connectionId, channel: 'waba' } as const
      await Promise.all([
        createReceive(w.receiveDeps)(receiver, [told(w, 'withdrawn')]),
        createReceive(w.receiveDeps)(receiver, [late(w)]),
      ])
      assert.equal((await storedMessage(w, 'wamid.late')).text, '')
    }
  }
})

once('they wait for a week, a thousand in a workspace at most, and their content is encrypted', async () => {
  const w = await inboxWorld()
  const many = Array.from({ length: 1005 }, (_, n) => told(w, 'edited', { originalId: `wamid.${n}`, text: 'Spoken' }))
  await w.deliver(...many)
  assert.equal(await waiting(w), 1000)
  const rows = await w.db.sql<{ content: Buffer }[]>`
    select content from parked_revisions where workspace_id = ${w.workspaceId}`
  assert.equal(
    rows.some(({ content }) => content.includes('Spoken')),
    false,
  )
  w.clock.advance(7 * 86_400_000 + 1)
  await deleteOldParked(w.db, w.clock.now())
  assert.equal(await waiting(w), 0)
})
