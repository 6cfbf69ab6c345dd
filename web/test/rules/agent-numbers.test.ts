import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Agent, AgentNumbers } from '../../src/data/team/agent-numbers.ts'
import { dayBefore, fractionOf, isBetter, type Share, type ShareName, shareOf } from '../../src/review/number-rules.ts'
import { csvRows } from '../../src/review/numbers-csv.ts'
import { readReviewSearch } from '../../src/review/search.ts'
import { withTexts } from '../../src/text/index.ts'

await withTexts(async () => {})

const agent: Agent = {
  ...{ keyId: 'k', cases: 20, answered: 16, days: [], versions: [] },
  outcomes: {
    ...{ resolved: 6, recent: 4, reopened: 2, assisted: 1, handed_over: 3, taken_over: 2, silent: 1, other: 1 },
  },
  drafts: { sent: 5, edited: 3, rejected: 2, replaced: 7, stale: 8, open: 9, distance: 0.25 },
  cost: { messages: 9, unknown: 1, unpriced: 0, amount: '0.5', perResolved: '0.05' },
}

test('each share has the count that its definition names', () => {
  const cases: [name: ShareName, count: number, of: number][] = [
    ['resolved', 6, 16],
    ['reopened', 2, 16],
    ['assisted', 1, 20],
    ['handed_over', 3, 20],
    ['taken_over', 2, 16],
    ['silent', 1, 20],
    ['draft_sent', 5, 10],
    ['draft_edited', 3, 10],
    ['draft_rejected', 2, 10],
  ]
  for (const [name, count, of] of cases) assert.deepEqual(shareOf(agent, name), { count, of }, name)
  assert.equal(fractionOf({ count: 0, of: 0 }), null)
})

test('a share is better or worse only if it differs and one of both is', () => {
  const half: Share = { count: 1, of: 2 }
  const cases: [name: ShareName, one: Share, other: Share, better: boolean | null][] = [
    ['resolved', { count: 6, of: 10 }, half, true],
    ['resolved', { count: 4, of: 10 }, half, false],
    ['silent', { count: 4, of: 10 }, half, true],
    ['resolved', { count: 501, of: 1000 }, half, null],
    ['handed_over', { count: 6, of: 10 }, half, null],
    ['resolved', { count: 0, of: 0 }, half, null],
  ]
  for (const [name, one, other, better] of cases) assert.equal(isBetter(name, one, other), better, name)
})

test('the file has one row per agent, with the counts beside the shares', () => {
  const numbers = { from: '2026-03-01', to: '2026-03-30', timeZone: 'UTC', answerMinutes: 5, currency: 'USD' }
  const [head, row, ...others] = csvRows({ ...numbers, agents: [agent] } satisfies AgentNumbers, () => 'Support')
  assert.equal(others.length, 0)
  assert.equal(head?.length, row?.length)
  assert.deepEqual(row?.slice(0, 5), ['2026-03-01', '2026-03-30', 'Support', 20, 6])
  assert.deepEqual(row?.slice(-2), ['0.05', 'USD'])
})

test('the address keeps the days, the agent and what it is compared with', () => {
  assert.deepEqual(readReviewSearch({ days: 7, key: 'a-1', with: 'before' }), { days: 7, key: 'a-1', with: 'before' })
  assert.deepEqual(readReviewSearch({ days: 8, key: '<x>', with: 4 }), {})
  assert.equal(dayBefore('2026-03-01'), '2026-02-28')
})
