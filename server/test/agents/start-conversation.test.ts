import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsWorldWithTemplate, template } from '../support/agents/agents-world.ts'
import { marina } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'
import { pick } from '../support/pick.ts'

const phone = '+55 81 99876-5432'

test('a template starts a conversation with a new number, once', async () => {
  const w = await agentsWorldWithTemplate()
  const ask = { connection_id: w.connectionId, phone, template }
  const first = await w.callTool('start_conversation', ask)
  assert.equal(first.status, 200, JSON.stringify(first.body))
  assert.deepEqual([first.body.began, first.body.was_new, first.body.conversation.owner], [true, true, 'you'])
  const again = await w.callTool('start_conversation', ask)
  assert.deepEqual([again.body.began, again.body.was_new, w.sent().length], [false, false, 1])
  assert.equal(again.body.conversation.id, first.body.conversation.id)
  const events = await w.events(first.body.conversation.id)
  assert.deepEqual(pick(events, 'name'), ['inbox.conversation.owner_changed', 'inbox.message.sent'])
})

test('nothing is created if the template cannot be sent', async () => {
  const w = await agentsWorldWithTemplate()
  const cases: [change: object, refusal: [number, string]][] = [
    [{ template: { ...template, name: 'other' } }, [422, 'TEMPLATE_NOT_APPROVED']],
    [{ template: { ...template, body_params: [] } }, [422, 'INVALID_MESSAGE']],
    [{ connection_id: w.workspaceId }, [404, 'NOT_FOUND']],
    [{ phone: 'none' }, [400, 'INVALID_REQUEST']],
  ]
  for (const [change, refusal] of cases) {
    const ask = { connection_id: w.connectionId, phone, template, ...change }
    const { status, body } = await w.callTool('start_conversation', ask)
    assert.deepEqual([status, body.code], refusal, JSON.stringify(change))
  }
  assert.deepEqual([(await w.conversations()).length, w.sent().length], [0, 0])
})

test('conversations of people cannot be started again', async () => {
  const w = await agentsWorldWithTemplate()
  const { id } = await w.customerWrites('Hello')
  await w.takeOver(id)
  const ask = { connection_id: w.connectionId, phone: marina.phone, template }
  const { status, body } = await w.callTool('start_conversation', ask)
  assert.deepEqual([status, body.code, w.sent().length], [409, 'HELD_BY_PEOPLE', 0])
})

test('stopped agents cannot start conversations', async () => {
  const w = await agentsWorldWithTemplate()
  const admin = await signedInMember(w, 'admin')
  await admin.call('PATCH', '', { agentsStopped: true })
  const { status, body } = await w.callTool('start_conversation', { connection_id: w.connectionId, phone, template })
  assert.deepEqual([status, body.code, w.sent().length], [403, 'OWNER_FORBIDDEN', 0])
})

test('with a key that masks phones, unknown numbers count against the lookup limit', async () => {
  const w = await agentsWorldWithTemplate()
  const { value } = await w.addKey({ scopes: ['inbox.write'], phoneVisibility: 'masked' })
  const ask = { connection_id: w.connectionId, template: { ...template, name: 'other' } }
  for (let n = 0; n < 30; n++) {
    assert.equal((await w.callTool('start_conversation', { ...ask, phone: `55119999900${10 + n}` }, value)).status, 422)
  }
  assert.equal((await w.callTool('start_conversation', { ...ask, phone: '5511999990099' }, value)).status, 429)
})

test('a template that needs more than its body is listed with what it needs, and sent with it', async () => {
  const w = await agentsWorldWithTemplate()
  const inputs = {
    headerText: { text: 'Order {{1}}', name: null },
    buttons: [{ index: 1, type: 'url', text: 'Track', url: 'https://shop.example/{{1}}' }],
  }
  await w.db.sql`
    update templates
    set body_only = false, inputs = ${w.db.sql.json(inputs)}
    where workspace_id = ${w.workspaceId}`
  const { body: list } = await w.callTool('list_templates', {})
  const shown = { headerText: 'Order {{1}}', headerLocation: false }
  assert.deepEqual(list.templates[0].inputs, {
    ...shown,
    buttons: [{ type: 'url', text: 'Track', url: 'https://shop.example/{{1}}' }],
  })
  const ask = { connection_id: w.connectionId, phone, template }
  const refused = await w.callTool('start_conversation', ask)
  assert.deepEqual([refused.status, refused.body.code], [422, 'TEMPLATE_NOT_APPROVED'])
  const filled = { ...template, header_param: 'A-17', button_params: ['A-17'] }
  const sent = await w.callTool('start_conversation', { ...ask, template: filled })
  assert.equal(sent.status, 200, JSON.stringify(sent.body))
  const message = w.sent()[0]?.order.message
  assert.ok(message?.kind === 'template')
  assert.deepEqual(message.inputs, {
    headerText: { value: 'A-17', name: null },
    buttons: [{ index: 1, type: 'url', value: 'A-17' }],
  })
})
