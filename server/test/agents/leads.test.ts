import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { marina } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'

test('an agent creates, finds, reads and changes a lead, custom fields among them', async () => {
  const w = await agentsWorld()
  const fields = { first_name: 'Marina', phone: marina.phone, custom_field_values: { city: 'Recife' } }
  const created = await w.ask('create_lead', fields)
  assert.equal(created.status, 200, JSON.stringify(created.body))
  const { id } = created.body.lead
  const { body: found } = await w.ask('find_leads', { search: 'marina' })
  assert.deepEqual([found.total, found.leads[0].id, found.next_cursor], [1, id, null])
  const changes = { identifier: marina.phone, status: 'qualified', custom_field_values: { city: 'Olinda' } }
  const { body: changed } = await w.ask('update_lead', changes)
  assert.deepEqual(
    [changed.changed, changed.lead.status, changed.lead.custom_field_values.city],
    [true, 'qualified', 'Olinda'],
  )
  assert.equal((await w.ask('update_lead', changes)).body.changed, false)
  assert.equal((await w.ask('get_lead', { identifier: id })).body.lead.status, 'qualified')
})

test('however often a lead is upserted by its phone, there is one', async () => {
  const w = await agentsWorld()
  const ask = { match: { by: 'phone', value: '+55 81 99123-4567' }, lead: { first_name: 'Marina' } }
  assert.equal((await w.ask('upsert_lead', ask)).body.action, 'created')
  assert.equal((await w.ask('upsert_lead', ask)).body.action, 'updated')
  assert.equal((await w.ask('find_leads')).body.total, 1)
})

test('a mistake is told in the spelling that was used', async () => {
  const w = await agentsWorld()
  await w.ask('create_lead', { first_name: 'Ana', external_ref: 'A-1' })
  const taken = await w.ask('create_lead', { first_name: 'Bia', external_ref: 'A-1' })
  assert.deepEqual([taken.status, taken.body.field], [409, 'external_ref'])
  assert.doesNotMatch(JSON.stringify(taken.body), /externalRef/)
  const wrong = await w.ask('create_lead', { first_name: 'Bia', estimated_value: 1.234 })
  assert.deepEqual([wrong.status, wrong.body.issues[0].path], [400, 'estimated_value'])
  const unknown = await w.ask('update_lead', { identifier: 'A-1', first_nam: 'Cia' })
  assert.deepEqual([unknown.status, unknown.body.issues[0].path], [400, 'first_nam'])
})

test('the lead of a customer stands beside the conversation, for keys that may read leads', async () => {
  const w = await agentsWorld()
  await w.ask('create_lead', { first_name: 'Marina', phone: marina.phone })
  const { id: conversation_id } = await w.customerWrites('Hello')
  assert.equal((await w.ask('read_conversation', { conversation_id })).body.lead.name, 'Marina')
  const { value } = await w.addKey({ scopes: ['inbox.read'] })
  assert.equal((await w.ask('read_conversation', { conversation_id }, value)).body.lead, null)
  const refused = await w.ask('get_lead', { identifier: marina.phone }, value)
  assert.deepEqual([refused.status, refused.body.code], [401, 'UNAUTHORIZED'])
})

test('the lists name labels, people, other agents, connections and canned replies', async () => {
  const w = await agentsWorld()
  const admin = await signedInMember(w, 'admin')
  await admin.call('POST', '/labels', { name: 'VIP', color: 'red' })
  await admin.call('POST', '/canned-replies', { shortcut: 'hours', text: 'From 9 to 18.' })
  assert.equal((await w.ask('list_labels')).body.labels[0].name, 'VIP')
  assert.deepEqual((await w.ask('list_canned_replies')).body.canned_replies, [
    { shortcut: 'hours', text: 'From 9 to 18.' },
  ])
  const { body: people } = await w.ask('list_people')
  assert.deepEqual(people.members, [{ id: admin.userId, name: 'Ana Lima', role: 'admin' }])
  assert.deepEqual(
    people.agents.filter(({ is_you }: { is_you: boolean }) => is_you),
    [{ key_id: w.agent.id, name: 'Support agent', is_you: true }],
  )
  assert.equal((await w.ask('list_connections')).body.connections[0].id, w.connectionId)
  assert.deepEqual((await w.ask('list_templates')).body.templates, [])
})
