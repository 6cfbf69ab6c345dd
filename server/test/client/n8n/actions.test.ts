import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTemplate } from '../../support/agents/agents-world.ts'
import { addLabel } from '../../support/inbox/inbox-world.ts'
import { signedInMember } from '../../support/member.ts'
import { about, type N8nWorld, n8nWorld } from '../../support/n8n/n8n-world.ts'

/** Texts that were sent to customers of this world. */
const textsTold = (w: N8nWorld): string[] =>
  w.sent().map((message) => (message.kind === 'text' ? message.text : message.kind))

test('an answer is sent once per execution, however often n8n retries the node', async () => {
  const w = await n8nWorld()
  const { id } = await w.customerWrites('Where is my order?')
  const answer = about('answer', id, { text: 'It left this morning.' })
  const [first] = await w.run(answer)
  w.clock.advance(1000)
  // A later customer message would change Parley's default key.
  await w.customerWrites('Hello?')
  const [again] = await w.run(answer)
  assert.deepEqual([first?.json.was_new, again?.json.was_new], [true, false])
  assert.deepEqual(again?.pairedItem, { item: 0 })
  assert.deepEqual(textsTold(w), ['It left this morning.'])
  await w.run(answer, { executionId: '2' })
  assert.equal(textsTold(w).length, 2)
})

test('two items with the same text are two answers, with the same own key one', async () => {
  const w = await n8nWorld()
  const { id } = await w.customerWrites('Hello')
  const answer = about('answer', id, { text: 'Hi.' })
  await w.run([answer, answer])
  assert.equal(textsTold(w).length, 2)
  const own = about('answer', id, { text: 'Bye.', more: { idempotencyKey: 'bye-1' } })
  await w.run([own, own])
  assert.deepEqual(textsTold(w), ['Hi.', 'Hi.', 'Bye.'])
})

test('conversations are noted, labelled, snoozed, read, handed over and listed', async () => {
  const w = await n8nWorld()
  const { id } = await w.customerWrites('I want my money back')
  const label = await addLabel(w, 'Refund')
  const member = await signedInMember(w)
  await w.run(about('addNote', id, { text: 'In a hurry.', more: { mentions: [member.userId] } }))
  const [labelled] = await w.run(about('label', id, { labelIds: [label] }))
  assert.equal(labelled?.json.conversation.labels[0].name, 'Refund')
  const [optedOut] = await w.run(about('setMarketingConsent', id, { decision: 'opted_out' }))
  assert.equal(optedOut?.json.conversation.opted_out_of_marketing, true)
  const noon = { timezone: 'America/Sao_Paulo' }
  const [snoozed] = await w.run(about('snooze', id, { until: '2026-03-11T09:00:00' }), noon)
  assert.equal(snoozed?.json.conversation.snoozed_until, '2026-03-11T12:00:00.000Z')
  const [read] = await w.run(about('get', id, { more: { messages: 5 } }))
  assert.deepEqual(
    [read?.json.messages[0].customer_text, read?.json.notes[0].text],
    ['I want my money back', 'In a hurry.'],
  )
  const words = { summary: 'Wants the money back.', urgency: 'high', closing: 'A colleague will help you.' }
  const [handed] = await w.run(about('handOver', id, { ...words, more: { assignedTo: member.userId } }))
  assert.deepEqual([handed?.json.closing, handed?.json.conversation.owner], ['sent', 'people'])
  assert.deepEqual(textsTold(w), ['A colleague will help you.'])
  const listed = await w.run({
    resource: 'conversation',
    operation: 'getAll',
    owner: 'people',
    more: { labelId: label },
  })
  assert.deepEqual(
    listed.map(({ json }) => json.id),
    [id],
  )
  assert.deepEqual(await w.run({ resource: 'conversation', operation: 'getAll' }), [])
})

test('templates answer and start conversations, and dropdowns list options', async () => {
  const w = await n8nWorld()
  await addTemplate(w)
  const { id } = await w.customerWrites('Hello')
  const other = await w.addKey({ name: 'Sales agent', scopes: ['inbox.read', 'inbox.write'] })
  const actions = w.node('parley')
  const offered = async (method: string) => actions.methods?.loadOptions[method]?.call(w.context(actions))
  const [template] = (await offered('getTemplates')) ?? []
  assert.equal(template?.value, 'order_update/en_US')
  assert.deepEqual((await offered('getConnections'))?.[0], { name: 'Shop', value: w.connectionId })
  assert.ok((await offered('getAgents'))?.some(({ value }) => value === other.id))
  assert.ok(!(await offered('getAgents'))?.some(({ value }) => value === w.agent.id))
  assert.deepEqual(await offered('getLabels'), [])
  assert.deepEqual(await offered('getMembers'), [])

  const filled = { template: template?.value, bodyParams: ['Ana'] }
  await w.run(about('answerWithTemplate', id, filled))
  const start = { resource: 'conversation', operation: 'start', connectionId: w.connectionId, phone: '+5581998765432' }
  const [started] = await w.run({ ...start, ...filled })
  assert.deepEqual([started?.json.began, started?.json.status], [true, 'sent'])
  assert.deepEqual(textsTold(w), ['template', 'template'])
  await w.run(about('handToAgent', id, { keyId: other.id, summary: 'Asks for a quote.' }))
  await assert.rejects(w.run(about('resolve', id)), /owns|answers|has/)
})

test('leads are created, matched, updated, read and listed across pages', async () => {
  const w = await n8nWorld()
  const lead = (operation: string, fields: object) => ({ resource: 'lead', operation, ...fields })
  const custom = { customFields: { field: [{ key: 'plan', value: 'gold' }] } }
  const [created] = await w.run(lead('create', { firstName: 'Ana', more: { phone: '+55 81 99123-0007', ...custom } }))
  assert.equal(created?.json.lead.custom_field_values.plan, 'gold')
  const match = { matchBy: 'phone', matchValue: '5581991230007' }
  const [matched] = await w.run(lead('upsert', { ...match, more: { status: 'qualified' } }))
  assert.deepEqual([matched?.json.action, matched?.json.lead.id], ['updated', created?.json.lead.id])
  const identifier = created?.json.lead.id
  const [cleared] = await w.run(lead('update', { identifier, more: { phone: null, estimatedValue: 12.5 } }))
  assert.deepEqual([cleared?.json.lead.phone, cleared?.json.lead.estimated_value], [null, 12.5])
  assert.equal((await w.run(lead('get', { identifier })))[0]?.json.lead.status, 'qualified')
  for (let i = 0; i < 51; i++) await w.parley.leads.create({ firstName: `Bea ${i}` })
  assert.equal((await w.run(lead('getAll', { returnAll: true }))).length, 52)
  assert.equal((await w.run(lead('getAll', { limit: 3 }))).length, 3)
  const missing = lead('upsert', { matchBy: 'external_ref', matchValue: 'crm-9', createIfMissing: false })
  await assert.rejects(w.run({ ...missing, more: { status: 'new' } }))
})

test('a refusal by a budget is not retried, and a workflow can read which budget it was', async () => {
  const w = await n8nWorld()
  const admin = await signedInMember(w, 'admin')
  await admin.call('PATCH', '/billing-settings', { freeServiceMessages: 0 })
  const budget = { scope: 'workspace', unit: 'messages', period: 'month', limit: '1' }
  assert.equal((await admin.call('POST', '/budgets', budget)).status, 201)
  const { id } = await w.customerWrites('Hello')
  await w.run(about('answer', id, { text: 'The first.' }))
  const [failed] = await w.run(about('answer', id, { text: 'The second.' }), { continueOnFail: true })
  const { code, status, next, data } = failed?.json ?? {}
  const { limit, used } = (data as { budget: Record<string, unknown> }).budget
  assert.deepEqual([code, status, limit, used], ['BUDGET_REACHED', 429, '1', '1'])
  assert.match(String(next), /hand_over/)
})

test('an error says what to do, and a workflow that continues on failure can branch on its code', async () => {
  const w = await n8nWorld()
  const { id } = await w.customerWrites('I want a person')
  const member = await signedInMember(w)
  await member.call('POST', `/inbox/conversations/${id}/take-over`)
  const answer = about('answer', id, { text: 'Too late' })
  await assert.rejects(w.run(answer), (error: Error & { httpCode?: string; description?: string }) => {
    assert.equal(error.httpCode, '409')
    assert.match(error.message, /people/i)
    assert.match(error.description ?? '', /Leave this conversation alone/)
    return true
  })
  const [failed, fine] = await w.run([answer, about('addNote', id, { text: 'Saw it.' })], { continueOnFail: true })
  assert.deepEqual([failed?.json.code, failed?.json.status, failed?.pairedItem], ['HELD_BY_PEOPLE', 409, { item: 0 }])
  assert.equal(fine?.json.was_new, true)
  await assert.rejects(w.run(about('answer', '', { text: 'Hi' })), /conversation_id is empty/)
  const long = about('addNote', id, { text: 'a'.repeat(5000) })
  await assert.rejects(w.run(long), (error: Error & { description?: string }) =>
    /^text: /.test(error.description ?? ''),
  )
  const wrongKey = { parleyApi: { baseUrl: w.url, apiKey: 'plk_wrong' } }
  await assert.rejects(w.run(answer, { credentials: wrongKey }), /key/i)
})
