import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ChannelEvent } from '../../../src/channels/channel-event.ts'
import { parse } from '../../../src/channels/waba/read/parse.ts'
import {
  at,
  change,
  customerPhone,
  message,
  messages,
  numberId,
  ownPhone,
  payload,
  status,
  text,
  value,
} from '../../support/channels/waba-payloads.ts'

const now = new Date('2026-03-10T12:00:00.000Z')
const read = (body: unknown) => parse(body, now)
const eventsOf = (body: unknown): ChannelEvent[] => read(body).items.map((item) => item.event)

function only<T extends ChannelEvent['type']>(body: unknown, type: T): Extract<ChannelEvent, { type: T }> {
  const events = eventsOf(body)
  assert.equal(events.length, 1)
  const [event] = events
  assert.equal(event?.type, type)
  return event as Extract<ChannelEvent, { type: T }>
}

const card = { name: { formatted_name: 'Bea Sol' }, phones: [{ phone: '+1 (555) 010-9999' }] }
const kinds: [what: string, item: Record<string, unknown>, kind: string, text: string][] = [
  ['text', text('Olá 😀'), 'text', 'Olá 😀'],
  ['an image with a caption', message('image', { id: '1', caption: 'Look' }), 'image', 'Look'],
  ['an image without a caption', message('image', { id: '1' }), 'image', ''],
  ['a video', message('video', { id: '1', caption: 'Clip' }), 'video', 'Clip'],
  ['an audio file', message('audio', { id: '1', voice: false }), 'audio', ''],
  ['a voice note of old', message('voice', { id: '1' }), 'audio', ''],
  ['a sticker', message('sticker', { id: '1', animated: true }), 'image', ''],
  ['a document with a caption', message('document', { filename: 'a.pdf', caption: 'Bill' }), 'document', 'Bill'],
  ['a document with a name alone', message('document', { filename: 'a.pdf' }), 'document', 'a.pdf'],
  [
    'a named place',
    message('location', { latitude: 1, longitude: 2, name: 'Pier', address: 'Bay 1' }),
    'location',
    'Pier, Bay 1',
  ],
  ['a bare place', message('location', { latitude: 1.5, longitude: -2 }), 'location', '1.5, -2'],
  ['a contact card', message('contacts', [card]), 'text', 'Contact: Bea Sol'],
  [
    'a button',
    message('interactive', { type: 'button_reply', button_reply: { id: 'y', title: 'Yes' } }),
    'text',
    'Yes',
  ],
  [
    'a list choice',
    message('interactive', { type: 'list_reply', list_reply: { id: 'y', title: 'Red' } }),
    'text',
    'Red',
  ],
  [
    'a form',
    message('interactive', {
      type: 'nfm_reply',
      nfm_reply: { body: 'Sent', response_json: '{"size":"M","flow_token":"t"}' },
    }),
    'text',
    'Sent\nsize: M',
  ],
  [
    'a form whose answers are no object',
    message('interactive', { type: 'nfm_reply', nfm_reply: { body: 'Sent', response_json: '7' } }),
    'text',
    'Sent',
  ],
  [
    'an interactive answer without its inside',
    message('interactive', undefined),
    'system',
    'Message of a kind that cannot be shown: interactive',
  ],
  [
    'a quick reply of a template',
    message('button', { payload: 'NO', text: 'No' }, { context: { id: 'wamid.X' } }),
    'text',
    'No',
  ],
  [
    'an order',
    message('order', { text: '', product_items: [{ product_retailer_id: 'a1', quantity: 2 }] }),
    'text',
    'Order: 2 × a1',
  ],
  ['an order with words', message('order', { text: 'Please', product_items: [] }), 'text', 'Please'],
  ['a reaction', message('reaction', { message_id: 'wamid.X', emoji: '👍' }), 'text', '👍'],
  [
    'an unsupported message',
    message('unsupported', undefined, { errors: [{ code: 131051 }] }),
    'system',
    'Message of a kind that cannot be shown',
  ],
  [
    'an unsupported message that names its type',
    message('unsupported', { type: 'poll' }),
    'system',
    'Message of a kind that cannot be shown: poll',
  ],
  [
    'a first message of a coexisting number',
    message('unsupported', undefined, { errors: [{ code: 131060 }] }),
    'system',
    'Message of a kind that cannot be shown',
  ],
  [
    'a type of the future',
    message('hologram', { id: '1' }),
    'system',
    'Message of a kind that cannot be shown: hologram',
  ],
  ['a text without a type', { ...text('Hi'), type: undefined }, 'text', 'Hi'],
  ['a text without its text', message('text', undefined), 'system', 'Message of a kind that cannot be shown: text'],
  ['text with NUL and half a pair', text('a\0b\ud800'), 'text', 'ab\ufffd'],
]

for (const [what, item, kind, expected] of kinds) {
  test(`${what} is a message that opens the window`, () => {
    const event = only(messages(item), 'message')
    assert.deepEqual([event.kind, event.text, event.opensWindow], [kind, expected, true])
    assert.deepEqual(event.customer, { userId: null, parentUserId: null, phone: customerPhone, name: 'Ana' })
    assert.deepEqual([event.at, event.referral], [new Date(at * 1000), null])
    assert.equal(read(messages(item)).items[0]?.numberId, numberId)
  })
}

const ofNothing = 'edit, withdrawal or lifted reaction of nothing'
const passedOver: [what: string, body: unknown, reason: string][] = [
  ['a reaction lifted from nothing', messages(message('reaction', { emoji: '' })), ofNothing],
  ['a withdrawal of nothing', messages(message('revoke', {})), ofNothing],
  ['an edit of nothing', messages(message('edit', { message: { type: 'text', text: { body: 'x' } } })), ofNothing],
  [
    'an edit without words',
    messages(message('edit', { original_message_id: 'x', message: {} })),
    'edit that says nothing',
  ],
  [
    'an edit that cannot be shown',
    messages(message('edit', { original_message_id: 'x', message: { type: 'hologram' } })),
    'edit that says nothing',
  ],
  ['a group message', messages(text('Hi', { group_id: '5' })), 'message in a group'],
  ['a message of nobody', messages(text('Hi', { from: undefined })), 'message without a sender'],
  ['a message of something that is no number', messages(text('Hi', { from: 'bla' })), 'message without a sender'],
  ['a message without an id', messages(text('Hi', { id: undefined })), 'message without an id'],
  [
    'an unknown status',
    payload(change('messages', value({ statuses: [status('in_orbit')] }))),
    'status that is not known',
  ],
  [
    'a deleted status',
    payload(change('messages', value({ statuses: [status('deleted')] }))),
    'status that is not known',
  ],
  [
    'a group status',
    payload(change('messages', value({ statuses: [status('read', { recipient_type: 'group' })] }))),
    'status in a group',
  ],
  [
    'an error of the number',
    payload(change('messages', value({ errors: [{ code: 0 }] }))),
    'error of the number, not of a message',
  ],
  ['an unknown field', payload(change('some_future_field', { foo: 1 })), 'field that is not read'],
  ['a field named like a method', payload(change('constructor', { foo: 1 })), 'field that is not read'],
  [
    'a marketing preference',
    payload(change('user_preferences', value({ user_preferences: [{}] }))),
    'field that is not read',
  ],
  ['another product', { object: 'page', entry: [{ messaging: [] }] }, 'not of this platform'],
  [
    'a call by the business',
    payload(change('calls', value({ calls: [{ from: ownPhone, direction: 'BUSINESS_INITIATED' }] }))),
    'call that opens nothing',
  ],
  [
    'the end of a call',
    payload(change('calls', value({ calls: [{ from: customerPhone, event: 'terminate' }] }))),
    'call that opens nothing',
  ],
  [
    'a name taken out of the contact book',
    payload(
      change(
        'smb_app_state_sync',
        value({ state_sync: [{ action: 'remove', contact: { phone_number: customerPhone } }] }),
      ),
    ),
    'contact without a name',
  ],
  [
    'history that is not shared',
    payload(change('history', value({ history: [{ errors: [{ code: 2593109 }] }] }))),
    'history that the business does not share',
  ],
  [
    'a restriction of the account',
    payload(change('account_update', { event: 'ACCOUNT_RESTRICTION' })),
    'account update that changes nothing',
  ],
  [
    'a ban that is announced',
    payload(
      change('account_update', { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'SCHEDULE_FOR_DISABLE' } }),
    ),
    'account update that changes nothing',
  ],
]

for (const [what, body, reason] of passedOver) {
  test(`${what} becomes no event and says why`, () => {
    assert.deepEqual(read(body), { items: [], skipped: [reason] })
  })
}

test('nothing at all is read from what has no shape', () => {
  for (const body of [null, 7, 'x', [], {}, { object: 'whatsapp_business_account', entry: {} }, payload()]) {
    assert.deepEqual(read(body).items, [])
  }
})

test('one odd item does not keep the rest of its batch', () => {
  const batch = messages(
    text('one'),
    7 as never,
    null as never,
    text('x', { id: {} }),
    message('text', []),
    text('two'),
  )
  const texts = eventsOf(batch).map((event) => event.type === 'message' && event.text)
  assert.deepEqual(texts, ['one', 'Message of a kind that cannot be shown: text', 'two'])
})

test('a message that is twice in one callback is read once', () => {
  const twice = text('Hi')
  const { items, skipped } = read(messages(twice, twice))
  assert.deepEqual([items.length, skipped], [1, ['message that is there twice']])
})

test('a callback may carry several numbers and entries', () => {
  const body = payload(
    change('messages', value({ messages: [text('a')] })),
    change('messages', value({ messages: [text('b')] }, '42')),
  )
  assert.deepEqual(
    read(body).items.map((item) => item.numberId),
    [numberId, '42'],
  )
  const asNumber = value({ messages: [text('a')], metadata: { phone_number_id: 42 } })
  assert.equal(read(payload(change('messages', asNumber))).items[0]?.numberId, '42')
})

const times: [what: string, timestamp: unknown, expected: Date][] = [
  ['text', String(at), new Date(at * 1000)],
  ['a number', at, new Date(at * 1000)],
  ['milliseconds', String(at * 1000), new Date(at * 1000)],
  ['nothing', undefined, now],
  ['words', 'yesterday', now],
  ['zero', '0', now],
  ['a negative number', -5, now],
  ['a year beyond reason', '99999999999', now],
  ['no number', Number.NaN, now],
]

for (const [what, timestamp, expected] of times) {
  test(`a timestamp that is ${what}`, () => {
    assert.deepEqual(only(messages(text('Hi', { timestamp })), 'message').at, expected)
  })
}

const fields = [
  'messages',
  'smb_message_echoes',
  'smb_app_state_sync',
  'history',
  'calls',
  'user_id_update',
  'account_update',
]
const types = kinds.map(([, item]) => item.type).concat(['system', 'reaction', 'revoke', 'edit', '__proto__'])
const oddItem = fc.dictionary(
  fc.constantFrom(
    'from',
    'to',
    'id',
    'timestamp',
    'text',
    ...['interactive', 'contacts', 'system', 'context', 'image', 'document', 'reaction', 'revoke', 'edit'],
    'location',
    'order',
    'referral',
    'errors',
    'threads',
    'history_context',
    'contact',
    'user_id',
  ),
  fc.oneof(
    fc.jsonValue(),
    fc.constant(customerPhone),
    fc.constant({ body: 'x', name: {}, phones: [null], user_id: [], id: 7, message_id: 'x', emoji: {} }),
    fc.constant({ original_message_id: 'x', message: { type: 'text', text: { body: 'x' } } }),
  ),
)

test('whatever is thrown at it, reading never fails and never invents a sender', () => {
  const item = fc.tuple(oddItem, fc.constantFrom(...types)).map(([one, type]) => ({ ...one, type }))
  const list = fc.constantFrom(
    'messages',
    'statuses',
    'message_echoes',
    'state_sync',
    'history',
    'calls',
    'user_id_update',
  )
  const oddValue = fc.tuple(fc.dictionary(list, fc.oneof(fc.array(item), fc.jsonValue())), fc.jsonValue())
  const odd = fc
    .array(fc.tuple(fc.constantFrom(...fields), oddValue))
    .map((changes) =>
      payload(...changes.map(([field, [lists, contacts]]) => change(field, value({ contacts, ...lists })))),
    )
  fc.assert(
    fc.property(fc.oneof(odd, fc.jsonValue()), (body) => {
      const { items, skipped } = read(body)
      assert.ok(!skipped.includes('item that could not be read'))
      for (const { event } of items) {
        if (event.type === 'message') assert.ok(event.customer.phone !== null || event.customer.userId !== null)
      }
    }),
    { numRuns: 1_000 },
  )
})
