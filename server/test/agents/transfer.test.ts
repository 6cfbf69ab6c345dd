import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { mcpClient, toolCaller } from '../support/agents/mcp-client.ts'
import { addAgent } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'

const refund = {
  summary: 'Wants the money back for order 1042.',
  reason: 'Refunds need a person.',
  urgency: 'high',
  closing: 'A colleague will help you.',
}

test('after a handover with a closing message, the agent is refused until people hand it back', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('I want my money back')
  const first = await w.callTool('hand_over', { conversation_id, ...refund })
  assert.equal(first.status, 200, JSON.stringify(first.body))
  assert.deepEqual([first.body.closing, first.body.was_new, first.body.conversation.owner], ['sent', true, 'people'])
  assert.equal(first.body.conversation.handed_over.urgency, 'high')
  const again = await w.callTool('hand_over', { conversation_id, ...refund })
  assert.deepEqual([again.body.was_new, again.body.closing], [false, null])
  for (const [verb, input] of [
    ['answer', { text: 'Hello?' }],
    ['take_offered', {}],
  ] as const) {
    const refused = await w.callTool(verb, { conversation_id, ...input })
    assert.equal(refused.status, 409, verb)
    assert.doesNotMatch(JSON.stringify(refused.body.next), /take_offered/)
  }
  const note = { summary: 'It is paid back.', nextStep: 'Say that it takes five days.' }
  await w.handBack(await signedInMember(w), conversation_id, note)
  const { body } = await w.callTool('read_conversation', { conversation_id })
  const words = body.handovers.at(-1)
  assert.deepEqual(
    [words.by_name, words.to, words.summary, words.next_step],
    ['Ana Lima', 'you', note.summary, note.nextStep],
  )
  assert.equal((await w.callTool('answer', { conversation_id, text: 'It takes five days.' })).body.was_new, true)
})

test('a handover can be assigned only to members of the workspace', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Hello')
  const stranger = await w.callTool('hand_over', { conversation_id, ...refund, assigned_to: conversation_id })
  assert.deepEqual([stranger.status, stranger.body.issues[0].path], [400, 'assigned_to'])
  const member = await signedInMember(w)
  const { body } = await w.callTool('hand_over', { conversation_id, ...refund, assigned_to: member.userId })
  assert.deepEqual(body.conversation.assigned_to, { id: member.userId, name: 'Ana Lima' })
})

test('an agent can hand over to another agent with a summary, but not to itself', async () => {
  const w = await agentsWorld()
  const other = await w.addKey({ name: 'Quotes', scopes: ['inbox.read', 'inbox.write'] })
  const { id: conversation_id } = await w.customerWrites('20 units, please')
  const itself = await w.callTool('hand_to_agent', { conversation_id, key_id: w.agent.id, summary: 'Wants a quote.' })
  assert.deepEqual([itself.status, itself.body.issues[0].path], [400, 'key_id'])
  const { body } = await w.callTool('hand_to_agent', { conversation_id, key_id: other.id, summary: 'Wants a quote.' })
  assert.deepEqual([body.conversation.owner, body.conversation.owner_name], ['another_agent', 'Quotes'])
  const read = await w.callTool('read_conversation', { conversation_id }, other.value)
  assert.deepEqual([read.body.conversation.owner, read.body.handovers[0].to], ['you', 'you'])
})

test('by default agents cannot take conversations of people through the agent API, but through API v1', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Hello')
  const member = await w.takeOver(conversation_id)
  const tool = toolCaller(await mcpClient(w, w.agent.value))
  for (const [verb, input] of [
    ['take_offered', {}],
    ['answer', { text: 'Hello?' }],
    ['hand_over', { summary: 'Mine again.' }],
    ['resolve', {}],
  ] as const) {
    const { status, body } = await w.callTool(verb, { conversation_id, ...input })
    assert.deepEqual([status, body.code, body.owner], [409, 'HELD_BY_PEOPLE', 'people'], verb)
    const { isError, read } = await tool(verb, { conversation_id, ...input })
    assert.deepEqual([isError, read.code], [true, 'HELD_BY_PEOPLE'], verb)
  }
  assert.equal((await w.callTool('read_conversation', { conversation_id })).body.conversation.owner, 'people')
  await w.handBack(member, conversation_id)
  assert.equal((await tool('answer', { conversation_id, text: 'Hello again.' })).read.was_new, true)

  await member.call('POST', `/inbox/conversations/${conversation_id}/take-over`)
  assert.equal((await w.patch(conversation_id, { owner: `agent:${w.agent.id}` }, w.agent.value)).status, 200)
})

test('the first agent that takes an offered conversation gets it', async () => {
  const w = await agentsWorld()
  const other = await w.addKey({ name: 'Other', scopes: ['inbox.read', 'inbox.write'] })
  const { id: conversation_id } = await w.customerWrites('Hello')
  const member = await w.takeOver(conversation_id)
  const note = { summary: 'Anybody may go on.' }
  await member.call('POST', `/inbox/conversations/${conversation_id}/offer`, { note })
  const { body: seen } = await w.callTool('read_conversation', { conversation_id })
  assert.equal(seen.conversation.may_take, true)
  assert.match(seen.next[0], /take_offered/)
  const { body } = await w.callTool('take_offered', { conversation_id }, other.value)
  assert.equal(body.conversation.owner, 'you')
  assert.match(body.next[0], /is waiting/)
  const late = await w.callTool('take_offered', { conversation_id })
  assert.deepEqual([late.status, late.body.code], [409, 'OWNER_MISMATCH'])
})

test('a retried hand_to_agent has no further effect, even if the customer wrote in between', async () => {
  const w = await agentsWorld()
  const [other, third] = [await addAgent(w), await addAgent(w)]
  const { id: conversation_id } = await w.customerWrites('Hello')
  const hand = { conversation_id, key_id: other.id, summary: 'Asks for a quote.', reason: 'Not mine.' }
  assert.equal((await w.callTool('hand_to_agent', hand)).body.was_new, true)
  w.clock.advance(1000)
  await w.customerWrites('Hello?')
  const again = await w.callTool('hand_to_agent', hand)
  assert.deepEqual([again.status, again.body.was_new, again.body.conversation.owner], [200, false, 'another_agent'])
  const { body } = await w.callTool('read_conversation', { conversation_id })
  assert.equal(body.handovers.length, 1)
  for (const change of [{ summary: 'Something else.' }, { key_id: third.id }, { urgency: 'high' }]) {
    assert.equal((await w.callTool('hand_to_agent', { ...hand, ...change })).status, 409)
  }
})
