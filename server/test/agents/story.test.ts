import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AgentsWorld, agentsWorld } from '../support/agents/agents-world.ts'
import { eras, mcpClient } from '../support/agents/mcp-client.ts'
import { signedInMember } from '../support/member.ts'
import type { Answer } from '../support/world.ts'

type Ask = (verb: string, input: Record<string, unknown>) => Promise<Answer['body']>

/** By each way that an agent has. */
const faces: Record<string, (w: AgentsWorld) => Promise<Ask>> = {
  HTTP: async (w) => async (verb, input) => {
    const { status, body } = await w.ask(verb, input)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  },
}
for (const era of eras) {
  faces[`MCP, ${era}`] = async (w) => {
    const client = await mcpClient(w, w.agent.value, era)
    return async (name, input) => {
      const { structuredContent, isError, content } = await client.callTool({ name, arguments: input })
      assert.ok(!isError, JSON.stringify(content))
      return structuredContent
    }
  }
}

for (const [face, open] of Object.entries(faces)) {
  test(`answer, hand over a refund, take no more part, be given it back with a word, go on: six calls (${face})`, async () => {
    const w = await agentsWorld()
    const ask = await open(w)
    const member = await signedInMember(w)
    let calls = 0
    const call: Ask = (verb, input) => {
      calls++
      return ask(verb, input)
    }

    const { id } = await w.customerWrites('Where is my order 1042?')
    const first = await call('wait_for_work', { wait: 0 })
    assert.deepEqual(
      first.work.map((one: Answer['body']) => [one.conversation.id, one.messages.at(-1).customer_text]),
      [[id, 'Where is my order 1042?']],
    )
    await call('answer', { conversation_id: id, text: 'It was lost on its way, I am sorry.' })

    w.clock.advance(1000)
    await w.customerWrites('Then I want my money back')
    const second = await call('wait_for_work', { wait: 0, cursor: first.next_cursor })
    assert.equal(second.work[0].messages.at(-1).customer_text, 'Then I want my money back')
    const handed = await call('hand_over', {
      conversation_id: id,
      summary: 'Order 1042 was lost. Wants the money back.',
      reason: 'Refunds need a person.',
      urgency: 'high',
      closing: 'A colleague will help you with this.',
    })
    assert.deepEqual([handed.closing, handed.conversation.owner], ['sent', 'people'])

    w.clock.advance(1000)
    await w.customerWrites('When?')
    const given = await member.call('POST', `/inbox/conversations/${id}/hand-back`, {
      keyId: w.agent.id,
      note: { summary: 'It is paid back.', nextStep: 'Say that it takes five days.' },
    })
    assert.equal(given.status, 200)
    const third = await call('wait_for_work', { wait: 0, cursor: second.next_cursor })
    assert.equal(third.work.length, 1, 'it comes once, when it is the agent’s again')
    assert.deepEqual(
      [third.work[0].handover.summary, third.work[0].handover.next_step],
      ['It is paid back.', 'Say that it takes five days.'],
    )
    await call('answer', { conversation_id: id, text: 'It takes five days.' })
    assert.equal(calls, 6)
    const messages = await w.messages(id)
    assert.equal(messages.length, 6)
  })
}
