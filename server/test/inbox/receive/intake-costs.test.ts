import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChannelEvent } from '../../../src/channels/channel-event.ts'
import { everyStatementOf } from '../../support/database.ts'
import { customerMessage, inboxWorld } from '../../support/inbox/inbox-world.ts'

const w = await inboxWorld()

const customer = (n: number) => ({
  userId: null,
  parentUserId: null,
  phone: `55119000${String(n).padStart(5, '0')}`,
  name: `Ana ${n}`,
})

const messagesOf = (customers: number): ChannelEvent[] => {
  const at = new Date(w.clock.now().getTime() + 60_000)
  w.clock.advance(60_000)
  return Array.from({ length: 100 }, (_, n) => customerMessage({ at, customer: customer(n % customers) }))
}

async function statementsFor(events: ChannelEvent[]): Promise<number> {
  const sent = await everyStatementOf(() => w.deliver(...events))
  return sent.length
}

test('100 messages of 100 customers take at most 9 statements in the transaction that stores them', async () => {
  const began = await statementsFor(messagesOf(100))
  const known = await statementsFor(messagesOf(100))
  // A transaction with two statements finds that they are new. Before it, three read the workspace's keywords and its
  // hours and goals, once a minute. After the commit, one reads whether to create leads.
  assert.ok(began <= 3 + 2 + 9 + 1, `${began} statements for new customers`)
  assert.ok(known <= 5 + 3, `${known} statements for known ones`)
  assert.equal((await w.conversations({ limit: '100' })).length, 100)
})

test('100 messages of one customer take at most 10 statements', async () => {
  await w.deliver(...messagesOf(1))
  const sent = await statementsFor(messagesOf(1))
  assert.ok(sent <= 10, `${sent} statements`)
})
