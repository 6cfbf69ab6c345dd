import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type KnownConsent,
  keywordDecision,
  type NewConsent,
  orderConsent,
  parseKeywords,
} from '../../src/consents/consent.ts'

const at = (minute: number | null): Date => new Date(Date.UTC(2026, 2, 1, 12, minute ?? 0))
type Decision = NewConsent['decision']

const known = (decision: Decision, reported: number | null, decided: number, isLate = false): KnownConsent => ({
  ...{ decision, source: reported === null ? 'member' : 'platform', isLate },
  ...{ reportedAt: reported === null ? null : at(reported), decidedAt: at(decided) },
})
const next = (decision: Decision, reported: number | null) => ({
  ...{ decision, source: reported === null ? ('member' as const) : ('platform' as const) },
  reportedAt: reported === null ? null : at(reported),
})
const [out, back] = ['opted_out', 'opted_in'] as const

const orders: [name: string, given: ReturnType<typeof next>, known: KnownConsent[], order: string][] = [
  ['the first decision', next(out, 10), [], 'counts'],
  ['a newer one of the platform', next(back, 11), [known(out, 10, 10)], 'counts'],
  ['an older one of the platform', next(back, 9), [known(out, 10, 10)], 'late'],
  ['a repeat of the platform', next(out, 10), [known(out, 10, 10)], 'repeated'],
  ['a repeat after the opposite', next(out, 10), [known(back, 11, 11), known(out, 10, 10)], 'repeated'],
  ['a repeat of a late one', next(back, 9), [known(back, 9, 12, true), known(out, 10, 10)], 'repeated'],
  ['an opt-out in the same second as an opt-in', next(out, 10), [known(back, 10, 10)], 'counts'],
  ['an opt-in in the same second as an opt-out', next(back, 10), [known(out, 10, 10)], 'late'],
  ['one of the platform, older than one of the team', next(out, 10), [known(back, null, 20)], 'late'],
  ['an opt-in just older than one of the team', next(back, 19), [known(out, null, 20)], 'late'],
  ['an opt-out within the difference of the clocks', next(out, 16), [known(back, null, 20)], 'counts'],
  ['one of the team, whatever the platform says', next(back, null), [known(out, 50, 10)], 'counts'],
  ['the same of the team again', next(out, null), [known(out, null, 10)], 'repeated'],
  ['one that is older than a late one only', next(back, 11), [known(back, 15, 16, true), known(out, 10, 10)], 'counts'],
]

const inForm = { decision: back, source: 'form', reportedAt: null } as const
test('a form can opt in, but not end an opt-out: anyone can fill it in', () => {
  assert.equal(orderConsent(inForm, []), 'counts')
  assert.equal(orderConsent(inForm, [known(out, 10, 10)]), 'late')
  assert.equal(orderConsent({ ...inForm, decision: out }, [known(back, null, 10)]), 'counts')
})

for (const [name, given, before, order] of orders) {
  test(`the order of decisions: ${name} ${order}`, () => assert.equal(orderConsent(given, before), order))
}

const keywords = parseKeywords(['STOP', 'Cancelar inscrição', 'BAJA'], ['START'])

const messages: [text: string, decision: Decision | null][] = [
  ['STOP', out],
  ['  stop!! ', out],
  ['S.T.O.P.', out],
  ['¡Bája!', out],
  ['CANCELAR INSCRICAO', out],
  ['ＳＴＯＰ', out],
  ['Start.', back],
  ['Please stop', null],
  ['Where does the bus stop?', null],
  ['STOP STOP', null],
  ['🛑', null],
  ['', null],
  [`STOP${'!'.repeat(100)}`, null],
]

for (const [text, decision] of messages) {
  test(`a message is a keyword only as a whole: ${JSON.stringify(text.slice(0, 30))} is ${decision}`, () =>
    assert.equal(keywordDecision(text, keywords), decision))
}
