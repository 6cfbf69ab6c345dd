import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RuleDraft } from '../../src/automation/rule-schema.ts'
import { eraseConversation } from '../../src/inbox/erase.ts'
import { insertEndpoint } from '../support/webhooks/insert-endpoint.ts'
import { automationWorld, hour, minute } from './automation-world.ts'

const saysPrice: Partial<RuleDraft> = {
  conditions: [{ field: 'message_text', operator: 'any_of', values: ['price'] }],
}

test('a rule does its actions in order as itself, once, for what happens after it is on', async () => {
  const w = await automationWorld()
  const early = await w.newCustomer('The price?')
  const label = await w.addLabel('Price')
  const ruleId = await w.addRule({
    ...saysPrice,
    name: 'Answer prices',
    actions: [
      { kind: 'add_labels', labelIds: [label] },
      { kind: 'add_note', text: 'Asked for a price.' },
      { kind: 'reply', text: 'Hi {{contact.first_name}}, one moment.' },
      { kind: 'set_priority', priority: 'high' },
    ],
  })
  const [asks, other] = [await w.newCustomer('What is the PRICE?'), await w.newCustomer('Good morning')]
  await w.drain()
  await w.drain()
  const found = await w.read(asks.id)
  assert.deepEqual([found.labelIds, found.priority, found.status], [[label], 'high', 'open'])
  assert.equal(w.sentTo(asks.phone).length, 1)
  // It was no answer: the customer still waits.
  assert.notEqual(found.unansweredSince, null)
  const items = await w.timeline(asks.id)
  const [note] = items.flatMap((item: { note?: object }) => item.note ?? [])
  assert.deepEqual([note.text, note.actor.name, note.actor.id], ['Asked for a price.', 'Answer prices', ruleId])
  for (const { id, phone } of [early, other]) {
    assert.deepEqual((await w.read(id)).labelIds, [])
    assert.equal(w.sentTo(phone).length, 0)
  }
  const runs = await w.runs(ruleId)
  assert.deepEqual(
    runs
      .filter(({ state }: { state: string }) => state !== 'skipped')
      .map(({ state, step }: { state: string; step: number }) => [state, step]),
    [['done', 4]],
  )
  assert.ok(
    runs.some(({ code, condition }: { code: string; condition: number }) => code === 'not_matched' && condition === 0),
  )
})

test('an automatic message carries the rule as its actor, and an answer ends the wait', async () => {
  const w = await automationWorld()
  const ruleId = await w.addRule({ actions: [{ kind: 'reply', text: 'Yes.', isAnswer: true }] })
  const { id } = await w.newCustomer()
  await w.drain()
  assert.equal((await w.read(id)).unansweredSince, null)
  const [, sent] = await w.messages(id)
  assert.deepEqual([sent.text, sent.actor], ['Yes.', { type: 'system', id: ruleId }])
})

test('a rule that has changed or no longer matches when its wait is over does nothing more', async () => {
  const w = await automationWorld()
  const open: Partial<RuleDraft> = {
    conditions: [{ field: 'status', operator: 'any_of', values: ['open'] }],
    actions: [
      { kind: 'wait', minutes: 60, endsIfCustomerWrites: true },
      { kind: 'reply', text: 'Are you still there?' },
    ],
  }
  const ruleId = await w.addRule(open)
  const [stays, closed, writes] = [await w.newCustomer(), await w.newCustomer(), await w.newCustomer()]
  await w.drain()
  await w.member.call('PATCH', `/inbox/conversations/${closed.id}`, { status: 'closed' })
  w.clock.advance(30 * minute)
  await w.customerWrites('And?', { customer: { userId: null, parentUserId: null, phone: writes.phone, name: 'Ana' } })
  await w.drain()
  assert.equal(w.sentTo(stays.phone).length, 0)
  w.clock.advance(31 * minute)
  await w.drain()
  assert.deepEqual(
    [stays, closed, writes].map(({ phone }) => w.sentTo(phone).length),
    [1, 0, 0],
  )
  const codes = (await w.runs(ruleId)).map(({ code }: { code: string | null }) => code)
  assert.ok(codes.includes('condition') && codes.includes('customer_wrote'), codes.join())
  // The second message of that customer waits; then the rule changes.
  await w.admin.call('PATCH', `/automation/rules/${ruleId}`, { actions: [{ kind: 'to_people' }] })
  w.clock.advance(hour)
  await w.drain()
  assert.equal(w.sentTo(writes.phone).length, 0)
  assert.ok((await w.runs(ruleId)).some(({ code }: { code: string }) => code === 'rule_changed'))
})

test('a refused action ends the run with the reason, and what is no longer there is left alone', async () => {
  const w = await automationWorld()
  const { id: keyId } = await w.addKey({ scopes: ['inbox.write'] })
  const agentRule = await w.addRule({
    actions: [
      { kind: 'to_agent', keyId },
      { kind: 'reply', text: 'Hi' },
    ],
  })
  const { id, phone } = await w.newCustomer()
  await w.drain()
  assert.equal((await w.read(id)).owner, `agent:${keyId}`)
  const [run] = await w.runs(agentRule)
  assert.deepEqual([run.state, run.code, run.step], ['failed', 'OWNER_MISMATCH', 1])
  assert.equal(w.sentTo(phone).length, 0)
})

test('changes of rules start other rules only if those allow it, and three in a row at most', async () => {
  const w = await automationWorld()
  const labels = await Promise.all(['A', 'B'].map((name) => w.addLabel(name)))
  const [a = '', b = ''] = labels
  await w.addRule({ actions: [{ kind: 'add_labels', labelIds: [a] }] })
  const added = (id: string): RuleDraft['conditions'] => [{ field: 'added_label', operator: 'any_of', values: [id] }]
  const deaf = await w.addRule({ trigger: 'label_added', conditions: added(a), actions: [{ kind: 'to_people' }] })
  const swap = (from: string, to: string): Partial<RuleDraft> => ({
    ...{ trigger: 'label_added', followsRules: true, conditions: added(from) },
    actions: [
      { kind: 'remove_labels', labelIds: [from] },
      { kind: 'add_labels', labelIds: [to] },
    ],
  })
  const [aToB, bToA] = [await w.addRule(swap(a, b)), await w.addRule(swap(b, a))]
  const { id } = await w.newCustomer()
  await w.drain()
  const done = async (ruleId: string) =>
    (await w.runs(ruleId)).filter(({ state }: { state: string }) => state === 'done').length
  assert.deepEqual([await done(deaf), await done(aToB), await done(bToA)], [0, 1, 1])
  assert.deepEqual((await w.read(id)).labelIds, [a])
})

test('waits are acted on once, and judged again until a rule acts', async () => {
  const w = await automationWorld()
  const noAnswer = await w.addRule({
    ...{ trigger: 'no_team_answer', afterMinutes: 30 },
    conditions: [{ field: 'priority', operator: 'any_of', values: ['none'] }],
    actions: [{ kind: 'set_priority', priority: 'urgent' }],
  })
  const silent = await w.addRule({
    ...{ trigger: 'no_customer_answer', afterMinutes: 120 },
    actions: [{ kind: 'set_status', status: 'pending' }],
  })
  const unchanged = await w.addRule({
    ...{ trigger: 'status_unchanged', afterMinutes: 60 },
    conditions: [{ field: 'status', operator: 'any_of', values: ['pending'] }],
    actions: [{ kind: 'set_status', status: 'resolved' }],
  })
  const [waits, answered] = [await w.newCustomer(), await w.newCustomer()]
  const place = `/inbox/conversations/${answered.id}`
  await w.member.call('POST', `${place}/messages`, { kind: 'text', text: 'Yes' }, { 'idempotency-key': 'answer' })
  w.clock.advance(29 * minute)
  await w.drain()
  assert.equal((await w.read(waits.id)).priority, null)
  for (let n = 0; n < 3; n++) {
    w.clock.advance(2 * minute)
    await w.drain()
  }
  assert.equal((await w.read(waits.id)).priority, 'urgent')
  assert.equal((await w.read(answered.id)).priority, null)
  w.clock.advance(2 * hour)
  await w.drain()
  assert.equal((await w.read(answered.id)).status, 'pending')
  w.clock.advance(61 * minute)
  await w.drain()
  assert.equal((await w.read(answered.id)).status, 'pending', 'it does not follow rules')
  await w.member.call('PATCH', place, { status: 'open' })
  await w.member.call('PATCH', place, { status: 'pending' })
  w.clock.advance(61 * minute)
  await w.drain()
  assert.equal((await w.read(answered.id)).status, 'resolved')
  for (const ruleId of [noAnswer, silent, unchanged]) {
    const done = (await w.runs(ruleId)).filter(({ state }: { state: string }) => state === 'done')
    assert.equal(done.length, 1)
  }
})

test('rules act on new conversations, changes of owner and status, and leads', async () => {
  const w = await automationWorld()
  const label = await w.addLabel('New')
  const created = await w.addRule({
    trigger: 'conversation_created',
    actions: [{ kind: 'add_labels', labelIds: [label] }],
  })
  await w.addRule({
    trigger: 'status_changed',
    conditions: [
      { field: 'status', operator: 'any_of', values: ['resolved'] },
      { field: 'actor', operator: 'any_of', values: ['person'] },
    ],
    actions: [{ kind: 'set_lead_field', field: 'status', value: 'won' }],
  })
  await w.addRule({
    trigger: 'lead_status_changed',
    followsRules: true,
    conditions: [{ field: 'lead_status', operator: 'any_of', values: ['won'] }],
    actions: [{ kind: 'add_note', text: 'Won.' }],
  })
  const { id, phone } = await w.newCustomer()
  const { status } = await w.admin.call('POST', '/leads', { firstName: 'Marina', phone })
  assert.equal(status, 201)
  await w.drain()
  await w.customerWrites('Again', { customer: { userId: null, parentUserId: null, phone, name: 'Ana' } })
  await w.drain()
  assert.deepEqual((await w.read(id)).labelIds, [label])
  assert.equal((await w.runs(created)).filter(({ state }: { state: string }) => state === 'done').length, 1)
  await w.member.call('PATCH', `/inbox/conversations/${id}`, { status: 'resolved' })
  await w.drain()
  const { body } = await w.member.call('GET', `/leads?search=${phone}`)
  assert.equal((body.leads ?? body.data)[0].status, 'won')
  const notes = (await w.timeline(id)).flatMap((item: { note?: { text: string } }) => item.note?.text ?? [])
  assert.deepEqual(notes, ['Won.'])
})

test('the event goes to a chosen endpoint, which need not subscribe to it', async () => {
  const w = await automationWorld()
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  const settings = { url: 'https://example.com/hook', secret, events: ['lead.created'] }
  const endpointId = await insertEndpoint(w.db, keyring, w.workspaceId, settings)
  await w.addRule({ actions: [{ kind: 'send_webhook', endpointId }] })
  await w.newCustomer()
  await w.drain()
  await w.drain()
  const rows = await w.db.sql`
    select event_name as name
    from webhook_deliveries
    where workspace_id = ${w.workspaceId}
      and endpoint_id = ${endpointId}`
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['inbox.message.received'],
  )
})

test('erasing a conversation erases what the log says of it', async () => {
  const w = await automationWorld()
  const ruleId = await w.addRule()
  const { id } = await w.newCustomer()
  await w.drain()
  assert.equal((await w.runs(ruleId)).length, 1)
  await w.db.tx((tx) => eraseConversation(tx, w.workspaceId, id))
  assert.deepEqual(await w.runs(ruleId), [])
})
