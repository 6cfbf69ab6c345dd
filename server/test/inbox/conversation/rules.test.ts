import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  afterAnswer,
  openWindow,
  waitingSince,
  windowAfter,
  windowIsOpen,
} from '../../../src/inbox/conversation/conversation-state.ts'
import {
  combineParts,
  type DeliveryState,
  type MessageStatus,
  nextState,
  outcomeUnknown,
} from '../../../src/inbox/conversation/message.ts'
import { agent, human, parseOwner, writeOwner } from '../../../src/inbox/conversation/owner.ts'

const noon = new Date('2026-03-10T12:00:00.000Z')
const at = (minutes: number): Date => new Date(noon.getTime() + minutes * 60_000)
const day = 24 * 60

const windows: [what: string, before: Date | null, wrote: Date, expires: Date][] = [
  ['a first message opens it for 24 hours', null, at(0), at(day)],
  ['a later message lengthens it', at(60), at(0), at(day)],
  ['a late message never shortens it', at(day), at(-300), at(day)],
  ['a message delivered after a day opens nothing', null, at(-day - 1), at(-1)],
  ['a platform clock slightly ahead is accepted', null, at(3), at(3 + day)],
  ['a platform clock far ahead lengthens it by at most five minutes', null, at(600), at(5 + day)],
]

for (const [what, before, wrote, expires] of windows) {
  test(`window: ${what}`, () => assert.deepEqual(windowAfter(before, wrote, noon), expires))
}

test('a closed window is null, from the exact time of its end', () => {
  assert.equal(windowIsOpen(noon, noon), false)
  assert.equal(openWindow(noon, noon), null)
  assert.deepEqual(openWindow(at(1), noon), at(1))
  assert.equal(openWindow(null, noon), null)
})

// Ids of the customer's messages in order of arrival.
type Marks = [newest: string | null, seen: string | null, answered: string | null]
const inbound = ([newest, seen, answered]: Marks) => ({ newest, seen, answered })
const waits = { unansweredSince: noon, unreadCount: 3 }

const afterAnswers: [
  what: string,
  before: Marks,
  upTo: [string, isNamed: boolean] | null,
  left: number,
  after: Marks,
][] = [
  ['without a seen position it answers all', ['c', 'a', 'a'], null, 0, ['c', 'a', 'c']],
  ['having seen all it answers all', ['c', 'c', 'a'], ['c', false], 0, ['c', 'c', 'c']],
  ['having seen less it answers only that', ['c', 'b', 'a'], ['b', false], 1, ['c', 'b', 'b']],
  ['a named message counts as seen', ['c', 'a', null], ['b', true], 1, ['c', 'b', 'b']],
  ['an unnamed position does not set an unknown seen mark', ['c', null, null], ['c', false], 0, ['c', null, 'c']],
  ['answered messages stay answered', ['d', 'd', 'c'], ['a', true], 1, ['d', 'd', 'c']],
  ['also without any marks', [null, null, null], ['a', true], 0, [null, 'a', null]],
]

for (const [what, before, upTo, count, after] of afterAnswers) {
  test(`answer: ${what}`, () => {
    const seen = upTo === null ? null : { id: upTo[0], isNamed: upTo[1] }
    const left = count === 0 ? null : { count, since: at(1) }
    assert.deepEqual(afterAnswer({ ...waits, inbound: inbound(before) }, seen, left), {
      unansweredSince: left === null ? null : at(1),
      unreadCount: seen === null ? 3 : count,
      inbound: inbound(after),
    })
  })
}

test('messages covered by a concurrent answer do not wait again', () => {
  const before = { unansweredSince: null, unreadCount: 0, inbound: inbound(['c', 'b', 'c']) }
  const left = { count: 1, since: noon }
  assert.equal(afterAnswer(before, { id: 'b', isNamed: false }, left).unansweredSince, null)
  const more = { unansweredSince: at(2), unreadCount: 1, inbound: inbound(['c', 'b', 'b']) }
  const { unansweredSince, inbound: marks } = afterAnswer(more, { id: 'a', isNamed: true }, { count: 2, since: noon })
  assert.deepEqual([unansweredSince, marks.answered], [at(2), 'b'])
})

test('a message waits since it was written, or since its arrival if that was too late', () => {
  assert.deepEqual(
    [waitingSince(noon, at(4)), waitingSince(noon, at(5)), waitingSince(at(1), noon)],
    [noon, at(5), at(1)],
  )
})

const r = (status: MessageStatus, errorCode: string | null = null): DeliveryState => ({ status, errorCode })

const climbs: [from: DeliveryState, to: DeliveryState, after: DeliveryState | null][] = [
  [r('pending'), r('sent'), r('sent')],
  [r('pending'), r('read'), r('read')],
  [r('pending'), r('failed', '1'), r('failed', '1')],
  [r('sent'), r('sent'), null],
  [r('sent'), r('delivered'), r('delivered')],
  [r('sent'), r('failed', '131047'), r('failed', '131047')],
  [r('delivered'), r('sent'), null],
  [r('delivered'), r('failed', '1'), null],
  [r('delivered'), r('read'), r('read')],
  [r('read'), r('delivered'), null],
  [r('read'), r('failed', '1'), null],
  [r('failed', '1'), r('delivered'), null],
  [r('failed', '1'), r('failed', '2'), null],
  [r('failed', outcomeUnknown), r('sent'), r('sent')],
  [r('failed', outcomeUnknown), r('read'), r('read')],
  [r('failed', outcomeUnknown), r('failed', '1'), r('failed', '1')],
  [r('failed', outcomeUnknown), r('failed', outcomeUnknown), null],
]

for (const [from, to, after] of climbs) {
  const name = ({ status, errorCode }: DeliveryState) => `${status}${errorCode === null ? '' : `(${errorCode})`}`
  test(`status: ${name(from)} then ${name(to)} is ${after === null ? 'no change' : name(after)}`, () => {
    assert.deepEqual(nextState(from, to), after)
  })
}

test('the highest status wins in any order of reports', () => {
  const statuses = fc.shuffledSubarray(['sent', 'delivered', 'read'] as const, { minLength: 1 })
  fc.assert(
    fc.property(statuses, (order) => {
      const end = order.reduce((rung, status) => nextState(rung, r(status)) ?? rung, r('pending'))
      const highest = (['read', 'delivered', 'sent'] as const).find((status) => order.includes(status))
      assert.equal(end.status, highest)
    }),
  )
})

const parts: [MessageStatus[], MessageStatus][] = [
  [['sent', 'pending'], 'pending'],
  [['read', 'sent', 'delivered'], 'sent'],
  [['read', 'read'], 'read'],
  [['delivered', 'failed'], 'failed'],
  [[], 'pending'],
]

for (const [statuses, status] of parts) {
  test(`parts ${statuses.join(', ') || 'none'} make the message ${status}`, () => {
    assert.equal(combineParts(statuses.map((each) => r(each))).status, status)
  })
}

const connection = '01985e2a-7c3e-7f10-9a64-3f6a2b1c0d5e'

test('owners are written as in the contract, and nothing else is parsed', () => {
  for (const owner of [human, agent(connection)]) assert.deepEqual(parseOwner(writeOwner(owner)), owner)
  for (const text of ['', 'agent', 'agent:', 'agent:x', 'Human', ` human`, `agent:${connection} `]) {
    assert.equal(parseOwner(text), null, text)
  }
})
