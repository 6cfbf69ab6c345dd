import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApprovalRules } from '../../../src/auth/api-keys/caller.ts'
import { noMarks } from '../../../src/inbox/conversation/conversation-state.ts'
import { amountsIn, approvalReasonOf, type ProposedAnswer } from '../../../src/inbox/drafts/approval-rules.ts'
import { editDistance } from '../../../src/inbox/drafts/decide-draft.ts'

const none: ApprovalRules = {
  ...{ always: false, outsideHours: false, firstAnswers: false, labelIds: [], amountFrom: null },
}
const week = {
  ...{ monday: [{ from: '09:00', to: '18:00' }], tuesday: [], wednesday: [], thursday: [], friday: [] },
  ...{ saturday: [], sunday: [] },
}
const hours = { timeZone: 'UTC', week }
const monday = new Date('2026-03-02T12:00:00Z')
const night = new Date('2026-03-02T22:00:00Z')
const answered = { ...noMarks, newest: 'b', answered: 'a' }
const usual: ProposedAnswer = {
  conversation: { labelIds: ['vip'], inbound: answered },
  text: 'It costs R$ 1.200,00.',
  hours,
  now: monday,
}

test('an answer needs approval by the first rule of the key that applies to it', () => {
  const cases: [string, Partial<ApprovalRules>, Partial<ProposedAnswer>, string | null][] = [
    ['no rule', {}, {}, null],
    ['always', { always: true, firstAnswers: true }, {}, 'always'],
    ['open', { outsideHours: true }, {}, null],
    ['closed', { outsideHours: true }, { now: night }, 'outside_hours'],
    ['a workspace without hours is always open', { outsideHours: true }, { now: night, hours: null }, null],
    ['later answers', { firstAnswers: true }, {}, null],
    ['the first answer', { firstAnswers: true }, { conversation: { labelIds: [], inbound: noMarks } }, 'first_answer'],
    ['another label', { labelIds: ['new'] }, {}, null],
    ['the label', { labelIds: ['new', 'vip'] }, {}, 'label'],
    ['a smaller amount', { amountFrom: 1200.01 }, {}, null],
    ['the amount', { amountFrom: 1200 }, {}, 'amount'],
  ]
  for (const [name, rules, more, expected] of cases) {
    assert.equal(approvalReasonOf({ ...none, ...rules }, { ...usual, ...more }), expected, name)
  }
})

test('amounts of money are found with their currency, in both notations', () => {
  const cases: [string, number[]][] = [
    ['Nothing of the kind: 3 boxes, order 1042, 12.05.2026', []],
    ['R$ 1.234,50 ou US$1,234.50', [1234.5, 1234.5]],
    ['€12 and 12 € and 12,5 EUR', [12, 12, 12.5]],
    ['Custa 300 reais, 20 dólares ou 1.000 pesos.', [300, 20, 1000]],
    ['$1,000,000.', [1_000_000]],
    ['BRL 99.9', [99.9]],
  ]
  for (const [text, expected] of cases) assert.deepEqual(amountsIn(text), expected, text)
})

test('a hostile text takes no time', () => {
  const start = process.cpuUsage()
  for (const text of ['1'.repeat(16_384), '1.,'.repeat(5000), '$ '.repeat(8000), 'R$'.repeat(8000)]) amountsIn(text)
  editDistance('a '.repeat(8000), 'b '.repeat(8000))
  const { user } = process.cpuUsage(start)
  assert.ok(user < 1_000_000, `${user} µs`)
})

test('the distance is the share of changed words', () => {
  const cases: [string, string, number][] = [
    ['It left today.', 'It left today.', 0],
    ['It left  today.', 'It left today.', 0],
    ['It left today.', 'It left yesterday.', 1 / 3],
    ['It left', 'It left this morning', 0.5],
    ['a b', 'c d', 1],
    ['', 'a', 1],
  ]
  for (const [before, after, expected] of cases)
    assert.equal(editDistance(before, after), expected, `${before} → ${after}`)
})
