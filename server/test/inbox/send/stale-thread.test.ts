import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { addAgent, conversationPath, customerMessage, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { testTeamToken } from '../../support/world.ts'

async function thread() {
  const w = await inboxWorld()
  const agent = await addAgent(w)
  const { id } = await w.customerWrites('Hi')
  const path = `/api/team/v1/workspaces/${w.workspaceId}/inbox/conversations/${id}/messages`
  const send = (lastSeenId: unknown, key: string = randomUUID()) => {
    w.clock.advance(1000)
    return w.call('POST', path, {
      body: { kind: 'text', text: 'Hello!', if_last_message_id: lastSeenId },
      headers: { 'idempotency-key': key },
      key: testTeamToken,
    })
  }
  const newestId = async () => (await w.messages(id)).at(-1).id as string
  return { w, agent, id, send, newestId }
}

test('a member who has seen everything can send; one who missed a message gets it instead, and nothing is sent', async () => {
  const { w, send, newestId } = await thread()
  const seen = await newestId()
  w.clock.advance(1000)
  await w.deliver(customerMessage({ at: w.clock.now(), text: 'Wait!' }))
  const sent = w.platform.sends.length
  const moved = await send(seen)
  assert.equal(moved.status, 409)
  const { code, message } = moved.body.data
  assert.deepEqual([code, message.text, message.author.type], ['THREAD_MOVED', 'Wait!', 'customer'])
  assert.equal(w.platform.sends.length, sent)
  assert.equal((await send(message.id)).status, 202)
})

test("messages of agents and other apps count as newer, the member's own do not", async () => {
  const { w, agent, id, send, newestId } = await thread()
  const seen = await newestId()
  w.clock.advance(1000)
  const text = { kind: 'text', text: 'I am the agent' }
  const headers = { 'idempotency-key': 'agent' }
  await w.call('POST', `${conversationPath(id)}/messages`, { body: text, headers, key: agent.value })
  assert.equal((await send(seen)).body.data.message.author.type, 'agent')
  const next = await newestId()
  assert.equal((await send(next)).status, 202)
  assert.equal((await send(next)).status, 202)
  w.clock.advance(1000)
  const at = w.clock.now()
  await w.deliver({ type: 'echo', externalId: 'wamid.e', customer: marina, kind: 'text', text: 'From my phone', at })
  assert.equal((await send(next)).body.data.message.author.type, 'app')
})

test('a late message from before the seen one counts as newer', async () => {
  const { w, send, newestId } = await thread()
  const seen = await newestId()
  const earlier = new Date(w.clock.now().getTime() - 60_000)
  w.clock.advance(1000)
  await w.deliver(customerMessage({ at: earlier, text: 'I wrote this first' }))
  assert.equal((await send(seen)).body.data.message.text, 'I wrote this first')
})

test('platform notices and history messages do not count as newer', async () => {
  const { w, send, newestId } = await thread()
  const seen = await newestId()
  w.clock.advance(1000)
  const at = w.clock.now()
  await w.deliver(customerMessage({ at, kind: 'system', text: 'The number changed', opensWindow: false }))
  assert.equal((await send(seen)).status, 202)
})

test('a repeat of a successful send gets its first response despite newer messages', async () => {
  const { w, send, newestId } = await thread()
  const seen = await newestId()
  const first = await send(seen, 'one')
  const sent = w.platform.sends.length
  w.clock.advance(1000)
  await w.deliver(customerMessage({ at: w.clock.now(), text: 'Thanks' }))
  assert.deepEqual((await send(seen, 'one')).body, first.body)
  assert.equal(w.platform.sends.length, sent)
})

test('the message must be in the conversation, and agents have no such field', async () => {
  const { w, agent, id, send, newestId } = await thread()
  const elsewhere = await thread()
  assert.equal((await send(await elsewhere.newestId())).status, 400)
  assert.equal((await send('x')).status, 400)
  assert.equal((await send(7)).status, 400)
  const body = { kind: 'text', text: 'x', if_last_message_id: await newestId() }
  const headers = { 'idempotency-key': 'agent' }
  const refused = await w.call('POST', `${conversationPath(id)}/messages`, { body, headers, key: agent.value })
  assert.equal(refused.status, 400)
})
