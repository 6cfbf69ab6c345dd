import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillConversations, fillSent, type SentMessage } from '../../../../bench/fill.ts'
import type { ChannelEvent, DeliveryStatus, Pricing } from '../../../src/channels/channel-event.ts'
import { externalIndex } from '../../../src/inbox/conversation/encrypted-conversation.ts'
import { eraseConversation } from '../../../src/inbox/erase.ts'
import { createReceive } from '../../../src/inbox/receive/receive.ts'
import { recordPart } from '../../../src/inbox/send/record-result.ts'
import { settleSend } from '../../../src/inbox/send/settle-parts.ts'
import { type InboxWorld, inboxWorld } from '../../support/inbox/inbox-world.ts'

type Status = Extract<ChannelEvent, { type: 'status' }>

const regular: Pricing = { type: 'regular', category: 'service', isBillable: true, freeUntil: null }
const free: Pricing = { ...regular, type: 'free_customer_service', isBillable: false }
const phoneOf = (phone: string) => ({ userId: null, parentUserId: null, phone, name: null })
const brazil = phoneOf('5581991234567')

/** A workspace that has sent these messages; `callback` receives statuses, `ledger` returns the charges. */
async function sentWorld(customers: number, each = 1) {
  const w = await inboxWorld()
  const { db, keyStore, clock, workspaceId, connectionId, keyId } = w
  const filling = { db, keyring: await keyStore.keyring(workspaceId), workspaceId, now: clock.now() }
  const conversationIds = await fillConversations(filling, { connectionId, keyId, count: customers })
  const sent = await fillSent(filling, connectionId, conversationIds, { each, from: clock.now() })
  const receive = createReceive(w.receiveDeps)
  const callback = (events: readonly ChannelEvent[]) =>
    receive({ workspaceId, id: connectionId, channel: 'waba' }, [...events])
  return { ...w, sent, callback, ledger: () => ledgerOf(w) }
}

async function ledgerOf({ db, workspaceId }: InboxWorld) {
  const rows = await db.sql<Record<string, unknown>[]>`
    select external_index, conversation_id, actor_type, actor_id, template, country, type, category, is_billable,
      free_until, step, delivered, charged_at
    from message_charges
    where workspace_id = ${workspaceId}
    order by external_index`
  return [...rows]
}

/** Returns numbers from 0 up to 1, always the same ones for a seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const all = [...items]
  for (let n = all.length - 1; n > 0; n--) {
    const other = Math.floor(random() * (n + 1))
    ;[all[n], all[other]] = [all[other] as T, all[n] as T]
  }
  return all
}

/** Returns the statuses of a message in order: the price comes with one, two or all of them; one in ten fails. */
function statusesOf(w: InboxWorld, { externalId }: SentMessage, n: number): Status[] {
  const at = (seconds: number) => new Date(w.clock.now().getTime() + n * 1000 + seconds * 1000)
  const pricing = n % 3 === 0 ? regular : free
  const tell = (status: DeliveryStatus, seconds: number, isPriced: boolean): Status =>
    w.status(externalId, status, { at: at(seconds), customer: brazil, ...(isPriced && { pricing }) })
  if (n % 10 === 0) return [tell('sent', 0, true), { ...tell('failed', 2, false), errorCode: '131026' }]
  const [onSent, onDelivered, onRead] = [n % 4 !== 1, n % 4 >= 1, n % 4 === 1]
  return [tell('sent', 0, onSent), tell('delivered', 5, onDelivered), tell('read', 9, onRead)]
}

/** Delivers the statuses in callbacks of different lengths, several at once. */
async function deliver(
  callback: (events: readonly ChannelEvent[]) => Promise<void>,
  statuses: readonly Status[],
  random: () => number,
): Promise<void> {
  const callbacks: Status[][] = []
  for (let at = 0; at < statuses.length; ) {
    const length = 1 + Math.floor(random() * 60)
    callbacks.push(statuses.slice(at, at + length))
    at += length
  }
  for (let at = 0; at < callbacks.length; at += 8) await Promise.all(callbacks.slice(at, at + 8).map(callback))
}

async function ledgersOfOrders(messages: number, repeats: number) {
  const random = randomOf(39)
  const w = await sentWorld(20, messages / 20)
  const inOrder = w.sent.flatMap((message, n) => statusesOf(w, message, n))
  await deliver(w.callback, inOrder, random)
  const expected = await w.ledger()
  await deliver(w.callback, shuffled(Array.from({ length: repeats }, () => inOrder).flat(), random), random)
  const repeated = await w.ledger()
  await w.db.sql`delete from message_charges where workspace_id = ${w.workspaceId}`
  await w.db.sql`update messages set status = 'sent' where workspace_id = ${w.workspaceId} and direction = 'outbound'`
  await w.db.sql`update message_parts set status = 'sent' where workspace_id = ${w.workspaceId}`
  await deliver(w.callback, shuffled(Array.from({ length: repeats }, () => inOrder).flat(), random), random)
  return { expected, repeated, unordered: await w.ledger() }
}

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
  const connectors = { waba: {}, unofficial: {}, partner: {} }
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
