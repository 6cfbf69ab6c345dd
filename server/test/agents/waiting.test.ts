import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AgentsWorld, agentsWorld } from '../support/agents/agents-world.ts'
import { waitingNode } from '../support/agents/waiting-node.ts'
import type { Json } from '../support/events/feed-world.ts'
import { addAgent, marina } from '../support/inbox/inbox-world.ts'
import { testTeamToken } from '../support/world.ts'

const textsIn = (body: Json): string[] =>
  body.work.flatMap(({ messages }: Json) => messages.map((one: Json) => one.customer_text ?? one.text))

const team = async (w: AgentsWorld, method: 'PATCH' | 'POST' | 'DELETE', path: string, body?: object) => {
  const answer = await w.call(method, `/api/team/v1/workspaces/${w.workspaceId}${path}`, { key: testTeamToken, body })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
}

/** Starts a wait on a node of its own. */
async function waiting(options: Parameters<typeof waitingNode>[1] = {}) {
  const w = await agentsWorld()
  const node = await waitingNode(w, options)
  const { answer } = await node.wait()
  return { w, node, answer }
}

test('a wait ends with a customer message from another process, and holds no connection', async () => {
  const { w, answer } = await waiting()
  await w.customerWrites('Hello')
  assert.deepEqual(textsIn((await answer).body), ['Hello'])
})

test('polling finds the message if the notification is lost', async () => {
  const { w, node, answer } = await waiting({ isDeaf: true })
  await w.customerWrites('Hello')
  await node.tick()
  assert.deepEqual(textsIn((await answer).body), ['Hello'])
})

test('a revoked key ends its wait with 401 at once', async () => {
  const { w, answer } = await waiting()
  await team(w, 'DELETE', `/keys/${w.agent.id}`)
  const { status, body } = await answer
  assert.deepEqual([status, body.code], [401, 'UNAUTHORIZED'])
})

test('a rotated key ends its wait at once, without work', async () => {
  const { w, answer } = await waiting()
  await team(w, 'POST', `/keys/${w.agent.id}/rotate`, {})
  await w.customerWrites('Hello')
  const { status, body } = await answer
  assert.deepEqual([status, body.work], [200, []])
})

test('stopping agents ends a wait at once; work that arrives later is returned after the resume', async () => {
  const { w, node, answer } = await waiting()
  await team(w, 'PATCH', '', { agentsStopped: true })
  const { body } = await answer
  assert.deepEqual([body.work, body.agents_stopped], [[], true])
  assert.match(body.next[0], /do nothing/)
  const { answer: next } = await node.wait({ cursor: body.next_cursor })
  await team(w, 'PATCH', '', { agentsStopped: false })
  await w.customerWrites('Hello')
  assert.deepEqual(textsIn((await next).body), ['Hello'])
})

test('a server shutdown ends waits at once with a cursor', async () => {
  const { w, node, answer } = await waiting()
  await node.app.close()
  const { body } = await answer
  assert.deepEqual(body.work, [])
  await w.customerWrites('Hello')
  assert.deepEqual(textsIn((await w.callTool('wait_for_work', { wait: 0, cursor: body.next_cursor })).body), ['Hello'])
})

test('a key can have ten waits, and a disconnect frees a slot', async () => {
  const { node } = await waiting()
  const waits = []
  for (let count = 1; count < 10; count++) waits.push(await node.wait())
  const { status, body } = await node.sendWait({ wait: 1 })
  assert.deepEqual([status, body.code], [429, 'RATE_LIMITED'])
  assert.ok(body.next.length > 0)
  await waits.pop()?.leave()
  await node.wait()
  assert.equal((await node.sendWait({ wait: 1 })).status, 429)
})

test('a conversation that changes owner during waits goes to the new owner', async () => {
  const w = await agentsWorld()
  const node = await waitingNode(w)
  const other = await addAgent(w, { answersNewConversations: false })
  const { id } = await w.customerWrites('Hello', { customer: marina })
  await node.wait()
  const theirs = await node.wait({ key: other.value })
  await w.patch(id, { owner: `agent:${other.id}` }, other.value)
  assert.deepEqual(textsIn((await theirs.answer).body), ['Hello'])
})
