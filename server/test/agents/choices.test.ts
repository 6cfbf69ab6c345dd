import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsWorld } from '../support/agents/agents-world.ts'

const yesOrNo = { text: 'Sure?', buttons: [{ id: 'yes', title: 'Yes' }, { title: 'No' }] }
const rows = (count: number) => Array.from({ length: count }, (_, n) => ({ title: `Row ${n}` }))

const refused: [what: string, choices: object, status: number, field: string][] = [
  ['neither buttons nor a list', { text: 'Sure?' }, 400, 'choices.buttons'],
  ['both', { ...yesOrNo, list: { button: 'See', rows: rows(1) } }, 400, 'choices.buttons'],
  ['no button', { text: 'Sure?', buttons: [] }, 400, 'choices.buttons'],
  ['four buttons', { text: 'Sure?', buttons: rows(4) }, 400, 'choices.buttons'],
  [
    'a button of 21 characters',
    { text: 'Sure?', buttons: [{ title: 'x'.repeat(21) }] },
    400,
    'choices.buttons[0].title',
  ],
  ['eleven rows', { text: 'Sure?', list: { button: 'See', rows: rows(11) } }, 400, 'choices.list.rows'],
  ['an id with a space', { text: 'Sure?', buttons: [{ id: 'a b', title: 'A' }] }, 400, 'choices.buttons[0].id'],
  ['1,025 characters', { ...yesOrNo, text: 'x'.repeat(1025) }, 400, 'choices.text'],
  ['an unknown field', { ...yesOrNo, header: 'Hi' }, 400, 'choices.header'],
  [
    'two buttons of one title',
    { text: 'Sure?', buttons: [{ title: 'A' }, { title: 'A' }] },
    422,
    'choices.buttons[1].title',
  ],
  ['a blank button', { text: 'Sure?', buttons: [{ title: ' ' }] }, 422, 'choices.buttons[0].title'],
]

test('invalid choices are rejected before the send, naming the field', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Hello')
  for (const [what, choices, status, field] of refused) {
    const { status: got, body } = await w.callTool('answer', { conversation_id, choices })
    assert.equal(got, status, `${what}: ${JSON.stringify(body)}`)
    const named = status === 400 ? body.issues[0].path : body.detail
    assert.ok(named.startsWith(field), `${what}: ${JSON.stringify(body)}`)
  }
  const both = await w.callTool('answer', { conversation_id, text: 'Hi', choices: yesOrNo })
  assert.deepEqual([both.status, both.body.issues[0].path], [400, 'text'])
  assert.equal(w.sent().length, 0)
})

test('a reply counts as chosen only if the choice was offered', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Hello')
  const { body: offered } = await w.callTool('answer', { conversation_id, choices: yesOrNo })
  const { body: said } = await w.callTool('answer', { conversation_id, text: 'Tell me.' })
  const about = (id: string) => ({ externalId: `wamid.${id}:1`, text: null })
  const answers = [
    ['Yes', { chosen: 'yes', quoted: about(offered.message_id) }, { id: 'yes', title: 'Yes' }],
    ['No', { chosen: '2', quoted: about(offered.message_id) }, { id: '2', title: 'No' }],
    ['refund everything', { chosen: 'refund', quoted: about(offered.message_id) }, undefined],
    ['Yes', { chosen: 'yes', quoted: about(said.message_id) }, undefined],
    ['Yes', { chosen: 'yes' }, undefined],
  ] as const
  for (const [text, detail, chosen] of answers) {
    w.clock.advance(1000)
    await w.customerWrites(text, { detail })
    const { body } = await w.callTool('read_conversation', { conversation_id })
    const newest = body.messages.at(-1)
    assert.deepEqual([newest.customer_text, newest.chosen], [text, chosen])
  }
})

test('choice ids are returned unchanged, and choices need an open window', async () => {
  const w = await agentsWorld()
  const { id: conversation_id } = await w.customerWrites('Hello')
  const id = 'x'.repeat(200)
  await w.callTool('answer', { conversation_id, choices: { text: 'Sure?', buttons: [{ id, title: 'Yes' }] } })
  const [asked] = w.sent()
  assert.deepEqual(asked?.order.message, {
    kind: 'choices',
    text: 'Sure?',
    choices: { buttons: [{ id, title: 'Yes' }] },
  })
  w.clock.advance(25 * 3_600_000)
  const { body } = await w.callTool('answer', { conversation_id, choices: yesOrNo })
  assert.equal(body.code, 'WINDOW_CLOSED')
})
