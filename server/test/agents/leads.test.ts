import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { marina } from '../support/inbox/inbox-world.ts'
import { signedInMember } from '../support/member.ts'

test('an agent creates, finds, reads and updates a lead with custom fields', async () => {
  const w = await agentsWorld()
  const fields = { first_name: 'Marina', phone: marina.phone, custom_field_values: { city: 'Recife' } }
  const created = await w.callTool('create_lead', fields)
  assert.equal(created.status, 200, JSON.stringify(created.body))
  const { id } = created.body.lead
  const { body: found } = await w.callTool('find_leads', { search: 'marina' })
  assert.deepEqual([found.total, found.leads[0].id, found.next_cursor], [1, id, null])
  const changes = { identifier: marina.phone, status: 'qualified', custom_field_values: { city: 'Olinda' } }
  const { body: changed } = await w.callTool('update_lead', changes)
  assert.deepEqual(
    [changed.changed, changed.lead.status, changed.lead.custom_field_values.city],
    [true, 'qualified', 'Olinda'],
  )
  assert.equal((await w.callTool('update_lead', changes)).body.changed, false)
  assert.equal((await w.callTool('get_lead', { identifier: id })).body.lead.status, 'qualified')
})

test('repeated upserts by phone create one lead', async () => {
  const w = await agentsWorld()
  const ask = { match: { by: 'phone', value: '+55 81 99123-4567' }, lead: { first_name: 'Marina' } }
  assert.equal((await w.callTool('upsert_lead', ask)).body.action, 'created')
  assert.equal((await w.callTool('upsert_lead', ask)).body.action, 'updated')
  assert.equal((await w.callTool('find_leads')).body.total, 1)
})

test('errors name fields in snake_case', async () => {
  const w = await agentsWorld()
  await w.callTool('create_lead', { first_name: 'Ana', external_ref: 'A-1' })
  const taken = await w.callTool('create_lead', { first_name: 'Bia', external_ref: 'A-1' })
  assert.deepEqual([taken.status, taken.body.field], [409, 'external_ref'])
  assert.doesNotMatch(JSON.stringify(taken.body), /externalRef/)
  const wrong = await w.callTool('create_lead', { first_name: 'Bia', estimated_value: 1.234 })
  assert.deepEqual([wrong.status, wrong.body.issues[0].path], [400, 'estimated_value'])
  const unknown = await w.callTool('update_lead', { identifier: 'A-1', first_nam: 'Cia' })
  assert.deepEqual([unknown.status, unknown.body.issues[0].path], [400, 'first_nam'])
})

test('a conversation includes the lead of the customer, if the key can read leads', async () => {
  const w = await agentsWorld()
  await w.callTool('create_lead', { first_name: 'Marina', phone: marina.phone })
  const { id: conversation_id } = await w.customerWrites('Hello')
  assert.equal((await w.callTool('read_conversation', { conversation_id })).body.lead.name, 'Marina')
  const { value } = await w.addKey({ scopes: ['inbox.read'] })
  assert.equal((await w.callTool('read_conversation', { conversation_id }, value)).body.lead, null)
  const refused = await w.callTool('get_lead', { identifier: marina.phone }, value)
  assert.deepEqual([refused.status, refused.body.code], [401, 'UNAUTHORIZED'])
})

test('lists return labels, people, other agents, connections and canned replies', async () => {
  const w = await agentsWorld()
  const admin = await signedInMember(w, 'admin')
  await admin.call('POST', '/labels', { name: 'VIP', color: 'red' })
  await admin.call('POST', '/canned-replies', { shortcut: 'hours', text: 'From 9 to 18.' })
  assert.equal((await w.callTool('list_labels')).body.labels[0].name, 'VIP')
  assert.deepEqual((await w.callTool('list_canned_replies')).body.canned_replies, [
    { shortcut: 'hours', text: 'From 9 to 18.' },
  ])
  const { body: people } = await w.callTool('list_people')
  assert.deepEqual(people.members, [{ id: admin.userId, name: 'Ana Lima', role: 'admin' }])
  assert.deepEqual(
    people.agents.filter(({ is_you }: { is_you: boolean }) => is_you),
    [{ key_id: w.agent.id, name: 'Support agent', is_you: true }],
  )
  assert.equal((await w.callTool('list_connections')).body.connections[0].id, w.connectionId)
  assert.deepEqual((await w.callTool('list_templates')).body.templates, [])
})

const definitions = [
  { key: 'size', label: 'Size', type: 'select', choices: ['S', 'eXtra'], required: true },
  { key: 'likes', label: 'Likes', type: 'multiselect', choices: ['Red', 'Blue'] },
  { key: 'budget', label: 'Budget', type: 'amount' },
  { key: 'visit', label: 'Visit', type: 'date' },
]

async function withDefinitions() {
  const w = await agentsWorld()
  const admin = await signedInMember(w, 'admin')
  for (const field of definitions) assert.equal((await admin.call('POST', '/lead-fields', field)).status, 201)
  assert.equal((await admin.call('PATCH', '', { leadStatuses: ['new', 'warm', 'won'] })).status, 200)
  return { w, admin }
}

test('who_am_i lists statuses and custom fields only for keys with lead scopes', async () => {
  const { w } = await withDefinitions()
  const { body } = await w.callTool('who_am_i')
  assert.deepEqual(body.leads.statuses, ['new', 'warm', 'won'])
  assert.deepEqual(body.leads.custom_fields.slice(0, 3), [
    { key: 'size', label: 'Size', type: 'select', format: 'one of options', options: ['S', 'eXtra'], required: true },
    {
      ...{ key: 'likes', label: 'Likes', type: 'multiselect' },
      ...{ format: 'some of options, with commas between them', options: ['Red', 'Blue'], required: false },
    },
    { key: 'budget', label: 'Budget', type: 'amount', format: 'an amount such as "1500.50"', required: false },
  ])
  const { value } = await w.addKey({ scopes: ['inbox.read'] })
  assert.equal((await w.callTool('who_am_i', {}, value)).body.leads, null)
})

const unfit: [what: string, fields: object, path: string, allowed: string[] | undefined][] = [
  ['a status', { status: 'hot' }, 'status', ['new', 'warm', 'won']],
  ['an option', { custom_field_values: { size: 'XL' } }, 'custom_field_values.size', ['S', 'eXtra']],
  ['several options', { custom_field_values: { likes: 'Red, Pink' } }, 'custom_field_values.likes', ['Red', 'Blue']],
  ['an amount', { custom_field_values: { budget: 'much' } }, 'custom_field_values.budget', undefined],
  ['a date', { custom_field_values: { visit: 'tomorrow' } }, 'custom_field_values.visit', undefined],
  [
    'nothing where something is required',
    { custom_field_values: { size: null } },
    'custom_field_values.size',
    undefined,
  ],
]

test('an unknown value is rejected with the allowed values', async () => {
  const { w } = await withDefinitions()
  const { body: made } = await w.callTool('create_lead', { first_name: 'Ana', phone: marina.phone })
  assert.match(made.next[0], /size/)
  const match = { by: 'phone', value: String(marina.phone) }
  for (const [what, fields, path, allowed] of unfit) {
    const asked: [string, object, string][] = [
      ['create_lead', { first_name: 'Bia', ...fields }, path],
      ['update_lead', { identifier: marina.phone, ...fields }, path],
      ['upsert_lead', { match, lead: fields }, `lead.${path}`],
      [
        'upsert_lead',
        { match: { by: 'external_ref', value: 'new' }, lead: { first_name: 'Bia', ...fields } },
        `lead.${path}`,
      ],
    ]
    for (const [verb, input, at] of asked) {
      const { status, body } = await w.callTool(verb, input as Record<string, unknown>)
      assert.deepEqual(
        [status, body.issues?.[0].path, body.issues?.[0].allowed],
        [400, at, allowed],
        `${what}: ${verb}`,
      )
      if (allowed !== undefined) assert.ok(body.detail.includes(`: ${allowed.join(', ')}.`), body.detail)
    }
  }
  assert.equal((await w.callTool('find_leads')).body.total, 1)
  const fits = {
    status: 'warm',
    custom_field_values: { size: 'eXtra', likes: 'Blue,Red', budget: '12.50', own: 'any' },
  }
  const { body } = await w.callTool('update_lead', { identifier: marina.phone, ...fits })
  assert.deepEqual(body.lead.custom_field_values, { size: 'eXtra', likes: 'Red, Blue', budget: '12.50', own: 'any' })
})

test('values that a lead already has are accepted unchanged', async () => {
  const { w } = await withDefinitions()
  const lead = { firstName: 'Ana', phone: marina.phone, status: 'odd', customFieldValues: { size: 'XXL' } }
  await w.call('POST', '/api/v1/leads', { key: w.agent.value, body: lead })
  const back = { status: 'odd', custom_field_values: { size: 'XXL' } }
  const { status, body } = await w.callTool('update_lead', { identifier: marina.phone, ...back })
  assert.deepEqual([status, body.changed], [200, false])
})

test('at most 50 allowed values are listed', async () => {
  const w = await agentsWorld()
  const admin = await signedInMember(w, 'admin')
  const choices = Array.from({ length: 100 }, (_, n) => `Shop ${n}`)
  await admin.call('POST', '/lead-fields', { key: 'shop', label: 'Shop', type: 'select', choices })
  const { body } = await w.callTool('create_lead', { first_name: 'Ana', custom_field_values: { shop: 'None' } })
  assert.deepEqual(body.issues[0].allowed, choices.slice(0, 50))
  assert.equal((await w.callTool('who_am_i')).body.leads.custom_fields[0].options.length, 100)
})

test('notes replaces notes, append_notes adds a line once', async () => {
  const w = await agentsWorld()
  await w.callTool('create_lead', { first_name: 'Ana', phone: marina.phone, notes: 'By a person.' })
  const add = { identifier: marina.phone, append_notes: 'Asked for red shoes.' }
  assert.equal((await w.callTool('update_lead', add)).body.lead.notes, 'By a person.\nAsked for red shoes.')
  const again = await w.callTool('update_lead', add)
  assert.deepEqual([again.body.changed, again.body.lead.notes], [false, 'By a person.\nAsked for red shoes.'])
  const match = { by: 'phone', value: String(marina.phone) }
  const upserted = await w.callTool('upsert_lead', { match, lead: { append_notes: 'Two pairs.' } })
  assert.equal(upserted.body.lead.notes, 'By a person.\nAsked for red shoes.\nTwo pairs.')
  const both = await w.callTool('update_lead', { ...add, notes: 'Mine.' })
  assert.deepEqual([both.status, both.body.issues[0].path], [400, 'append_notes'])
  const long = await w.callTool('update_lead', { ...add, append_notes: 'x'.repeat(9990) })
  assert.deepEqual([long.status, long.body.issues[0].path], [400, 'append_notes'])
  assert.equal((await w.callTool('update_lead', { identifier: marina.phone, notes: 'Mine.' })).body.lead.notes, 'Mine.')
  const first = { match: { by: 'external_ref', value: 'new' }, lead: { first_name: 'Bia', append_notes: 'First.' } }
  assert.equal((await w.callTool('upsert_lead', first)).body.lead.notes, 'First.')
})

test('lines that two agents append concurrently are both kept', async () => {
  const w = await agentsWorld()
  await w.callTool('create_lead', { first_name: 'Ana', phone: marina.phone })
  const lines = Array.from({ length: 6 }, (_, n) => `Line ${n}.`)
  await Promise.all(lines.map((append_notes) => w.callTool('update_lead', { identifier: marina.phone, append_notes })))
  const { body } = await w.callTool('get_lead', { identifier: marina.phone })
  assert.deepEqual(body.lead.notes.split('\n').sort(), lines)
})
