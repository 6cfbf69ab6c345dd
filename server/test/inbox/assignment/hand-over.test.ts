import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../../src/base/errors.ts'
import { type HandoverAgent, type HandoverRequest, handOver } from '../../../src/inbox/assignment/hand-over.ts'
import type { SendStep } from '../../../src/inbox/send/send-deps.ts'
import { afterStep } from '../../support/after-step.ts'
import { fakePlatform } from '../../support/channels/fake-platform.ts'
import { addAgent, conversationWorld } from '../../support/inbox/inbox-world.ts'
import { sendDeps } from '../../support/inbox/send-deps.ts'

const refund = {
  note: { summary: 'Wants the money back for order 1042.', reason: 'Refunds need a person.', nextStep: null },
  urgency: 'high',
  userId: null,
  closing: 'A colleague will help you.',
} as const

async function owned() {
  const one = await conversationWorld()
  const { w, agent, id, member, place } = one
  const way = fakePlatform().way
  const deps = await sendDeps(w.db, w.keyStore, w.clock, { connector: w.platform.connectors.waba, way }, w.media)
  const caller: HandoverAgent = {
    workspaceId: w.workspaceId,
    connectionIds: [],
    actor: { type: 'agent', id: agent.id },
  }
  return {
    ...one,
    deps,
    caller,
    hand: (changes: Partial<HandoverRequest> = {}) =>
      handOver(deps, caller, { conversationId: id, ...refund, ...changes }),
    conversation: async () => (await member.call('GET', place)).body.conversation,
    items: async () => (await member.call('GET', `${place}/timeline`)).body.items,
    told: () => w.platform.sends.filter(({ connectionId }) => connectionId === w.connectionId).length,
  }
}

const code = (wanted: string) => (error: unknown) => error instanceof ApiError && error.data?.code === wanted

test('the closing message is sent before people own the conversation, with the handover note', async () => {
  const { w, agent, id, hand, conversation, items } = await owned()
  const { handover, closing, isRepeat } = await hand()
  assert.deepEqual([closing, isRepeat], ['sent', false])
  const events = (await w.events(id)).slice(-2)
  assert.deepEqual(
    events.map(({ name }) => name),
    ['inbox.message.sent', 'inbox.conversation.owner_changed'],
  )
  assert.equal(events[1]?.payload.handover_id, handover.id)
  const shown = await conversation()
  assert.deepEqual([shown.owner, shown.held], ['human', true])
  const at = handover.createdAt.toISOString()
  assert.deepEqual(shown.handover, { id: handover.id, urgency: 'high', reason: refund.note.reason, at })
  const item = (await items()).find((one: { type: string }) => one.type === 'handover')
  const { summary, reason, nextStep, urgency, from, to, toId, actor } = item.handover
  assert.deepEqual({ summary, reason, nextStep }, refund.note)
  assert.deepEqual([urgency, from, to, toId, actor.id], ['high', `agent:${agent.id}`, 'people', null, agent.id])
})

test('an agent that crashes between closing message and handover retries: nothing is sent twice, and it completes', async () => {
  const { w, id, deps, caller, hand, told, conversation } = await owned()
  let isSaid = false
  const step = afterStep<SendStep>((one) => {
    if (one === 'settle') isSaid = true
  })
  const withKeyring: typeof w.keyStore.withKeyring = (...asked) =>
    isSaid ? Promise.reject(new Error('killed')) : w.keyStore.withKeyring(...asked)
  const dying = { ...deps, step, keyStore: { ...w.keyStore, withKeyring } }
  const ask = { conversationId: id, ...refund }
  await assert.rejects(() => handOver(dying, caller, ask), /killed/)
  assert.deepEqual([told(), (await conversation()).owner === 'human'], [1, false])
  // With another text as well: a model does not repeat itself exactly.
  const again = await hand({ closing: 'Someone else will help you.' })
  assert.deepEqual([again.closing, again.isRepeat, told()], ['unknown', false, 1])
  assert.equal((await conversation()).owner, 'human')
})

test('repeating the same handover changes nothing and is reported as a repeat', async () => {
  const { w, id, hand, told } = await owned()
  const first = await hand()
  const before = await w.events(id)
  const second = await hand()
  assert.deepEqual([second.isRepeat, second.handover, told()], [true, first.handover, 1])
  assert.deepEqual(await w.events(id), before)
  await assert.rejects(() => hand({ urgency: 'low' }), code('HELD_BY_PEOPLE'))
})

test('a refused closing message changes nothing; without it the conversation is handed over', async () => {
  const { w, id, hand } = await owned()
  w.clock.advance(25 * 3_600_000)
  const before = await w.events(id)
  await assert.rejects(() => hand(), code('WINDOW_CLOSED'))
  assert.deepEqual(await w.events(id), before)
  const { closing, conversation } = await hand({ closing: null })
  assert.deepEqual([closing, conversation.owner.type], [null, 'human'])
})

test('an undelivered closing message does not stop the handover, and the agent is informed', async () => {
  const { w, hand } = await owned()
  w.platform.answers.push({ outcome: 'refused', errorCode: '131049', effect: 'none' })
  const { closing, conversation } = await hand()
  assert.deepEqual([closing, conversation.owner.type], ['failed', 'human'])
})

test('only the owner can hand over: not a conversation of people or of another agent', async () => {
  const { w, deps, caller, id, member, place, hand, told } = await owned()
  const other = await addAgent(w)
  const ofOther: HandoverAgent = { ...caller, actor: { type: 'agent', id: other.id } }
  await assert.rejects(() => handOver(deps, ofOther, { conversationId: id, ...refund }), code('OWNER_MISMATCH'))
  await member.call('POST', `${place}/take-over`)
  await assert.rejects(() => hand(), code('HELD_BY_PEOPLE'))
  assert.equal(told(), 0)
})

test('an open handover ends when a person writes, and when the conversation goes back to an agent', async () => {
  const { w, agent, member, place, hand, conversation } = await owned()
  await hand({ closing: null })
  await w.customerWrites('Hello?')
  assert.equal((await conversation()).handover.urgency, 'high')
  await member.call('POST', `${place}/hand-back`, { keyId: agent.id })
  assert.equal((await conversation()).handover, null)
  await hand({ closing: null })
  await member.call('POST', `${place}/messages`, { kind: 'text', text: 'I am here' }, { 'idempotency-key': 'one' })
  const { handover, held } = await conversation()
  assert.deepEqual([handover, held], [null, true])
})
