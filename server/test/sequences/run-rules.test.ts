import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lead } from '../../src/leads/lead/lead.ts'
import { bodyOf, hasUnknownPlaceholder } from '../../src/sequences/fill-step.ts'
import { afterRefusal, afterStep, dueOf, endReason, pauseAfter, type RunFacts } from '../../src/sequences/run-rules.ts'
import { type OpeningHours, weekdays } from '../../src/team/opening-hours.ts'

const createdAt = new Date('2026-03-02T12:00:00.000Z')
const run = { id: '019caa00-0000-7000-8000-000000000005', createdAt }
const [older, newer] = ['019caa00-0000-7000-8000-000000000004', '019caa00-0000-7000-8000-000000000006']
const [before, after] = [new Date('2026-03-02T11:00:00.000Z'), new Date('2026-03-02T13:00:00.000Z')]

const conversation = (fields: Partial<NonNullable<RunFacts['conversation']>> = {}) => ({
  ...{ owner: { type: 'human' }, ownerEpoch: 0, ownerSince: before, inbound: { newest: older } },
  ...fields,
})

const facts = (fields: Partial<RunFacts> = {}): RunFacts => ({
  ...{ lead: { status: 'new', phone: '5581991234567' }, endStatuses: ['won', 'lost'] },
  ...{ conversation: conversation(), isOptedOut: false, hasPersonWritten: false, last: [] },
  ...fields,
})

const failed = (code = '131026') => ({ isFailed: true, code, at: createdAt })

const ends: [string, RunFacts, ReturnType<typeof endReason>][] = [
  ['nothing has happened', facts(), null],
  ['there is no conversation yet', facts({ conversation: null }), null],
  ['the customer never wrote', facts({ conversation: conversation({ inbound: { newest: null } }) }), null],
  ['the customer wrote', facts({ conversation: conversation({ inbound: { newest: newer } }) }), 'answered'],
  ['the customer opted out', facts({ isOptedOut: true }), 'opted_out'],
  [
    'the customer opted out in words',
    facts({ isOptedOut: true, conversation: conversation({ inbound: { newest: newer } }) }),
    'opted_out',
  ],
  ['a person wrote', facts({ hasPersonWritten: true }), 'taken_over'],
  ['people took it', facts({ conversation: conversation({ ownerEpoch: 2, ownerSince: after }) }), 'taken_over'],
  ['people had it before', facts({ conversation: conversation({ ownerEpoch: 2, ownerSince: before }) }), null],
  [
    'the sequence began the conversation',
    facts({ conversation: conversation({ ownerEpoch: 0, ownerSince: after }) }),
    null,
  ],
  [
    'an agent took it',
    facts({ conversation: conversation({ owner: { type: 'agent' }, ownerEpoch: 3, ownerSince: after }) }),
    null,
  ],
  ['the lead is won', facts({ lead: { status: 'won', phone: '5581991234567' } }), 'status'],
  ['another status', facts({ lead: { status: 'qualified', phone: '5581991234567' } }), null],
  ['a message was not delivered', facts({ last: [failed(), { ...failed(), isFailed: false }] }), null],
  ['two were not delivered in a row', facts({ last: [failed(), failed()] }), 'not_delivered'],
  ['the lead is gone', facts({ lead: null, conversation: null }), 'lead_gone'],
  ['the lead has no phone any more', facts({ lead: { status: 'new', phone: null } }), 'no_phone'],
]

for (const [what, given, expected] of ends) {
  test(`a run ${expected === null ? 'goes on' : `ends as ${expected}`} when ${what}`, () => {
    assert.equal(endReason(run, given), expected)
  })
}

const nineToSix: OpeningHours = {
  timeZone: 'America/Sao_Paulo',
  week: Object.fromEntries(
    weekdays.map((name, n) => [name, n < 5 ? [{ from: '09:00', to: '18:00' }] : []]),
  ) as OpeningHours['week'],
}

const dues: [string, { from: string; waitMinutes: number; businessHours: boolean; hours?: OpeningHours }, string][] = [
  ['at once', { from: '2026-03-02T23:00:00.000Z', waitMinutes: 0, businessHours: false }, '2026-03-02T23:00:00.000Z'],
  [
    'after days',
    { from: '2026-03-02T23:00:00.000Z', waitMinutes: 2880, businessHours: false },
    '2026-03-04T23:00:00.000Z',
  ],
  [
    'within business hours, as it is',
    { from: '2026-03-02T15:00:00.000Z', waitMinutes: 60, businessHours: true, hours: nineToSix },
    '2026-03-02T16:00:00.000Z',
  ],
  [
    'when the business opens, if it is night',
    { from: '2026-03-02T23:00:00.000Z', waitMinutes: 0, businessHours: true, hours: nineToSix },
    '2026-03-03T12:00:00.000Z',
  ],
  [
    'on Monday, if it would be Saturday',
    { from: '2026-03-06T15:00:00.000Z', waitMinutes: 1440, businessHours: true, hours: nineToSix },
    '2026-03-09T12:00:00.000Z',
  ],
  [
    'after a holiday',
    {
      ...{ from: '2026-03-02T23:00:00.000Z', waitMinutes: 0, businessHours: true },
      hours: { ...nineToSix, holidays: [{ name: 'Day off', from: '2026-03-03', to: '2026-03-03' }] },
    },
    '2026-03-04T12:00:00.000Z',
  ],
  [
    'a day later, if the business is closed for long',
    {
      ...{ from: '2026-03-02T23:00:00.000Z', waitMinutes: 0, businessHours: true },
      hours: { ...nineToSix, holidays: [{ name: 'Closed', from: '2026-03-01', to: '2026-12-31' }] },
    },
    '2026-03-03T23:00:00.000Z',
  ],
  [
    'at once, in a workspace without hours',
    { from: '2026-03-07T23:00:00.000Z', waitMinutes: 0, businessHours: true },
    '2026-03-07T23:00:00.000Z',
  ],
]

for (const [what, { from, hours = null, ...timing }, expected] of dues) {
  test(`a step is due ${what}`, () => {
    assert.equal(dueOf(new Date(from), timing, hours).toISOString(), expected)
  })
}

test('a refusal ends the run, leaves the step out, or is tried again for a day', () => {
  const soon = new Date(createdAt.getTime() + 60 * 60_000)
  const late = new Date(createdAt.getTime() + 25 * 60 * 60_000)
  assert.deepEqual(afterRefusal('OPTED_OUT', createdAt, soon), { end: 'opted_out' })
  for (const code of ['WINDOW_CLOSED', 'TEMPLATE_NOT_APPROVED', 'INVALID_MESSAGE', 'HTTP_404']) {
    assert.equal(afterRefusal(code, createdAt, soon), 'skip', code)
  }
  for (const code of [
    'CONNECTION_UNAVAILABLE',
    'BUDGET_REACHED',
    'OWNER_MISMATCH',
    'ON_STANDBY',
    'INBOX_UNAVAILABLE',
  ]) {
    assert.deepEqual(afterRefusal(code, createdAt, soon), { retryAt: new Date(soon.getTime() + 30 * 60_000) }, code)
    assert.equal(afterRefusal(code, createdAt, late), 'skip', code)
  }
})

test('after a step comes the next, or the end: of the steps, or as it was asked for', () => {
  const steps = [
    { waitMinutes: 0, businessHours: false },
    { waitMinutes: 30, businessHours: false },
  ]
  const at = { step: 0, stopping: null }
  const next = new Date(createdAt.getTime() + 30 * 60_000)
  assert.deepEqual(afterStep(at, steps, createdAt, null), { step: 1, dueAt: next })
  assert.deepEqual(afterStep({ ...at, step: 1 }, steps, createdAt, null), { end: 'finished' })
  assert.deepEqual(afterStep({ ...at, stopping: 'stopped' }, steps, createdAt, null), { end: 'stopped' })
})

test('a customer who gets too many marketing messages is left alone for a day', () => {
  assert.equal(pauseAfter(undefined), null)
  assert.equal(pauseAfter(failed()), null)
  assert.equal(pauseAfter({ ...failed('131049'), isFailed: false }), null)
  assert.deepEqual(pauseAfter(failed('131049')), new Date(createdAt.getTime() + 24 * 60 * 60_000))
})

const lead = {
  ...{ firstName: 'Ana Paula', lastName: 'Reis', email: 'ana@example.com', phone: '5581991234567' },
  customFields: [{ key: 'city', label: 'City', type: 'text', value: 'Recife' }],
} as unknown as Lead

const texts: [text: string, filled: string][] = [
  ['Hi {{contact.first_name}}!', 'Hi Ana!'],
  ['{{ contact.name }} of {{field.city|your city}}', 'Ana Paula Reis of Recife'],
  ['{{field.plan|a plan}} from {{workspace.name}}', 'a plan from Shop'],
  ['{{field.plan}}', ''],
  ['{{contact.email}}', 'ana@example.com'],
  ['{{1}} {{unknown}}', '{{1}} {{unknown}}'],
]

test('placeholders are filled from the lead, with words for what is empty', () => {
  const step = { waitMinutes: 0, businessHours: false }
  for (const [text, filled] of texts) {
    assert.deepEqual(bodyOf({ ...step, text }, lead, 'Shop'), { kind: 'text', text: filled })
  }
  const nameless = { ...lead, firstName: '+5581991234567', lastName: null } as Lead
  const hi = { ...step, text: 'Hi {{contact.first_name|there}}' }
  assert.deepEqual(bodyOf(hi, nameless, 'Shop'), { kind: 'text', text: 'Hi there' })
  const template = { name: 'hi', language: 'en', body_params: ['{{contact.name}}\n now'] }
  const filled = bodyOf({ ...step, template }, lead, 'Shop')
  assert.deepEqual(filled, { kind: 'template', template: { ...template, body_params: ['Ana Paula Reis now'] } })
  assert.ok(hasUnknownPlaceholder('Hi {{name}}') && hasUnknownPlaceholder('{{field.City}}'))
  assert.ok(!hasUnknownPlaceholder('Hi {{contact.first_name|you}} {{field.city}}'))
})
