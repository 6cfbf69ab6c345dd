import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  activeHolds,
  type Hold,
  holdOn,
  lifted,
  refusedAgain,
  restricted,
  type Stop,
  type Stops,
  tried,
} from '../../../src/channels/health/holds.ts'

const noon = new Date('2026-03-10T12:00:00.000Z')
const after = (minutes: number) => new Date(noon.getTime() + minutes * 60_000)
const payment: Stop = { stops: 'billable', probe: 'send', firstMs: 5 * 60_000, maxMs: 30 * 60_000 }
const reason = 'platform_error_131042'
const held = (stops: Stops): Hold[] =>
  refusedAgain([], payment, reason, noon).holds.map((one): Hold => ({ ...one, stops }))

const kinds = {
  text: { category: null, isWindowOpen: true },
  utilityInWindow: { category: 'UTILITY', isWindowOpen: true },
  marketingInWindow: { category: 'MARKETING', isWindowOpen: true },
  codeInWindow: { category: 'AUTHENTICATION', isWindowOpen: true },
  utilityOutside: { category: 'UTILITY', isWindowOpen: false },
  marketingOutside: { category: 'MARKETING', isWindowOpen: false },
}
const stopped: Record<Stops, string> = {
  all: 'text utilityInWindow marketingInWindow codeInWindow utilityOutside marketingOutside',
  billable: 'marketingInWindow codeInWindow utilityOutside marketingOutside',
  initiated: 'utilityOutside marketingOutside',
  replies: 'text utilityInWindow marketingInWindow codeInWindow',
  nothing: '',
}

test('a hold stops only the messages that it names', () => {
  for (const [stops, expected] of Object.entries(stopped)) {
    const found = Object.entries(kinds).filter(([, sort]) => holdOn(held(stops as Stops), sort, noon) !== null)
    assert.equal(found.map(([name]) => name).join(' '), expected, stops)
  }
})

test('each failed test doubles the delay up to the maximum; other sends in flight change nothing', () => {
  let holds = refusedAgain([], payment, reason, noon).holds
  let now = noon
  const pauses: number[] = []
  for (let n = 0; n < 5; n++) {
    const [hold] = holds
    const next = new Date(hold?.nextTryAt ?? 0)
    pauses.push((next.getTime() - now.getTime()) / 60_000)
    assert.deepEqual(refusedAgain(holds, payment, reason, now), { holds, isNews: false })
    assert.equal(tried(holds, reason, new Date(next.getTime() - 1)), null)
    now = next
    holds = tried(holds, reason, now) ?? []
    assert.equal(tried(holds, reason, now), null, 'one at a time')
    holds = refusedAgain(holds, payment, reason, now).holds
  }
  assert.deepEqual(pauses, [5, 10, 20, 30, 30])
})

test('after a test without a result another may start; an accepted one ends the hold', () => {
  const holds = tried(held('billable'), reason, after(5)) ?? []
  assert.equal(holdOn(holds, kinds.marketingOutside, after(6))?.nextTryAt, after(7).toISOString())
  assert.notEqual(tried(holds, reason, after(7)), null)
  assert.deepEqual(activeHolds(lifted(holds, reason, after(6)), after(6)), [])
})

test('a problem that returns soon continues its backoff without notification; a later one starts anew', () => {
  const over = lifted(held('billable'), reason, after(5))
  const soon = refusedAgain(over, payment, reason, after(6))
  assert.deepEqual([soon.isNews, soon.holds[0]?.attempts], [false, 2])
  const later = refusedAgain(over, payment, reason, after(25 * 60))
  assert.deepEqual([later.isNews, later.holds[0]?.attempts], [true, 1])
})

test('restrictions replace earlier ones only; expired ones are ignored, and those without an end are tested', () => {
  const initiated = { stops: 'initiated', reason: 'account_restricted_initiated', until: after(60) } as const
  const replies = { stops: 'replies', reason: 'account_restricted_replies', until: null } as const
  const both = restricted(held('billable'), { all: [initiated, replies] }, noon)
  assert.deepEqual(both.news, [initiated.reason, replies.reason])
  assert.equal(holdOn(both.holds, kinds.text, noon)?.reason, replies.reason)
  assert.notEqual(tried(both.holds, replies.reason, after(24 * 60)), null)
  assert.deepEqual(
    activeHolds(both.holds, after(60)).map((one) => one.reason),
    [reason, replies.reason],
  )
  const one = restricted(both.holds, { all: [initiated, { ...replies, until: noon }] }, noon)
  assert.deepEqual([one.news, one.holds.map((each) => each.reason)], [[], [reason, initiated.reason]])
  const warned = restricted(
    one.holds,
    { added: [{ stops: 'nothing', reason: 'account_violation', until: after(9) }] },
    noon,
  )
  assert.deepEqual([warned.news, warned.holds.length], [['account_violation'], 3])
})
