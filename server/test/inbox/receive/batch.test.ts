import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChannelEvent, Customer } from '../../../src/channels/channel-event.ts'
import { receiveBatch } from '../../support/inbox/delivery-batch.ts'
import { addAgent, customerMessage, type InboxWorld, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'

const byPhone = (n: number): Customer => ({ ...marina, phone: `55119888${70_000 + n}`, name: `Customer ${n}` })

async function textsOf(w: InboxWorld): Promise<string[][]> {
  const all = await w.conversations()
  return Promise.all(all.map(({ id }) => w.texts(id)))
}

test('one id twice in a delivery, in two batched ones, and in two processes at once, is one message', async () => {
  const w = await inboxWorld()
  const known = customerMessage({ at: w.clock.now(), text: 'known' })
  await w.deliver(known)
  const fresh = customerMessage({ at: w.clock.now(), text: 'fresh' })
  const ofNew = customerMessage({ at: w.clock.now(), text: 'new', customer: byPhone(1) })
  const lists = [[fresh, fresh, known], [fresh], [ofNew, ofNew], [ofNew, known], [known]]
  const taken = await Promise.all([receiveBatch(w, lists), receiveBatch(w, lists.toReversed()), receiveBatch(w, lists)])
  assert.ok(taken.flat().every(Boolean))
  assert.deepEqual((await textsOf(w)).sort(), [['known', 'fresh'], ['new']].sort())
  assert.deepEqual((await w.conversations()).map((one) => one.unread_count).sort(), [1, 2])
  assert.equal(w.notified.wrote.length, 3)
})

test('one id from two customers at the same time creates one conversation, and no empty one', async () => {
  const w = await inboxWorld()
  await addAgent(w)
  const first = customerMessage({ at: w.clock.now(), externalId: 'wamid.both', customer: byPhone(1) })
  await receiveBatch(w, [[first], [{ ...first, customer: { ...marina, userId: 'BR.2', phone: null } }]])
  const [{ id }, ...others] = await w.conversations()
  assert.equal(others.length, 0)
  const told = await w.events(id)
  assert.deepEqual(
    told.map(({ name }) => name),
    ['inbox.conversation.owner_changed', 'inbox.message.received'],
  )
})

test('an echo of our own send is not stored again, unlike others in the batch', async () => {
  const w = await inboxWorld()
  const { id } = await w.customerWrites('Hi')
  const messageId = await w.pendingSend(id)
  await w.deliver(w.status('wamid.sent', 'sent', { correlator: `${messageId}:1` }))
  const echo = (externalId: string): ChannelEvent[] => [
    { type: 'echo', externalId, customer: marina, kind: 'text', text: externalId, at: w.clock.now() },
  ]
  await receiveBatch(w, [echo('wamid.sent'), echo('wamid.typed'), echo('wamid.typed'), echo('wamid.sent')])
  const said = (await textsOf(w)).flat()
  assert.deepEqual(said.sort(), ['Good morning', 'Hi', 'wamid.typed'])
})
