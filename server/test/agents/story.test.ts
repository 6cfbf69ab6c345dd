import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { signedInMember } from '../support/member.ts'

test('wait, answer, hand a refund over with a word, be handed it back, and go on: six calls', async () => {
  const w = await agentsWorld()
  const member = await signedInMember(w)
  let calls = 0
  const ask = async (name: string, input: Record<string, unknown>) => {
    calls++
    w.clock.advance(1000)
    const { status, body } = await w.ask(name, input)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  await w.customerWrites('Where is my order 1042?')
  const first = await ask('wait_for_work', {})
  const conversation_id = first.work[0].conversation.id
  await ask('answer', { conversation_id, text: 'It left this morning.' })

  await w.customerWrites('I want my money back.')
  const second = await ask('wait_for_work', { cursor: first.next_cursor })
  assert.deepEqual([second.work.length, second.work[0].why], [1, 'customer_wrote'])
  const handed = await ask('hand_over', {
    conversation_id,
    summary: 'Wants the money back for order 1042.',
    reason: 'Refunds need a person.',
    closing: 'A colleague will help you.',
  })
  assert.deepEqual([handed.closing, handed.conversation.owner], ['sent', 'people'])

  const note = { summary: 'It is paid back.', nextStep: 'Say that it takes five days.' }
  await member.call('POST', `/inbox/conversations/${conversation_id}/hand-back`, { keyId: w.agent.id, note })
  const third = await ask('wait_for_work', { cursor: second.next_cursor })
  assert.deepEqual([third.work[0].why, third.work[0].handover.next_step], ['given_to_you', note.nextStep])
  await ask('answer', { conversation_id, text: 'Your refund takes five days.' })

  assert.equal(calls, 6)
  const said = w.platform.sends.filter(({ connectionId }) => connectionId === w.connectionId)
  assert.equal(said.length, 3)
})
