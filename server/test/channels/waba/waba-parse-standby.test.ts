import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  at,
  callback,
  change,
  customerPhone,
  eventsOf,
  message,
  numberId,
  onlyEvent,
  ownPhone,
  parsed,
  payload,
  status,
  text,
  userId,
  value,
} from '../../support/channels/waba-payloads.ts'

const contacts = [{ profile: { name: 'Ana' }, wa_id: customerPhone }]
const standby = (lists: object) => payload(change('standby', { ...value({ contacts: undefined }), standby: lists }))

test('a copy of a customer message is a message that others answer, wherever the platform puts the list', () => {
  for (const body of [
    standby({ contacts, messages: [text('Hi')] }),
    callback('standby', { contacts, messages: [text('Hi')] }),
  ]) {
    const event = onlyEvent(body, 'message')
    assert.deepEqual([event.text, event.isStandby, event.customer.name], ['Hi', true, 'Ana'])
    assert.equal(parsed(body).items[0]?.numberId, numberId)
  }
})

test('statuses of the other app are statuses, and its edits and deletions those of the message', () => {
  assert.equal(onlyEvent(standby({ statuses: [status('delivered')] }), 'status').externalId, 'wamid.OUT')
  const revoke = message('revoke', { original_message_id: 'wamid.IN1' })
  assert.equal(onlyEvent(standby({ contacts, messages: [revoke] }), 'withdrawn').originalId, 'wamid.IN1')
})

const echo = (body: object) => standby({ message_echoes: [{ id: 'wamid.A', timestamp: String(at), message: body }] })
const to = { messaging_product: 'whatsapp', to: customerPhone }
const button = (title: string) => ({ type: 'reply', reply: { id: title, title } })
const buttons = {
  ...{ type: 'button', header: { type: 'text', text: 'Hours' }, body: { text: 'Which?' }, footer: { text: 'Any day' } },
  action: { buttons: [button('Morning'), button('Evening')] },
}
const list = {
  ...{ type: 'list', body: { text: 'Which?' } },
  action: { button: 'See', sections: [{ rows: [{ id: '1', title: 'Morning' }] }] },
}
const echoes: [what: string, body: object, kind: string, text: string][] = [
  ['a text', { ...to, type: 'text', text: { body: 'Hello' } }, 'text', 'Hello'],
  ['a picture', { ...to, type: 'image', image: { id: '1', caption: 'Look' } }, 'image', 'Look'],
  ['a template', { ...to, type: 'template', template: { name: 'hello_world' } }, 'template', 'hello_world'],
  [
    'buttons',
    { ...to, type: 'interactive', interactive: buttons },
    'text',
    'Hours\nWhich?\nAny day\n• Morning\n• Evening',
  ],
  ['a list', { ...to, type: 'interactive', interactive: list }, 'text', 'Which?\n• Morning'],
]

test('what the other app sent is an echo of another app, as the customer saw it', () => {
  for (const [what, body, kind, words] of echoes) {
    const event = onlyEvent(echo(body), 'echo')
    assert.deepEqual([event.kind, event.text, event.isStandby, event.externalId], [kind, words, true, 'wamid.A'], what)
    assert.equal(event.customer.phone, customerPhone)
  }
  const hidden = onlyEvent(echo({ recipient: userId, type: 'text', text: { body: 'Hi' } }), 'echo')
  assert.deepEqual([hidden.customer.userId, hidden.customer.phone], [userId, null])
})

const handover = (more: object) =>
  payload(
    change('messaging_handovers', {
      messaging_product: 'whatsapp',
      recipient: { display_phone_number: ownPhone, phone_number_id: numberId },
      sender: { phone_number: customerPhone },
      timestamp: String(at),
      ...more,
    }),
  )

const handovers: [what: string, more: object, owner: string | null][] = [
  ['to us', { type: 'control_passed', control_passed: { previous_owner_role: 'ai_agent' } }, null],
  ['from us', { type: 'control_taken', control_taken: { new_owner_role: 'escalation' } }, 'escalation'],
  ['from us, in capitals', { type: 'control_taken', control_taken: { new_owner_role: 'AI_AGENT' } }, 'ai_agent'],
  ['to a role of the future', { type: 'control_taken', control_taken: { new_owner_role: 'concierge' } }, 'other_app'],
  ['without a role', { type: 'control_taken' }, 'other_app'],
]

test('a handover tells who has the conversation, and when, for the number that receives it', () => {
  for (const [what, more, owner] of handovers) {
    const event = onlyEvent(handover(more), 'thread_control')
    assert.deepEqual([event.owner, event.customer.phone, +event.at], [owner, customerPhone, at * 1000], what)
    assert.equal(parsed(handover(more)).items[0]?.numberId, numberId)
  }
})

test('a handover without a customer or of an unknown kind is skipped by name', () => {
  for (const [more, reason] of [
    [{ type: 'control_taken', sender: undefined }, 'handover without a customer'],
    [{ type: 'control_shared' }, 'unknown handover'],
  ] as const) {
    assert.deepEqual(eventsOf(handover(more)), [])
    assert.deepEqual(parsed(handover(more)).skipped, [reason])
  }
})
