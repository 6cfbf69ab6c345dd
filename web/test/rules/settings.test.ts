import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { getCountries } from 'libphonenumber-js/max'
import { edgeOfDay } from '../../src/settings/audit/edge-of-day.ts'
import { problemOf, type Span } from '../../src/settings/hours/week-hours.ts'
import { readScope, scopeIn, scopeValue, searchOf } from '../../src/settings/instructions/scope.ts'
import { choicesOf, rulesOf } from '../../src/settings/routing/rules-draft.ts'
import { diffWords } from '../../src/shared/diff-words.ts'
import en from '../../src/text/en/common.json' with { type: 'json' }
import { countryCodes } from '../../src/ui/format/country-codes.ts'
import { currencyCodes } from '../../src/ui/format/currencies.ts'

/** Recorded in the installation's own log, which no page shows. */
const ofInstallation = [
  'keys.master_rotated',
  'scim.group-changed',
  'scim.user-changed',
  'scim.user-created',
  'scim.user-deleted',
  'sign-in-link.mailed',
  'user.enabled',
  // The settings of single sign-on show these with texts of their own.
  'sso.linked',
  'sso.signed-in',
  'sso.signed-out',
  'sso.unlinked',
  'password.changed',
  'second-factor.failed',
  'session.ended',
  'session.others-ended',
  'session.started',
  'sign-in-link.created',
  'sign-in.failed',
  'two-factor.disabled',
  'two-factor.enabled',
]

test('every action of the audit log has a text', () => {
  const sources = globSync('server/src/**/*.ts').map((file) => readFileSync(file, 'utf8'))
  const audited = sources.filter((text) => /\b(?:recordAudit|countAudit|noteChange)\b/.test(text))
  const found = audited.flatMap((text) => text.match(/(?<=')[a-z]+(?:[-_][a-z]+)*\.[a-z]+(?:[-_][a-z]+)*(?=')/g) ?? [])
  const actions = [...new Set(found)].filter((action) => !ofInstallation.includes(action))
  assert.ok(actions.length > 40, `${actions.length} actions`)
  const { audit } = en.settings
  assert.deepEqual(
    actions.filter((action) => !(action in audit.actions)),
    [],
  )
  const things = new Set(Object.keys(audit.actions).map((action) => action.split('.')[0] ?? ''))
  assert.deepEqual(
    [...things].filter((thing) => !(thing in audit.resources)),
    [],
  )
})

test('the selectable countries are those of the phone library, and all have names', () => {
  assert.deepEqual(countryCodes.toSorted(), getCountries().toSorted())
  const names = new Intl.DisplayNames('en', { type: 'region' })
  for (const code of countryCodes) assert.notEqual(names.of(code), code)
})

test('the selectable currencies are those of the server, and all have names', () => {
  const taken = new Set(Intl.supportedValuesOf('currency'))
  const names = new Intl.DisplayNames('en', { type: 'currency' })
  for (const code of currencyCodes) assert.ok(taken.has(code) && names.of(code) !== code, code)
  assert.equal(new Set(currencyCodes).size, currencyCodes.length)
})

const spans = (text: string): Span[] =>
  text === '' ? [] : text.split(' ').map((span) => ({ from: span.split('-')[0] ?? '', to: span.split('-')[1] ?? '' }))

const days: [day: string, problem: ReturnType<typeof problemOf>][] = [
  ['', null],
  ['09:00-12:00 13:00-18:00', null],
  ['13:00-18:00 09:00-12:00', null],
  ['09:00-12:00 12:00-24:00', null],
  ['09:00-', 'missing'],
  ['-18:00', 'missing'],
  ['18:00-09:00', 'order'],
  ['09:00-09:00', 'order'],
  ['09:00-12:00 11:59-18:00', 'overlap'],
  ['09:00-18:00 10:00-11:00', 'overlap'],
]

for (const [day, problem] of days) {
  test(`a day of ${day || 'nothing'} ${problem === null ? 'can be saved' : `cannot be saved: ${problem}`}`, () => {
    assert.equal(problemOf(spans(day)), problem)
  })
}

test('a day lasts from its first to its last moment', () => {
  const day = { from: new Date(2026, 2, 1), to: new Date(2026, 2, 1, 23, 59, 59, 999) }
  assert.equal(edgeOfDay('2026-03-01', 'from'), day.from.toISOString())
  assert.equal(edgeOfDay('2026-03-01', 'to'), day.to.toISOString())
  for (const wrong of ['', '2026', '0020-01-01', 'x-y-z']) assert.equal(edgeOfDay(wrong, 'from'), null, wrong)
})

const comparisons: [before: string, after: string, shown: string][] = [
  ['', '', ''],
  ['Be brief.', 'Be brief.', 'Be brief.'],
  ['', 'Be brief.', '+Be brief.+'],
  ['Be brief.', '', '-Be brief.-'],
  ['Be brief and warm.', 'Be brief, kind and warm.', 'Be -brief-+brief, kind+ and warm.'],
  ['One.\nTwo.\nThree.', 'One.\nThree.', 'One.\n-Two.\n-Three.'],
  ['a b c', 'c b a', '-a-+c+ b -c-+a+'],
  ['Be  brief', 'Be brief', 'Be-  -+ +brief'],
]

test('two texts are compared word by word', () => {
  const mark = { same: '', removed: '-', added: '+' }
  for (const [before, after, shown] of comparisons) {
    const pieces = diffWords(before, after)
    assert.equal(pieces.map(({ kind, text }) => `${mark[kind]}${text}${mark[kind]}`).join(''), shown)
    const side = (left: 'removed' | 'added') => pieces.flatMap(({ kind, text }) => (kind === left ? [] : text)).join('')
    assert.deepEqual([side('added'), side('removed')], [before, after])
  }
})

test('the longest texts are compared in well under a second of CPU time', () => {
  const words = (of: string) => Array.from({ length: 2000 }, (_, n) => of.charAt(n % of.length)).join(' ')
  const { user } = process.threadCpuUsage()
  assert.ok(diffWords(words('abc'), words('cabd')).length > 1)
  assert.ok(process.threadCpuUsage().user - user < 1_000_000)
})

test('the address of instructions names a key or a connection', () => {
  for (const search of [{}, { key: 'k' }, { connection: 'c' }]) {
    assert.deepEqual(searchOf(scopeValue(scopeIn(search))), search)
    assert.deepEqual(readScope({ ...search, other: 1 }), search)
  }
  assert.deepEqual(readScope({ key: 5, connection: '' }), {})
})

test('routing rules are choices for all connections and each one, and only what differs is stored', () => {
  const none = choicesOf([], ['c'])
  assert.deepEqual(none, [
    { connectionId: null, agent: 'default', team: '' },
    { connectionId: 'c', agent: 'same', team: '' },
  ])
  assert.deepEqual(rulesOf(none), [])
  const rules = [
    { connectionId: null, agent: 'none' as const, keyId: null, teamId: 't' },
    { connectionId: 'c', agent: 'key' as const, keyId: 'k', teamId: null },
  ]
  assert.deepEqual(rulesOf(choicesOf(rules, ['c'])), rules)
  assert.deepEqual(rulesOf(choicesOf(rules, [])), rules.slice(0, 1), 'a connection that is gone')
})
