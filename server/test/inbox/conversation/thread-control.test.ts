import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ThreadOwner } from '../../../src/channels/channel-event.ts'
import { changeThread } from '../../../src/inbox/conversation/change.ts'
import { noMarks } from '../../../src/inbox/conversation/conversation-state.ts'
import { newConversation } from '../../../src/inbox/conversation/customer.ts'
import {
  afterSignal,
  standbyOwner,
  type ThreadControl,
  type ThreadSignal,
} from '../../../src/inbox/conversation/thread-control.ts'

const noon = new Date('2026-11-10T12:00:00.000Z')
const at = (seconds: number): Date => new Date(noon.getTime() + seconds * 1000)
const day = 86_400

const has = (owner: ThreadOwner | null, seconds: number): ThreadControl => ({ owner, at: at(seconds) })
const copy = (seconds: number): ThreadSignal => ({ source: 'standby', owner: 'other_app', at: at(seconds) })
const ours = (seconds: number): ThreadSignal => ({ source: 'ours', owner: null, at: at(seconds) })
const handover = (owner: ThreadOwner | null, seconds: number): ThreadSignal => ({
  ...{ source: 'handover', owner, at: at(seconds) },
})

const cases: [what: string, before: ThreadControl | null, signal: ThreadSignal, after: ThreadControl | null][] = [
  ['a copy shows that another app has it', null, copy(5), has('other_app', 5)],
  ['a further copy keeps the role that a handover named', has('escalation', 5), copy(9), has('escalation', 9)],
  ['a copy older than the newest message to us is late', null, copy(-5), null],
  ['a copy of the same second as a handover to us changes nothing', has(null, 5), copy(5), has(null, 5)],
  ['a later copy takes it again', has(null, 5), copy(6), has('other_app', 6)],
  ['a handover to another app', null, handover('escalation', 5), has('escalation', 5)],
  ['a handover to us', has('ai_agent', 5), handover(null, 9), has(null, 9)],
  ['a handover to us of the same second', has('ai_agent', 5), handover(null, 5), has(null, 5)],
  ['a late handover to us', has('ai_agent', 5), handover(null, 4), has('ai_agent', 5)],
  ['a late handover to another app', has(null, 5), handover('ai_agent', 4), has(null, 5)],
  ['a first handover to us is kept, so that late copies are known', null, handover(null, 5), has(null, 5)],
  ['a message to us takes it back', has('ai_agent', 5), ours(9), has(null, 9)],
  ['a late message to us', has('ai_agent', 5), ours(4), has('ai_agent', 5)],
  ['a message to us while it is ours', has(null, 5), ours(9), has(null, 5)],
  ['a message to us while no other app was ever reported', null, ours(9), null],
]

for (const [what, thread, signal, after] of cases) {
  test(`thread control: ${what}`, () => {
    // The customer wrote at noon.
    const windowExpiresAt = at(day)
    const result = afterSignal({ thread, windowExpiresAt }, signal)
    assert.deepEqual(result, after)
    const repeated = afterSignal({ thread: result, windowExpiresAt }, signal)
    assert.deepEqual(repeated, after, 'a repeat changes nothing')
  })
}

test('when another app gets it, sends that were allowed before no longer start, and nobody waits', () => {
  const customer = { name: 'Ana', phone: '5581991234567', userId: null, parentUserId: null }
  const created = newConversation({ id: 'a', channel: 'waba' }, customer, 'customer', noon, noon)
  const before = { ...created, ownerEpoch: 3, unansweredSince: noon, inbound: { ...noMarks, newest: 'b' } }
  const taken = changeThread(before, handover('escalation', 5), at(6)).conversation
  assert.deepEqual([taken.ownerEpoch, taken.unansweredSince, taken.owner], [4, null, before.owner])
  const given = changeThread(taken, handover(null, 9), at(10)).conversation
  assert.deepEqual([given.ownerEpoch, given.unansweredSince], [4, at(9)])
})

test('another app has it for 24 hours after the customer wrote, and never without them', () => {
  const thread = has('ai_agent', 0)
  assert.equal(standbyOwner({ thread, windowExpiresAt: at(day) }, at(day - 1)), 'ai_agent')
  assert.equal(standbyOwner({ thread, windowExpiresAt: at(day) }, at(day)), null)
  assert.equal(standbyOwner({ thread, windowExpiresAt: null }, at(0)), null)
  assert.equal(standbyOwner({ thread: has(null, 0), windowExpiresAt: at(day) }, at(1)), null)
})
