import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AgentsWorld, agentsWorld } from '../support/agents/agents-world.ts'
import { marina } from '../support/inbox/inbox-world.ts'
import type { Answer } from '../support/world.ts'

const joao = { ...marina, phone: '5581998765432', name: 'João Prado' }

/** What waits at this moment, or came after a cursor. */
const now = async (w: AgentsWorld, cursor?: string, key?: string) =>
  (await w.ask('wait_for_work', { wait: 0, ...(cursor === undefined ? {} : { cursor }) }, key)).body

const idsIn = ({ work }: Answer['body']): string[] =>
  work.map(({ conversation }: { conversation: { id: string } }) => conversation.id)
const textsIn = ({ work }: Answer['body']): string[][] =>
  work.map(({ messages }: { messages: { customer_text?: string; text?: string }[] }) =>
    messages.map(({ customer_text, text }) => customer_text ?? text ?? ''),
  )

test('without a cursor whoever waits for the agent comes, longest first, with messages, window and lead', async () => {
  const w = await agentsWorld()
  const first = await w.customerWrites('Where is my order?')
  w.clock.advance(1000)
  const second = await w.customerWrites('Do you ship to Recife?', { customer: joao })
  w.clock.advance(1000)
  await w.customerWrites('Hello?')
  const { body: lead } = await w.call('POST', '/api/v1/leads', {
    key: w.agent.value,
    body: { firstName: 'Marina', phone: marina.phone },
  })
  const found = await now(w)
  assert.deepEqual(idsIn(found), [first.id, second.id])
  assert.deepEqual(textsIn(found), [['Where is my order?', 'Hello?'], ['Do you ship to Recife?']])
  const [work] = found.work
  assert.equal(work.why, 'customer_wrote')
  assert.equal(work.conversation.owner, 'you')
  assert.equal(work.lead.id, lead.data.id)
  assert.equal(found.work[1].lead, null)
  assert.ok(Date.parse(work.conversation.window_expires_at) > w.clock.now().getTime())
})

test('a cursor brings what came after it, once', async () => {
  const w = await agentsWorld()
  const first = await w.customerWrites('One')
  const begun = await now(w)
  assert.deepEqual(idsIn(begun), [first.id])
  assert.deepEqual(idsIn(await now(w, begun.next_cursor)), [])
  w.clock.advance(1000)
  await w.customerWrites('Two')
  const next = await now(w, begun.next_cursor)
  assert.deepEqual(textsIn(next), [['One', 'Two']])
  assert.deepEqual(idsIn(await now(w, next.next_cursor)), [])
})

test('what a customer wrote before the agent has answered is not taken for answered', async () => {
  const w = await agentsWorld()
  const { id } = await w.customerWrites('Hello')
  const begun = await now(w)
  w.clock.advance(1000)
  await w.customerWrites('I want my money back')
  w.clock.advance(1000)
  const sent = await w.call('POST', `/api/v1/inbox/conversations/${id}/messages`, {
    key: w.agent.value,
    body: { kind: 'text', text: 'Good morning! How can I help?', preview_url: false },
    headers: { 'idempotency-key': 'one' },
  })
  assert.equal(sent.status, 202)
  const next = await now(w, begun.next_cursor)
  assert.deepEqual(textsIn(next), [['Hello', 'I want my money back', 'Good morning! How can I help?']])
  assert.equal(next.work[0].conversation.waiting_since, null)
  assert.deepEqual(idsIn(await now(w)), [], 'who begins anew is told of those alone who have no answer')
})
