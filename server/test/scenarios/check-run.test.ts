import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canBeIn, checkRun, isPart } from '../../src/scenarios/scenario/check-run.ts'
import type { CheckName, RecordedRun } from '../../src/scenarios/scenario/recorded-run.ts'
import type { Expectations } from '../../src/scenarios/scenario/scenario-schema.ts'

const run = (changes: Partial<RecordedRun> = {}): RecordedRun => ({
  ...{ entries: [], calls: [], turns: [], handovers: [], handedOver: false, intrusions: 0, drafts: 0, lead: null },
  ...{ charges: {}, phoneReceived: false, problem: null, ms: 10 },
  conversation: { status: 'open', owner: 'agent', labels: [], optedOut: false },
  ...changes,
})
const said = (...texts: string[]): Pick<RecordedRun, 'entries'> => ({
  entries: texts.map((text, n) => ({ atMs: n, from: 'agent', kind: 'message', text })),
})
const called = (tool: string, input: Record<string, unknown> = {}, code: string | null = null) => ({
  ...{ atMs: 0, tool, input, code },
})
const handover = { urgency: 'high', reason: 'Refunds need a person.', summary: 'Wants the money for order 1042.' }

/** What is expected, a run that meets it, and one that does not. */
const table: [expect: Expectations, good: Partial<RecordedRun>, bad: Partial<RecordedRun>][] = [
  [{ handedOver: true }, { handedOver: true }, {}],
  [{ handedOver: false }, {}, { handedOver: true }],
  [{ handedOver: { urgency: 'high' } }, { handedOver: true, handovers: [handover] }, { handedOver: true }],
  [
    { handedOver: { reason: ['REFUNDS'], summary: ['1042'] } },
    { handedOver: true, handovers: [handover] },
    { handedOver: true, handovers: [{ ...handover, summary: 'Someone wants something.' }] },
  ],
  [{ answers: true }, said('Hi'), {}],
  [{ answers: false }, {}, said('Hi')],
  [
    { tools: [{ tool: 'label', with: { labels: ['vip'] } }] },
    { calls: [called('label', { labels: ['new', 'VIP'] })] },
    { calls: [called('label', { labels: ['vip'] }, 'NOT_FOUND')] },
  ],
  [
    { tools: [{ tool: 'answer', atMost: 1 }] },
    { calls: [called('answer')] },
    { calls: [called('answer'), called('answer')] },
  ],
  [{ tools: [{ tool: 'answer', atLeast: 0, atMost: 0 }] }, {}, { calls: [called('answer')] }],
  [{ toolsNotCalled: ['answer'] }, { calls: [called('seen')] }, { calls: [called('answer', {}, 'OPTED_OUT')] }],
  [{ says: ['five  days', 'reembolso'] }, said('It takes FIVE days.', 'O seu Reembôlso'), said('It takes five days.')],
  [{ saysOneOf: ['sim', 'claro'] }, said('Claro!'), said('Não.')],
  [{ neverSays: ['pwned'] }, said('Hello'), said('PWNED')],
  [{ language: 'pt' }, said('Você pode me dizer qual é o seu pedido?'), said('You can have it when you want')],
  [{ messages: { atLeast: 1, atMost: 1 } }, said('One'), said('One', 'Two')],
  [{ drafts: { atLeast: 1 } }, { drafts: 1 }, {}],
  [
    { notes: ['vegetarian'] },
    { entries: [{ atMs: 0, from: 'agent', kind: 'note', text: 'Is vegetarian' }] },
    said('You are vegetarian'),
  ],
  [
    { answeredWithinSeconds: 2 },
    {
      turns: [
        { isAgents: true, reactedAfterMs: 1900 },
        { isAgents: false, reactedAfterMs: null },
      ],
    },
    { turns: [{ isAgents: true, reactedAfterMs: null }] },
  ],
  [{ costAtMost: 0.02 }, { charges: { service: 2 } }, { charges: { service: 1, marketing: 1 } }],
  [{ costAtMost: 1, prices: { service: 0.4 } }, { charges: { service: 2 } }, { charges: { service: 3 } }],
  [{ lead: { status: 'won' } }, { lead: { status: 'won' } }, { lead: { status: 'not_won' } }],
  [
    { lead: { customFieldValues: { city: 'Recife' } } },
    { lead: { customFieldValues: { city: 'recife' } } },
    { lead: {} },
  ],
  [{ lead: null }, {}, { lead: { status: 'new' } }],
  [
    { conversation: { owner: 'people', labels: ['vip'], optedOut: true } },
    { conversation: { status: 'open', owner: 'people', labels: ['vip', 'b'], optedOut: true } },
    {},
  ],
  [
    { leavesPeopleAlone: true },
    { calls: [called('answer', {}, 'WINDOW_CLOSED')] },
    { calls: [called('answer', {}, 'HELD_BY_PEOPLE')] },
  ],
  [{ leavesPeopleAlone: true }, {}, { intrusions: 1 }],
  [{ hidesPhone: true }, {}, { phoneReceived: true }],
]

for (const [expect, good, bad] of table) {
  test(`${JSON.stringify(expect)} is met by the one run and not by the other`, () => {
    const [name] = Object.keys(expect).filter((field) => field !== 'prices') as CheckName[]
    const met = checkRun(expect, run(good))
    assert.ok(met.length > 0)
    assert.deepEqual(
      met.filter(({ passed }) => !passed),
      [],
    )
    const unmet = checkRun(expect, run(bad)).filter(({ passed }) => !passed)
    assert.ok(unmet.length > 0)
    assert.ok(unmet.every(({ check, expected }) => check === name && expected !== ''))
  })
}

test('a script that could not be played has only this result', () => {
  const checks = checkRun({ answers: true, handedOver: true }, run({ problem: 'There is no draft to decide on' }))
  assert.deepEqual(
    checks.map(({ check, passed, actual }) => [check, passed, actual]),
    [['played', false, 'There is no draft to decide on']],
  )
})

test('a score decides nothing unless the scenario has a minimum, and is missing without a judge', () => {
  const score = { score: 3, reason: 'Too short.' }
  const verdicts = (judge: Expectations['judge'], given: typeof score | null) =>
    checkRun(judge === undefined ? {} : { judge }, run(), given).map(({ passed }) => passed)
  assert.deepEqual(verdicts({ criteria: 'Is friendly' }, score), [true])
  assert.deepEqual(verdicts({ criteria: 'Is friendly', minimumScore: 4 }, score), [false])
  assert.deepEqual(verdicts({ criteria: 'Is friendly', minimumScore: 4 }, null), [])
  assert.deepEqual(verdicts(undefined, score), [])
})

test('what is shown of long texts is cut', () => {
  const [check] = checkRun({ says: ['no'] }, run(said('yes '.repeat(1000))))
  assert.ok(check !== undefined && check.actual.length <= 301)
})

test('texts contain phrases or are equal, objects have the fields, lists the items', () => {
  assert.ok(isPart({ a: { b: ['x'] } }, { a: { b: ['y', 'xx'], c: 1 } }))
  assert.ok(!isPart('x', 'xx', true))
  assert.ok(isPart('ÀÉ', 'ae', true))
  assert.ok(!isPart({ toString: 'a' }, {}))
  assert.ok(!isPart({ a: 1 }, null))
  assert.ok(!isPart([1], 1))
})

const texts: [text: string, languages: string][] = [
  ['We ship to all of Brazil, in two to five days.', 'en'],
  ['Enviamos para todo o Brasil. Você recebe o seu pedido em até cinco dias, obrigado!', 'pt'],
  ['Hacemos envíos a todo el país. Usted recibe su pedido en cinco días, ¡gracias!', 'es'],
  ['Ok', 'en pt es'],
  ['', 'en pt es'],
]

for (const [text, languages] of texts) {
  test(`“${text}” can be in ${languages}`, () => {
    assert.equal((['en', 'pt', 'es'] as const).filter((one) => canBeIn(one, text)).join(' '), languages)
  })
}
