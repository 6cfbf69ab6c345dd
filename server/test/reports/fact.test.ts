import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/base/id.ts'
import { addRollups, bucketOf, type Fact, isSameFact, rollupsOf, secondsOf } from '../../src/reports/fact.ts'
import { addDecimals } from '../../src/reports/read-report.ts'
import { nextMonday } from '../../src/reports/weekly-mail.ts'
import { pick } from '../support/pick.ts'

const at = new Date('2026-03-10T12:00:00Z')

const answer = (changes: Partial<Fact> = {}): Fact => ({
  ...{ kind: 'answer', id: newId(at), subjectId: newId(at), at, day: '2026-03-10', outcome: 'people' },
  ...{
    connectionId: newId(at),
    teamId: null,
    userId: newId(at),
    keyId: null,
    source: null,
    campaignId: null,
    labelIds: [],
    value: 60_000,
  },
  ...changes,
})

test('the middle of a bucket is at most 5 % off the times in it, from a second to a year', () => {
  for (let ms = 1000; ms < 366 * 86_400_000; ms *= 1.37) {
    const shown = secondsOf(bucketOf(ms)) * 1000
    assert.ok(Math.abs(shown - ms) / ms <= 0.06, `${ms} is shown as ${shown}`)
  }
  assert.equal(bucketOf(0), 0)
})

test('a fact is counted once in each of its dimensions, and with each label', () => {
  const [one, two] = [newId(at), newId(at)]
  const fact = answer({ labelIds: [one, two], source: 'ads', campaignId: two })
  const places = rollupsOf([fact]).map(({ dimension, dimensionId }) => [dimension, dimensionId])
  const expected = [
    ['all', ''],
    ['campaign', two],
    ['connection', fact.connectionId],
    ['label', one],
    ['label', two],
    ['person', fact.userId],
    ['source', 'ads'],
  ]
  assert.deepEqual(places.map(String).sort(), expected.map(String).sort())
  assert.deepEqual(new Set(pick(rollupsOf([fact]), 'total')), new Set([60_000]))
})

test('a fact that is counted and taken away leaves nothing', () => {
  const facts = [answer(), answer({ value: 61_000 }), answer({ kind: 'lead', value: null })]
  assert.deepEqual(addRollups([...rollupsOf(facts), ...rollupsOf(facts, -1)]), [])
  const [first] = addRollups([...rollupsOf(facts), ...rollupsOf(facts.slice(1), -1)])
  assert.deepEqual([first?.dimension, first?.count, first?.total], ['all', 1, 60_000])
})

test('facts are the same whatever the order of their labels', () => {
  const [one, two] = [newId(at), newId(at)]
  const fact = answer({ labelIds: [one, two] })
  assert.ok(isSameFact(fact, { ...fact, at: new Date(at), labelIds: [two, one] }))
  for (const changes of [{ day: '2026-03-11' }, { value: null }, { labelIds: [one] }, { at: new Date(0) }]) {
    assert.ok(!isSameFact(fact, { ...fact, ...changes }), JSON.stringify(changes))
  }
})

const sums: [amounts: string[], sum: string][] = [
  [[], '0'],
  [['0.1', '0.2'], '0.3'],
  [['12.4875', '0.0125'], '12.5'],
  [['9999999999.0001', '1'], '10000000000.0001'],
]
for (const [amounts, sum] of sums) {
  test(`${amounts.join(' + ') || 'nothing'} is ${sum}`, () => assert.equal(addDecimals(amounts), sum))
}

test('a weekly report is due on Monday at eight in the time zone, also when the clocks change', () => {
  const due = (zone: string, now: string) => nextMonday(zone, new Date(now)).toISOString()
  assert.equal(due('UTC', '2026-03-10T12:00:00Z'), '2026-03-16T08:00:00.000Z')
  assert.equal(due('UTC', '2026-03-16T07:59:00Z'), '2026-03-16T08:00:00.000Z')
  assert.equal(due('UTC', '2026-03-16T08:00:00Z'), '2026-03-23T08:00:00.000Z')
  assert.equal(due('America/Sao_Paulo', '2026-03-10T12:00:00Z'), '2026-03-16T11:00:00.000Z')
  assert.equal(due('Europe/Berlin', '2026-03-27T12:00:00Z'), '2026-03-30T06:00:00.000Z')
})
