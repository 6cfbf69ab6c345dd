import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Action, Condition, RuleDraft } from '../../src/automation/rule-schema.ts'
import { automationWorld, draft } from './automation-world.ts'

const path = '/automation/rules'

const refused: [what: string, field: string, changes: Partial<RuleDraft>][] = [
  ['a wait without a time', 'afterMinutes', { trigger: 'no_team_answer' }],
  ['a time without a wait', 'afterMinutes', { afterMinutes: 5 }],
  ['an unknown status', 'conditions[0].values[0]', conditions({ field: 'status', operator: 'any_of', values: ['x'] })],
  [
    'an amount of words',
    'conditions[0].operator',
    conditions({ field: 'status', operator: 'at_least', values: ['open'] }),
  ],
  [
    'a field without a key',
    'conditions[0].key',
    conditions({ field: 'lead_field', operator: 'any_of', values: ['x'] }),
  ],
  [
    'a label of nobody',
    'conditions[0].values[0]',
    conditions({ field: 'label', operator: 'any_of', values: [randomUUID()] }),
  ],
  ['no label', 'actions[0].labelIds', actions({ kind: 'add_labels' })],
  ['a field of another action', 'actions[0].text', actions({ kind: 'to_people', text: 'x' })],
  ['two texts', 'actions[0].text', actions({ kind: 'reply', text: 'x', cannedReplyId: randomUUID() })],
  ['an unknown placeholder', 'actions[0].text', actions({ kind: 'reply', text: '{{contact.age}}' })],
  ['a key of nobody', 'actions[0].keyId', actions({ kind: 'to_agent', keyId: randomUUID() })],
  ['a custom field without a key', 'actions[0].key', actions({ kind: 'set_lead_field', field: 'custom', value: 'x' })],
  [
    'a webhook without an event',
    'actions[0].kind',
    { ...actions({ kind: 'send_webhook', endpointId: randomUUID() }), trigger: 'status_changed' },
  ],
]

function conditions(...all: Condition[]): Partial<RuleDraft> {
  return { conditions: all }
}

function actions(...all: Action[]): Partial<RuleDraft> {
  return { actions: all }
}

test('a rule that cannot work is refused with the field that is wrong', async () => {
  const { admin } = await automationWorld()
  for (const [what, field, changes] of refused) {
    const { status, body } = await admin.call('POST', path, draft(changes))
    assert.equal(status, 400, what)
    const paths = body.data.issues.map((issue: { path: string }) => issue.path)
    assert.ok(paths.includes(field), `${what}: ${JSON.stringify(body.data.issues)}`)
  }
})

test('admins create, change, order, switch and delete rules, and the audit log records it', async () => {
  const { admin, addRule } = await automationWorld()
  const [first, second] = [await addRule({ name: 'First' }), await addRule({ name: 'Second' })]
  const list = async () => (await admin.call('GET', path)).body.rules
  assert.deepEqual(
    (await list()).map(({ name, enabled }: { name: string; enabled: boolean }) => [name, enabled]),
    [
      ['First', true],
      ['Second', true],
    ],
  )
  assert.equal((await admin.call('PUT', '/automation/order', { ids: [second] })).status, 400)
  assert.equal((await admin.call('PUT', '/automation/order', { ids: [second, first] })).status, 200)
  assert.equal((await list())[0].name, 'Second')
  const { body } = await admin.call('PATCH', `${path}/${first}`, { name: 'Renamed', enabled: false })
  assert.deepEqual([body.rule.name, body.rule.enabled], ['Renamed', false])
  assert.equal((await admin.call('DELETE', `${path}/${first}`)).status, 200)
  assert.equal((await admin.call('DELETE', `${path}/${first}`)).status, 404)
  assert.equal((await admin.call('PATCH', `${path}/${first}`, { name: 'x' })).status, 404)
  const log = JSON.stringify((await admin.call('GET', '/audit')).body)
  for (const what of ['created', 'enabled', 'ordered', 'changed', 'deleted']) {
    assert.match(log, new RegExp(`automation\\.${what}`))
  }
})

test('members run macros, and do not see rules', async () => {
  const { admin, member, newCustomer, addLabel, read, timeline, sentTo } = await automationWorld()
  assert.equal((await member.call('GET', path)).status, 403)
  assert.equal((await member.call('POST', '/automation/dry-runs', draft())).status, 403)
  const label = await addLabel('VIP')
  const macro = {
    name: 'Say thanks',
    actions: [
      { kind: 'add_labels', labelIds: [label] },
      { kind: 'add_note', text: 'Thanked.' },
      { kind: 'reply', text: 'Thanks, {{contact.first_name}}! {{me.name}}' },
      { kind: 'set_status', status: 'resolved' },
    ],
  }
  assert.equal((await member.call('POST', '/automation/macros', macro)).status, 403)
  const created = await admin.call('POST', '/automation/macros', macro)
  assert.equal(created.status, 201, JSON.stringify(created.body))
  const { id: macroId } = created.body.macro
  assert.deepEqual(
    (await member.call('GET', '/automation/macros')).body.macros.map(({ name }: { name: string }) => name),
    ['Say thanks'],
  )
  const { id, phone } = await newCustomer()
  const run = () => member.call('POST', `/inbox/conversations/${id}/macros/${macroId}`, { requestId })
  const requestId = randomUUID()
  assert.deepEqual((await run()).body, { done: 4, problem: null })
  // As after a lost response.
  assert.deepEqual((await run()).body, { done: 4, problem: null })
  const { status, labelIds, owner, assignedTo } = await read(id)
  assert.deepEqual([status, labelIds, owner, assignedTo], ['resolved', [label], 'human', member.userId])
  assert.equal(sentTo(phone).length, 1)
  const items = await timeline(id)
  assert.equal(items.filter(({ type }: { type: string }) => type === 'note').length, 1)
  const sent = items.find(({ message }: { message?: { direction: string } }) => message?.direction === 'outbound')
  assert.equal(sent.message.text, 'Thanks, Marina! Ana Lima')
  const missing = await member.call('POST', `/inbox/conversations/${randomUUID()}/macros/${macroId}`, {})
  assert.equal(missing.status, 404)
})

test('a macro stops where it is refused, and says why', async () => {
  const { admin, member, newCustomer, clock, read } = await automationWorld()
  const macro = {
    name: 'Late',
    actions: [
      { kind: 'set_priority', priority: 'high' },
      { kind: 'reply', text: 'Hello' },
      { kind: 'set_status', status: 'closed' },
    ],
  }
  const { id: macroId } = (await admin.call('POST', '/automation/macros', macro)).body.macro
  const { id } = await newCustomer()
  clock.advance(25 * 3_600_000)
  const { body } = await member.call('POST', `/inbox/conversations/${id}/macros/${macroId}`, {})
  assert.deepEqual([body.done, body.problem.code], [1, 'WINDOW_CLOSED'])
  assert.equal((await read(id)).status, 'open')
  const waits = { ...macro, actions: [{ kind: 'wait', minutes: 5 }] }
  assert.equal((await admin.call('PUT', `/automation/macros/${macroId}`, waits)).status, 400)
  assert.equal((await admin.call('PUT', `/automation/macros/${macroId}`, { ...macro, name: 'Later' })).status, 200)
  assert.equal((await admin.call('DELETE', `/automation/macros/${macroId}`)).status, 200)
})

test('a dry run says for each event which condition does not hold, and changes nothing', async () => {
  const w = await automationWorld()
  const { id } = await w.newCustomer('What is the price?')
  await w.newCustomer('Hello!')
  const words = conditions({ field: 'message_text', operator: 'any_of', values: ['price'] })
  const { status, body } = await w.admin.call('POST', '/automation/dry-runs', draft(words))
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(
    body.events.map(({ acts, unmet, name }: { acts: boolean; unmet: number[]; name: string }) => [acts, unmet, name]),
    [
      [false, [0], 'Marina Duarte'],
      [true, [], 'Marina Duarte'],
    ],
  )
  assert.equal((await w.read(id)).status, 'open')
})

test('a rule that names a revoked key says so', async () => {
  const w = await automationWorld()
  const { id: keyId } = await w.addKey({ scopes: ['inbox.write'] })
  const ruleId = await w.addRule(actions({ kind: 'to_agent', keyId }))
  assert.equal((await w.admin.call('DELETE', `/keys/${keyId}`)).status, 200)
  const [rule] = (await w.admin.call('GET', path)).body.rules
  assert.deepEqual(rule.problems, ['actions[0].keyId'])
  await w.newCustomer()
  await w.drain()
  const [run] = await w.runs(ruleId)
  assert.deepEqual([run.state, run.code, run.step], ['failed', 'OWNER_MISMATCH', 0])
})
