import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { checkCodes } from '../../../server/src/channels/check/report.ts'
import { stepText, summaryOf } from '../../src/connections/check/step-texts.ts'
import { fieldsOf, mustReenter, settingsOf } from '../../src/connections/parts/settings-fields.ts'
import { needsAttention, stateText } from '../../src/connections/parts/state-texts.ts'
import type { CheckStep } from '../../src/data/connection/check.ts'
import type { Connection } from '../../src/data/connections.ts'
import {
  decimalOf,
  mappingOf,
  matchersOf,
  meaningOf,
  sentMeanings,
  setTarget,
} from '../../src/leads/transfer/mapping.ts'
import { withTexts } from '../../src/text/index.ts'

await withTexts(async () => {})

const unused = { lastEventInAt: null, lastEventOutAt: null }

test('each state has a tone, a label and, if it cannot send, a reason; only states that need action are problems', () => {
  const cases = [
    ['active', null, 'good', 'Connected', null, false],
    ['paused', null, 'plain', 'Paused', null, false],
    ['unavailable', 'never_paired', 'attention', 'No phone linked', null, false],
    ['unavailable', 'pairing', 'accent', 'Waiting for the phone', null, false],
    ['unavailable', 'setup', 'attention', 'Setup not finished', null, false],
    ['unavailable', 'banned', 'bad', 'Can’t send', 'WhatsApp banned the number', true],
    ['unavailable', 'platform_error_190', 'bad', 'Can’t send', 'Platform error 190', true],
    ['unavailable', 'something_new', 'bad', 'Can’t send', 'Reason: something_new', true],
    ['unavailable', null, 'bad', 'Can’t send', 'The platform isn’t responding', true],
  ] as const
  for (const [state, stateReason, tone, word, reason, inTrouble] of cases) {
    assert.deepEqual(stateText({ state, stateReason }), { tone, label: word, reason })
    assert.equal(needsAttention({ state, stateReason, ...unused }), inTrouble, `${state} ${stateReason}`)
  }
})

test('a code that was not scanned in time is a problem only for a connection that was linked before', () => {
  const ended = { state: 'unavailable', stateReason: 'pairing_ended', ...unused } as const
  const at = '2026-08-03T12:00:00.000Z'
  assert.equal(needsAttention(ended), false)
  assert.equal(needsAttention({ ...ended, lastEventInAt: at }), true)
  assert.equal(needsAttention({ ...ended, lastEventOutAt: at }), true)
})

test('every code of a check has words in each language', async () => {
  for (const language of ['en', 'pt', 'es']) {
    const path = new URL(`../../src/text/${language}/common.json`, import.meta.url)
    const { found, advice } = JSON.parse(readFileSync(path, 'utf8')).connections.setup
    assert.deepEqual(Object.keys(found).sort(), [...checkCodes].sort(), language)
    assert.deepEqual(
      Object.keys(advice).filter((code) => !(code in found)),
      [],
    )
  }
})

test('a step is shown in words of the app, with times and reasons; the summary names the next one', () => {
  const step = (more: object) =>
    ({
      step: 'token',
      status: 'failed',
      code: 'token_expired',
      values: {},
      found: 'F',
      advice: 'A',
      ...more,
    }) as CheckStep
  assert.equal(stepText(step({})).found, 'The token has expired.')
  const timed = stepText(step({ code: 'history_open', values: { until: '2026-03-01T12:00:00.000Z' } })).found
  assert.match(timed, /until Mar 1, 2026/)
  const down = stepText(step({ code: 'cannot_send', values: { reason: 'paused' } }))
  assert.equal(down.advice, 'A member paused this connection. Resume it to send.')
  assert.deepEqual(stepText(step({ code: 'from_a_newer_server' })), { found: 'F', advice: 'A' })
  const check = (...steps: CheckStep[]) => ({ checkedAt: '', steps })
  const account = step({ step: 'account', code: 'account_not_chosen' })
  const number = step({ step: 'number', code: 'number_not_chosen' })
  assert.equal(summaryOf(check(account, number)), '2 steps need you. Next: Number.')
  assert.equal(summaryOf(check(step({ status: 'warning' }))), 'Everything works.')
})

test('a secret must be re-entered when its address changes to another server', () => {
  const connection = { channel: 'waba', baseUrl: 'https://graph.example' } as Connection
  const asked = (baseUrl: string) => {
    const draft = { ...settingsOf(connection), baseUrl }
    return fieldsOf('waba').filter((field) => mustReenter(field, connection, draft))
  }
  assert.deepEqual(asked('https://other.example'), ['accessToken'])
  for (const baseUrl of ['https://graph.example', ' https://GRAPH.example/v1 ', '', 'https://']) {
    assert.deepEqual(asked(baseUrl), [], baseUrl)
  }
})

test('a field moves to the column chosen last, and away from one that was only suggested', () => {
  const columns = [
    { name: 'Nome', target: 'firstName' },
    { name: 'Fone', target: 'phone' },
    { name: 'Cidade', target: 'k_cidade' },
  ]
  const chosen = setTarget(setTarget(new Map(), 'Cidade', 'phone'), 'Nome', 'phone')
  assert.deepEqual(Object.fromEntries(mappingOf({ columns }, chosen)), { Nome: 'phone', Fone: null, Cidade: null })
  assert.deepEqual(matchersOf('csv', mappingOf({ columns }, new Map())), ['phone', 'none'])
  assert.deepEqual(matchersOf('csv', new Map()), ['none'])
  assert.equal(matchersOf('ndjson', new Map())[0], 'id')
})

test('the command for QR sessions is the one in the operations guide', () => {
  const section = readFileSync(new URL('../../src/connections/detail/SessionSection.tsx', import.meta.url), 'utf8')
  const command = /baileysCommand = '([^']+)'/.exec(section)?.[1] ?? 'none'
  assert.ok(readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8').includes(`\n${command}\n`))
})

test('the decimal separator is detected from sample amounts, otherwise from the language', () => {
  for (const [samples, english, portuguese] of [
    [['1.234,50', '12,00'], ',', ','],
    [['1,234.50'], '.', '.'],
    [['2.500', '12.000'], ',', ','],
    [['R$ 2.500,00'], ',', ','],
    [['1500'], '.', ','],
    [[], '.', ','],
  ] as const) {
    assert.deepEqual([decimalOf(samples, 'en'), decimalOf(samples, 'pt')], [english, portuguese], samples.join(' '))
  }
})

test('a chosen meaning overrides the suggestion, and unknown ones are not sent', () => {
  const values = [
    { text: 'Ganho', count: 2, value: 'won' },
    { text: 'Velho', count: 1, value: null },
    { text: 'Lixo', count: 1, value: null },
  ]
  const meanings = { status: { lixo: null, ganho: 'lost' } }
  assert.equal(meaningOf(meanings, 'status', values[1] ?? { text: '', value: null }), undefined)
  const own = 'customFieldValues.plan'
  const filled = [{ target: 'status' }, { target: own }]
  const plans = [{ text: 'ouro', count: 1, value: 'Gold' }]
  const all = [values, plans].map((one) => ({ values: one, isWhole: true }))
  assert.deepEqual(sentMeanings(meanings, filled, all), {
    values: { status: { Ganho: 'lost', Lixo: null } },
    fieldValues: { [own]: { ouro: 'Gold' } },
  })
})
