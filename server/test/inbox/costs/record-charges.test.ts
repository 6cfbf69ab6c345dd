import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeliveryStatus, Pricing } from '../../../src/channels/channel-event.ts'
import { externalIndex } from '../../../src/inbox/conversation/encrypted-conversation.ts'
import { eraseConversation } from '../../../src/inbox/erase.ts'
import { recordPart } from '../../../src/inbox/send/record-result.ts'
import { settleSend } from '../../../src/inbox/send/settle-parts.ts'
import { statementsOf } from '../../support/database.ts'
import { inboxWorld } from '../../support/inbox/inbox-world.ts'
import { brazil, ledgerOf, ledgersOfOrders, regular, sentWorld } from './charged-world.ts'

test('shuffled, repeated and batched statuses give the same ledger', async () => {
  const { expected, repeated, unordered } = await ledgersOfOrders(100, 2)
  assert.equal(expected.length, 100)
  assert.equal(expected.filter(({ delivered }) => delivered === false).length, 10)
  assert.ok(expected.every(({ actor_type: type, country }) => type !== null && country === 'BR'))
  assert.deepEqual(repeated, expected)
  assert.deepEqual(unordered, expected)
})

test('each part of a split text is one charge, and a failed part is not delivered', async () => {
  const w = await inboxWorld()
  const { id } = await w.customerWrites('Hi')
  const messageId = await w.pendingSend(id, 3)
  const tell = (part: number, status: DeliveryStatus, pricing?: Pricing) =>
    w.status(`wamid.${part}`, status, {
      correlator: `${messageId}:${part}`,
      customer: brazil,
      ...(pricing && { pricing }),
    })
  await w.deliver(tell(1, 'sent', regular), tell(2, 'sent', regular), tell(3, 'sent', regular))
  await w.deliver({ ...tell(2, 'failed'), errorCode: '131026' }, tell(3, 'delivered', regular))
  const charges = await ledgerOf(w)
  assert.deepEqual(
    new Set(charges.map(({ conversation_id: of, actor_id: by }) => `${of} ${by}`)),
    new Set([`${id} ${w.keyId}`]),
  )
  assert.deepEqual(charges.map(({ delivered }) => delivered).sort(), [false, null, true].sort())
})

test('the statement that advances messages also records their prices', async () => {
  const w = await sentWorld(20)
  const tellAll = (status: DeliveryStatus) =>
    w.sent.map(({ externalId }) => w.status(externalId, status, { customer: brazil, pricing: regular }))
  const statements = await statementsOf(() => w.callback(tellAll('delivered')))
  const charging = statements.filter(({ text }) => text.includes('message_charges'))
  assert.deepEqual(
    charging.map(({ text }) => text.includes('update messages')),
    [true],
  )
  const charges = await w.ledger()
  assert.equal(charges.length, 20)
  assert.ok(
    charges.every(({ actor_type: by, conversation_id: id, delivered }) => by === 'system' && id !== null && delivered),
  )
  await w.callback(tellAll('delivered'))
  assert.deepEqual(await w.ledger(), charges)
})

test('a price that `read` repeats after `delivered` writes no new version of its charge', async () => {
  const w = await sentWorld(1)
  const [message] = w.sent
  assert.ok(message)
  const tell = (status: DeliveryStatus) =>
    w.callback([w.status(message.externalId, status, { customer: brazil, pricing: regular })])
  const version = async () => {
    const [row] = await w.db.sql`
      select ctid::text, step from message_charges where workspace_id = ${w.workspaceId}`
    return row
  }
  await tell('delivered')
  const first = await version()
  assert.equal(first?.step, 2)
  await tell('read')
  assert.deepEqual(await version(), first)
})

test('a failure that overtakes the price marks it, and only a price on a delivery counts again', async () => {
  const w = await sentWorld(1)
  const [message] = w.sent
  assert.ok(message)
  const tell = (status: DeliveryStatus, more = {}) =>
    w.status(message.externalId, status, { customer: brazil, ...more })
  await w.callback([tell('failed', { errorCode: '131026' })])
  await w.callback([tell('sent', { pricing: regular })])
  assert.deepEqual(
    (await w.ledger()).map(({ delivered }) => delivered),
    [false],
  )
  await w.callback([tell('delivered', { pricing: regular })])
  assert.deepEqual(
    (await w.ledger()).map(({ delivered }) => delivered),
    [true],
  )
})

test('the end of a free entry point, which only the first status tells, is kept in any order', async () => {
  for (const order of [['sent', 'delivered'] as const, ['delivered', 'sent'] as const]) {
    const w = await sentWorld(1)
    const [message] = w.sent
    assert.ok(message)
    const freeUntil = new Date(w.clock.now().getTime() + 72 * 3_600_000)
    const entry = { ...regular, type: 'free_entry_point', isBillable: false } as const
    for (const status of order) {
      const pricing = { ...entry, freeUntil: status === 'sent' ? freeUntil : null }
      await w.callback([w.status(message.externalId, status, { customer: brazil, pricing })])
    }
    assert.deepEqual(
      (await w.ledger()).map(({ free_until: end, step }) => [end, step]),
      [[freeUntil, 2]],
    )
  }
})

test('a price that arrives before its send is settled gets its conversation and sender then', async () => {
  const w = await inboxWorld()
  const { id: conversationId } = await w.customerWrites('Hi')
  const messageId = await w.pendingSend(conversationId)
  const { workspaceId } = w
  await w.deliver(w.status('wamid.early', 'delivered', { customer: brazil, pricing: regular }))
  assert.deepEqual(
    (await ledgerOf(w)).map(({ actor_id: by }) => by),
    [null],
  )
  const index = externalIndex(await w.keyStore.keyring(workspaceId), w.connectionId, 'wamid.early')
  const result = { verdict: 'accepted', errorCode: null, externalIndex: index, externalId: null } as const
  await w.db.tx((tx) => recordPart(tx, { workspaceId, conversationId, messageId }, 1, result))
  const step = <T>(_name: string, work: () => T) => work()
  const connectors = { waba: {}, unofficial: {}, partner: {}, website: {} }
  await settleSend({ ...w.receiveDeps, connectors, step }, { workspaceId, conversationId, messageId }, 'answered')
  const [charge] = await ledgerOf(w)
  assert.deepEqual([charge?.conversation_id, charge?.actor_id], [conversationId, w.keyId])
})

test('messages of other apps on the number are charges without a sender, and statuses without a price are none', async () => {
  const w = await inboxWorld()
  await w.deliver(w.status('wamid.other', 'delivered', { pricing: { ...regular, type: 'unknown' } }))
  await w.deliver(w.status('wamid.none', 'delivered'))
  const charges = await ledgerOf(w)
  assert.deepEqual(
    charges.map(({ conversation_id: id, actor_type: by, country, type }) => [id, by, country, type]),
    [[null, null, null, 'unknown']],
  )
})

test('erasing the customer keeps the charge without its conversation', async () => {
  const w = await sentWorld(1)
  const [message] = w.sent
  assert.ok(message)
  await w.callback([w.status(message.externalId, 'delivered', { customer: brazil, pricing: regular })])
  const conversationId = (await w.ledger())[0]?.conversation_id as string
  for (let hasMore = true; hasMore; ) {
    const step = await w.db.tx((tx) => eraseConversation(tx, w.workspaceId, conversationId))
    hasMore = step.position !== null
  }
  const [charge, ...others] = await w.ledger()
  assert.deepEqual([charge?.conversation_id, charge?.country, others.length], [null, 'BR', 0])
  // A repeat after the erasure finds its charge, and no message.
  await w.callback([w.status(message.externalId, 'delivered', { customer: brazil, pricing: regular })])
  assert.deepEqual(await w.ledger(), [charge])
})
