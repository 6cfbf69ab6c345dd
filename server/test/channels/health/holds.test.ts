import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  activeHolds,
  addRefusal,
  applyRestrictions,
  findHold,
  type Hold,
  type HoldRule,
  liftMatchingHold,
  type Stops,
  startProbe,
} from '../../../src/channels/health/holds.ts'

const noon = new Date('2026-03-10T12:00:00.000Z')
const after = (minutes: number) => new Date(noon.getTime() + minutes * 60_000)
const payment: HoldRule = { stops: 'billable', probe: 'send', firstMs: 5 * 60_000, maxMs: 30 * 60_000 }
const reason = 'platform_error_131042'
const held = (stops: Stops): Hold[] =>
  addRefusal([], payment, reason, noon).holds.map((one): Hold => ({ ...one, stops }))

const kinds = {
  text: { category: null, isWindowOpen: true, isFree: false },
  freeText: { category: null, isWindowOpen: true, isFree: true },
  utilityInWindow: { category: 'UTILITY', isWindowOpen: true, isFree: false },
  marketingInWindow: { category: 'MARKETING', isWindowOpen: true, isFree: false },
  codeInWindow: { category: 'AUTHENTICATION', isWindowOpen: true, isFree: false },
  utilityOutside: { category: 'UTILITY', isWindowOpen: false, isFree: false },
  marketingOutside: { category: 'MARKETING', isWindowOpen: false, isFree: false },
}
const stopped: Record<Stops, string> = {
  all: 'text freeText utilityInWindow marketingInWindow codeInWindow utilityOutside marketingOutside',
  billable: 'text utilityInWindow marketingInWindow codeInWindow utilityOutside marketingOutside',
  initiated: 'utilityOutside marketingOutside',
  replies: 'text freeText utilityInWindow marketingInWindow codeInWindow',
  nothing: '',
}

test('a hold stops only the messages that it names', () => {
  for (const [stops, expected] of Object.entries(stopped)) {
    const found = Object.entries(kinds).filter(([, sort]) => findHold(held(stops as Stops), sort, noon) !== null)
    assert.equal(found.map(([name]) => name).join(' '), expected, stops)
  }
})

test('each failed test doubles the delay up to the maximum; other sends in flight change nothing', () => {
  let holds = addRefusal([], payment, reason, noon).holds
  let now = noon
  const pauses: number[] = []
  for (let n = 0; n < 5; n++) {
    const [hold] = holds
    const next = new Date(hold?.nextTryAt ?? 0)
    pauses.push((next.getTime() - now.getTime()) / 60_000)
    assert.deepEqual(addRefusal(holds, payment, reason, now), { holds, isNew: false })
    assert.equal(startProbe(holds, reason, new Date(next.getTime() - 1)), null)
    now = next
    holds = startProbe(holds, reason, now) ?? []
    assert.equal(startProbe(holds, reason, now), null, 'one at a time')
    holds = addRefusal(holds, payment, reason, now).holds
  }
  assert.deepEqual(pauses, [5, 10, 20, 30, 30])
})

test('after a test without a result another may start; an accepted one ends the hold', () => {
  const holds = startProbe(held('billable'), reason, after(5)) ?? []
  assert.equal(findHold(holds, kinds.marketingOutside, after(6))?.nextTryAt, after(7).toISOString())
  assert.notEqual(startProbe(holds, reason, after(7)), null)
  assert.deepEqual(activeHolds(liftMatchingHold(holds, reason, after(6)), after(6)), [])
})

test('a problem that returns soon continues its backoff without notification; a later one starts over', () => {
  const over = liftMatchingHold(held('billable'), reason, after(5))
  const soon = addRefusal(over, payment, reason, after(6))
  assert.deepEqual([soon.isNew, soon.holds[0]?.attempts], [false, 2])
  const later = addRefusal(over, payment, reason, after(25 * 60))
  assert.deepEqual([later.isNew, later.holds[0]?.attempts], [true, 1])
})

test('restrictions replace earlier ones only; expired ones are ignored, and those without an end are tested', () => {
  const initiated = { stops: 'initiated', reason: 'account_restricted_initiated', until: after(60) } as const
  const replies = { stops: 'replies', reason: 'account_restricted_replies', until: null } as const
  const both = applyRestrictions(held('billable'), { all: [initiated, replies] }, noon)
  assert.deepEqual(both.newReasons, [initiated.reason, replies.reason])
  assert.equal(findHold(both.holds, kinds.freeText, noon)?.reason, replies.reason)
  assert.notEqual(startProbe(both.holds, replies.reason, after(24 * 60)), null)
  assert.deepEqual(
    activeHolds(both.holds, after(60)).map((one) => one.reason),
    [reason, replies.reason],
  )
  const one = applyRestrictions(both.holds, { all: [initiated, { ...replies, until: noon }] }, noon)
  assert.deepEqual([one.newReasons, one.holds.map((each) => each.reason)], [[], [reason, initiated.reason]])
  const warned = applyRestrictions(
    one.holds,
    { added: [{ stops: 'nothing', reason: 'account_violation', until: after(9) }] },
    noon,
  )
  assert.deepEqual([warned.newReasons, warned.holds.length], [['account_violation'], 3])
})
