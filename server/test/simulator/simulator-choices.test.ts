import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatorWorld } from '../support/channels/simulator.ts'

const w = await simulatorWorld({ ladder: { sentMs: 0, deliveredMs: 0, readMs: 0 } })
const to = `+${(await w.customer()).phone}`

const button = (id: string, title: string) => ({ type: 'reply', reply: { id, title } })
const buttons = (all: object[], more: object = {}) => ({
  ...{ to, type: 'interactive' },
  interactive: { type: 'button', body: { text: 'Which?' }, action: { buttons: all }, ...more },
})
const list = (rows: object[], more: object = {}) => ({
  ...{ to, type: 'interactive' },
  interactive: { type: 'list', body: { text: 'Which?' }, action: { button: 'See', sections: [{ rows }], ...more } },
})
const row = (id: string, title = id) => ({ id, title })

const refusals: [string, object, number][] = [
  ['interactive without its inside', { to, type: 'interactive' }, 131008],
  ['a kind that is not simulated', { to, type: 'interactive', interactive: { type: 'flow' } }, 131051],
  ['no words above', buttons([button('a', 'A')], { body: {} }), 131008],
  ['1,025 characters above', buttons([button('a', 'A')], { body: { text: 'x'.repeat(1025) } }), 131009],
  ['61 characters below', buttons([button('a', 'A')], { footer: { text: 'x'.repeat(61) } }), 131009],
  ['no button', buttons([]), 100],
  ['four buttons', buttons(['a', 'b', 'c', 'd'].map((id) => button(id, id))), 100],
  ['a button with a link', buttons([{ type: 'url', url: { title: 'A' } }]), 100],
  ['a button of 21 characters', buttons([button('a', 'x'.repeat(21))]), 131009],
  ['two buttons of one title', buttons([button('a', 'A'), button('b', 'A')]), 131009],
  ['two buttons of one id', buttons([button('a', 'A'), button('a', 'B')]), 131009],
  ['an id that ends with a space', buttons([button('a ', 'A')]), 131009],
  ['a list without a button', list([row('a')], { button: undefined }), 131008],
  ['a list without rows', list([]), 131008],
  ['eleven rows', list(Array.from({ length: 11 }, (_, n) => row(`${n}`))), 100],
  ['a row of 25 characters', list([row('a', 'x'.repeat(25))]), 131009],
  ['a description of 73 characters', list([{ ...row('a'), description: 'x'.repeat(73) }]), 131009],
  ['two rows of one id', list([row('a'), row('a', 'B')]), 131009],
  ['two sections without titles', list([], { sections: [{ rows: [row('a')] }, { rows: [row('b')] }] }), 131008],
]
for (const [what, body, code] of refusals) {
  test(`the simulator refuses ${what} with ${code}`, async () => {
    const answer = await w.send(body)
    assert.deepEqual([answer.status, answer.body.error?.code], [400, code])
  })
}

test('a customer presses a button and a row, and the platform tells their ids and what they answer to', async () => {
  const zoe = await w.customer()
  const tell = async (body: object) => {
    const { body: accepted } = await w.send({ ...body, to: `+${zoe.phone}` })
    return accepted.messages[0].id as string
  }
  await w.call('POST', `/simulator/customers/${zoe.id}/messages`, { text: 'Hi' })
  const asked = await tell(buttons([button('yes', 'Yes'), button('no', 'No')]))
  const listed = await tell(list([row('mon', 'Monday'), { ...row('tue', 'Tuesday'), description: 'With Ana' }]))
  await w.simulator.settled()
  w.received.length = 0
  const path = `/simulator/customers/${zoe.id}/messages`
  assert.equal((await w.call('POST', path, { about: asked, choiceId: 'no' })).status, 201)
  assert.equal((await w.call('POST', path, { about: listed, choiceId: 'tue' })).status, 201)
  assert.equal((await w.call('POST', path, { about: asked, choiceId: 'tue' })).status, 422)
  await w.simulator.settled()
  const told = w.changes().flatMap(({ value }) => value.messages ?? [])
  assert.deepEqual(
    told.map(({ type, interactive, context }) => [type, interactive, context.id]),
    [
      ['interactive', { type: 'button_reply', button_reply: { id: 'no', title: 'No' } }, asked],
      [
        'interactive',
        { type: 'list_reply', list_reply: { id: 'tue', title: 'Tuesday', description: 'With Ana' } },
        listed,
      ],
    ],
  )
})
