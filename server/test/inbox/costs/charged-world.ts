import { fillConversations, fillSent, type SentMessage } from '../../../../bench/fill.ts'
import type { ChannelEvent, DeliveryStatus, Pricing } from '../../../src/channels/channel-event.ts'
import { createReceive } from '../../../src/inbox/receive/receive.ts'
import { type InboxWorld, inboxWorld } from '../../support/inbox/inbox-world.ts'

type Status = Extract<ChannelEvent, { type: 'status' }>

export const regular: Pricing = { type: 'regular', category: 'service', isBillable: true, freeUntil: null }
const free: Pricing = { ...regular, type: 'free_customer_service', isBillable: false }
const phoneOf = (phone: string) => ({ userId: null, parentUserId: null, phone, name: null })
export const brazil = phoneOf('5581991234567')

/** A workspace that has sent these messages; `callback` receives statuses, `ledger` returns the charges. */
export async function sentWorld(customers: number, each = 1) {
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

export async function ledgerOf({ db, workspaceId }: InboxWorld) {
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

export async function ledgersOfOrders(messages: number, repeats: number) {
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
