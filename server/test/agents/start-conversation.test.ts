import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AgentsWorld, addTemplate, agentsWorld } from '../support/agents/agents-world.ts'
import { marina } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'

const template = { name: 'order_update', language: 'en_US', body_params: ['Ana'] }
const phone = '+55 81 99876-5432'

async function withTemplate(): Promise<AgentsWorld> {
  const w = await agentsWorld()
  await addTemplate(w)
  return w
}

const told = (w: AgentsWorld) => w.platform.sends.filter(({ connectionId }) => connectionId === w.connectionId).length

test('a template opens a conversation with a number that has not written; again, it sends nothing more', async () => {
  const w = await withTemplate()
  const ask = { connection_id: w.connectionId, phone, template }
  const first = await w.ask('start_conversation', ask)
  assert.equal(first.status, 200, JSON.stringify(first.body))
  assert.deepEqual([first.body.began, first.body.was_new, first.body.conversation.owner], [true, true, 'you'])
  const again = await w.ask('start_conversation', ask)
  assert.deepEqual([again.body.began, again.body.was_new, told(w)], [false, false, 1])
  assert.equal(again.body.conversation.id, first.body.conversation.id)
  const events = await w.events(first.body.conversation.id)
  assert.deepEqual(
    events.map(({ name }) => name),
    ['inbox.conversation.owner_changed', 'inbox.message.sent'],
  )
})

test('nothing begins where the template cannot be sent', async () => {
  const w = await withTemplate()
  const ask = { connection_id: w.connectionId, phone, template }
  const unknown = await w.ask('start_conversation', { ...ask, template: { ...template, name: 'other' } })
  assert.deepEqual([unknown.status, unknown.body.code], [422, 'TEMPLATE_NOT_APPROVED'])
  const few = await w.ask('start_conversation', { ...ask, template: { ...template, body_params: [] } })
  assert.deepEqual([few.status, few.body.code], [422, 'INVALID_MESSAGE'])
  const elsewhere = await w.ask('start_conversation', { ...ask, connection_id: w.workspaceId })
  assert.deepEqual([elsewhere.status, elsewhere.body.code], [404, 'NOT_FOUND'])
  const number = await w.ask('start_conversation', { ...ask, phone: 'none' })
  assert.deepEqual([number.status, number.body.issues[0].path], [400, 'phone'])
  assert.deepEqual([(await w.conversations()).length, told(w)], [0, 0])
})

test('what people hold is not started anew', async () => {
  const w = await withTemplate()
  const { id } = await w.customerWrites('Hello')
  const member = await signedInMember(w)
  await member.call('POST', `/inbox/conversations/${id}/take-over`)
  const ask = { connection_id: w.connectionId, phone: marina.phone, template }
  const { status, body } = await w.ask('start_conversation', ask)
  assert.deepEqual([status, body.code, told(w)], [409, 'HELD_BY_PEOPLE', 0])
})

test('while agents are stopped none starts a conversation', async () => {
  const w = await withTemplate()
  const admin = await signedInMember(w, 'admin')
  await admin.call('PATCH', '', { agentsStopped: true })
  const { status, body } = await w.ask('start_conversation', { connection_id: w.connectionId, phone, template })
  assert.deepEqual([status, body.code, told(w)], [403, 'OWNER_FORBIDDEN', 0])
})

test('a key that sees phones masked pays for each number that it names in vain', async () => {
  const w = await withTemplate()
  const { value } = await w.addKey({ scopes: ['inbox.write'], phoneVisibility: 'masked' })
  const ask = { connection_id: w.connectionId, template: { ...template, name: 'other' } }
  for (let n = 0; n < 30; n++) {
    assert.equal((await w.ask('start_conversation', { ...ask, phone: `55119999900${10 + n}` }, value)).status, 422)
  }
  assert.equal((await w.ask('start_conversation', { ...ask, phone: '5511999990099' }, value)).status, 429)
})
