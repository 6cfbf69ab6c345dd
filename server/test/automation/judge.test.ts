import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillText } from '../../src/automation/fill-text.ts'
import {
  afterActions,
  compileConditions,
  compileRule,
  decide,
  type Facts,
  foldForWords,
  indexRules,
  mayConcern,
  type Rule,
  unmetBefore,
  unmetConditions,
} from '../../src/automation/judge.ts'
import type { Condition, RuleDraft } from '../../src/automation/rule-schema.ts'
import { noMarks } from '../../src/inbox/conversation/conversation-state.ts'
import { agent, human } from '../../src/inbox/conversation/owner.ts'

const [vip, key, ana, sales] = ['11111111', '22222222', '33333333', '44444444'].map(
  (start) => `${start}-0000-4000-8000-000000000000`,
) as [string, string, string, string]

const facts: Facts = {
  cause: 'customer',
  conversation: {
    ...{ connectionId: 'c1', channel: 'waba', status: 'open', labelIds: [vip], owner: human, assignedTo: null },
    ...{ teamId: null, priority: null, inbound: noMarks },
  },
  lead: {
    ...{ status: 'new', source: 'ads', estimatedValue: 500 },
    customFields: [
      { key: 'city', label: 'City', type: 'text', value: 'São Paulo' },
      { key: 'likes', label: 'Likes', type: 'multiselect', value: 'Tea, Coffee' },
    ],
  },
  message: { kind: 'text', words: foldForWords('Olá! QUANTO custa a entrega em São Paulo?') },
  ...{ template: 'order_update', language: 'pt', addedLabelIds: [vip], isOpen: false },
}

const cases: [what: string, condition: Condition, holds: boolean, changed?: Partial<Facts>][] = [
  ['a status', { field: 'status', operator: 'any_of', values: ['pending', 'open'] }, true],
  ['not a status', { field: 'status', operator: 'none_of', values: ['open'] }, false],
  ['a label', { field: 'label', operator: 'any_of', values: [vip.toUpperCase()] }, true],
  ['an added label', { field: 'added_label', operator: 'any_of', values: [vip] }, true],
  ['people', { field: 'owner', operator: 'any_of', values: ['people'] }, true],
  ['any agent', { field: 'owner', operator: 'any_of', values: ['agents'] }, false],
  ['nobody', { field: 'assignee', operator: 'any_of', values: ['nobody'] }, true],
  ['no team', { field: 'team', operator: 'any_of', values: ['none'] }, true],
  ['another team', { field: 'team', operator: 'any_of', values: [sales] }, false],
  ['no priority', { field: 'priority', operator: 'none_of', values: ['none'] }, false],
  ['closed', { field: 'hours', operator: 'any_of', values: ['closed'] }, true],
  ['a word, whatever its case and accents', { field: 'message_text', operator: 'any_of', values: ['sao paulo'] }, true],
  ['a phrase', { field: 'message_text', operator: 'any_of', values: ['Quanto Custa'] }, true],
  ['no part of a word', { field: 'message_text', operator: 'any_of', values: ['quant', 'usta'] }, false],
  ['none of the words', { field: 'message_text', operator: 'none_of', values: ['refund'] }, true],
  [
    'a word of a script without spaces',
    { field: 'message_text', operator: 'any_of', values: ['価格'] },
    true,
    { message: { kind: 'text', words: foldForWords('商品の価格は?') } },
  ],
  ['words without a message', { field: 'message_text', operator: 'any_of', values: ['a'] }, false, { message: null }],
  [
    'no words without a message',
    { field: 'message_text', operator: 'none_of', values: ['a'] },
    true,
    { message: null },
  ],
  ['a template', { field: 'template', operator: 'any_of', values: ['order_update'] }, true],
  ['a language', { field: 'language', operator: 'any_of', values: ['es', 'pt'] }, true],
  ['another language', { field: 'language', operator: 'any_of', values: ['en'] }, false],
  [
    'no language of an unknown country',
    { field: 'language', operator: 'none_of', values: ['pt'] },
    true,
    { language: null },
  ],
  ['the cause', { field: 'actor', operator: 'any_of', values: ['customer'] }, true],
  ['a lead status', { field: 'lead_status', operator: 'any_of', values: ['new'] }, true],
  [
    'a lead source without a lead',
    { field: 'lead_source', operator: 'any_of', values: ['ads'] },
    false,
    { lead: null },
  ],
  ['a value', { field: 'lead_value', operator: 'at_least', values: ['500'] }, true],
  ['a lower value', { field: 'lead_value', operator: 'at_most', values: ['499.99'] }, false],
  ['no value', { field: 'lead_value', operator: 'at_most', values: ['1'] }, false, { lead: null }],
  ['a field', { field: 'lead_field', key: 'city', operator: 'any_of', values: ['são PAULO'] }, true],
  ['one of several choices', { field: 'lead_field', key: 'likes', operator: 'any_of', values: ['coffee'] }, true],
  ['a field that is empty', { field: 'lead_field', key: 'size', operator: 'none_of', values: ['L'] }, true],
]

for (const [what, condition, holds, changed = {}] of cases) {
  test(`a condition holds or not: ${what}`, () => {
    const unmet = unmetConditions({ compiled: compileConditions([condition]) }, { ...facts, ...changed })
    assert.deepEqual(unmet, holds ? [] : [0])
  })
}

let rules = 0
const at = new Date('2026-03-10T12:00:00.000Z')
const rule = (changes: Partial<RuleDraft & Rule> = {}): Rule => ({
  ...{ name: 'A rule', trigger: 'message_received', afterMinutes: null, conditions: [], stops: false },
  ...{ actions: [{ kind: 'set_status', status: 'pending' }], followsRules: false },
  ...{ id: `rule ${++rules}`, enabled: true, version: 1, enabledAt: at, createdAt: at, updatedAt: at },
  ...changes,
})
const open: Condition = { field: 'status', operator: 'any_of', values: ['open'] }

test('a rule sees what the rules before it would do, and one that stops leaves out the rest', () => {
  const [pends, needsOpen, labels, last] = [
    rule(),
    rule({ conditions: [open] }),
    rule({ conditions: [{ field: 'status', operator: 'any_of', values: ['pending'] }], stops: true }),
    rule(),
  ]
  const { acting, unmet } = decide([pends, needsOpen, labels, last].map(compileRule), facts)
  assert.deepEqual(
    acting.map((one) => one.rule.id),
    [pends.id, labels.id],
  )
  assert.deepEqual(
    unmet.map((one) => [one.rule.id, one.condition]),
    [[needsOpen.id, 0]],
  )
})

test('what comes after a wait is not seen by later rules', () => {
  const after = afterActions(facts, [
    { kind: 'wait', minutes: 5 },
    { kind: 'set_status', status: 'closed' },
  ])
  assert.equal(after.conversation?.status, 'open')
})

test('right before an action, conditions are judged again, except what cannot change or the rule has changed', () => {
  const words: Condition = { field: 'message_text', operator: 'any_of', values: ['price'] }
  const one = compileRule(rule({ conditions: [words, open] }))
  const { conversation } = facts
  assert.ok(conversation)
  const now = { ...facts, message: null, conversation: { ...conversation, status: 'closed' as const } }
  assert.equal(unmetBefore(one, 0, facts), null)
  assert.equal(unmetBefore(one, 0, now), 1)
  // Its own first action has set the status.
  assert.equal(unmetBefore(one, 1, now), null)
  assert.equal(unmetBefore(one, 0, { ...now, conversation: null }), null)
})

test('rules are found by what starts them and by connection, in their order', () => {
  const connection: Condition = { field: 'connection', operator: 'any_of', values: [key, ana] }
  const list = [rule(), rule({ conditions: [connection] }), rule({ trigger: 'lead_created' }), rule({ enabled: false })]
  const index = indexRules([...list, rule()])
  const idsFor = (connectionId: string | null) =>
    index.rulesFor('message_received', connectionId).map((one) => one.rule.id)
  assert.equal(idsFor(key).length, 3)
  assert.deepEqual(idsFor(key).slice(0, 2), [list[0]?.id, list[1]?.id])
  assert.equal(idsFor(vip).length, 2)
  assert.equal(idsFor(null).length, 2)
})

test('an agent is found by its key', () => {
  const one = { compiled: compileConditions([{ field: 'owner', operator: 'any_of', values: [key] }]) }
  const { conversation } = facts
  assert.ok(conversation)
  assert.deepEqual(unmetConditions(one, { ...facts, conversation: { ...conversation, owner: agent(key) } }), [])
  assert.deepEqual(unmetConditions(one, facts), [0])
})

test('texts are filled in', () => {
  const values = { contactName: 'Marina Duarte', contactPhone: '5581', workspaceName: 'Acme', authorName: null }
  const text = 'Hi {{contact.first_name}} {{ contact.name }}, {{me.name}} of {{workspace.name}} {{other}}'
  assert.equal(fillText(text, values), 'Hi Marina Marina Duarte, Acme of Acme {{other}}')
  assert.equal(fillText('Hi {{contact.name}}!', { ...values, contactName: null }), 'Hi !')
})

test('what an event tells by itself dismisses a rule before anything is read', () => {
  const own: Facts = { ...facts, ...{ conversation: null, lead: null, template: null, language: null } }
  const refund: Condition = { field: 'message_text', operator: 'any_of', values: ['refund'] }
  const isOpen: Condition = { field: 'status', operator: 'any_of', values: ['open'] }
  const byPerson: Condition = { field: 'actor', operator: 'any_of', values: ['person'] }
  const rows: [conditions: Condition[], known: Partial<Facts>, concerns: boolean][] = [
    [[refund], {}, false],
    [[isOpen], {}, true],
    [[isOpen, refund], {}, false],
    [[{ ...refund, operator: 'none_of' }], {}, true],
    [[byPerson], {}, false],
    // The author of a message that failed is read with the message.
    [[byPerson], { cause: null }, true],
  ]
  for (const [conditions, known, concerns] of rows) {
    assert.equal(
      mayConcern(compileRule(rule({ conditions })), { ...own, ...known }),
      concerns,
      JSON.stringify(conditions),
    )
  }
})
