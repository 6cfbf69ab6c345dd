import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ChannelEvent } from '../../../src/channels/channel-event.ts'
import {
  at,
  callback,
  change,
  customerPhone,
  eventsOf,
  message,
  messages,
  parsedAt as now,
  numberId,
  onlyEvent,
  ownPhone,
  parsed,
  payload,
  status,
  text,
  value,
} from '../../support/channels/waba-payloads.ts'
import { declaredPicture } from '../../support/inbox/declared-files.ts'

const card = { name: { formatted_name: 'Bea Sol' }, phones: [{ phone: '+1 (555) 010-9999' }] }
const interactive = (type: string, inner: object) => message('interactive', { type, [type]: inner })
const form = (response_json: string) => interactive('nfm_reply', { body: 'Sent', response_json })
const order = (text: string, ...product_items: object[]) => message('order', { text, product_items })
const place = { latitude: 1.5, longitude: -2 }
const unshown = 'Message of a kind that cannot be shown'

const kinds: [what: string, item: Record<string, unknown>, kind: string, text: string][] = [
  ['text', text('Olá 😀'), 'text', 'Olá 😀'],
  ['text with NUL and half a pair', text('a\0b\ud800'), 'text', 'ab\ufffd'],
  ['text without a type', { ...text('Hi'), type: undefined }, 'text', 'Hi'],
  [
    'an address, without what its line shows already',
    interactive('nfm_reply', {
      ...{ name: 'address_message', body: 'Asha Rao\n12 Lake Road' },
      response_json: JSON.stringify({
        saved_address_id: 'home',
        values: { in_pin_code: '400063', name: 'Asha Rao', address: '12 Lake Road', city: 'Mumbai', odd: 'x' },
      }),
    }),
    'text',
    'Asha Rao\n12 Lake Road\nCity: Mumbai\nPIN code: 400063',
  ],
  [
    'an address alone',
    interactive('nfm_reply', { name: 'address_message', response_json: '{"values":{"name":"Asha","floor_number":7}}' }),
    'text',
    'Name: Asha\nFloor: 7',
  ],
  ['an image with a caption', message('image', { id: '1', caption: 'Look' }), 'image', 'Look'],
  ['an image without a caption', message('image', { id: '1' }), 'image', ''],
  ['a video', message('video', { id: '1', caption: 'Clip' }), 'video', 'Clip'],
  ['an audio file', message('audio', { id: '1', voice: false }), 'audio', ''],
  ['a voice note of old', message('voice', { id: '1' }), 'audio', ''],
  ['a sticker', message('sticker', { id: '1', animated: true }), 'image', ''],
  ['a document with a caption', message('document', { filename: 'a.pdf', caption: 'Bill' }), 'document', 'Bill'],
  ['a document with a name alone', message('document', { filename: 'a.pdf' }), 'document', 'a.pdf'],
  ['a named place', message('location', { ...place, name: 'Pier', address: 'Bay 1' }), 'location', 'Pier, Bay 1'],
  ['a bare place', message('location', place), 'location', '1.5, -2'],
  ['a contact card', message('contacts', [card]), 'text', 'Contact: Bea Sol'],
  ['a button', interactive('button_reply', { id: 'y', title: 'Yes' }), 'text', 'Yes'],
  ['a list choice', interactive('list_reply', { id: 'y', title: 'Red' }), 'text', 'Red'],
  ['a form', form('{"size":"M","flow_token":"t"}'), 'text', 'Sent\nsize: M'],
  ['a form whose answers are no object', form('7'), 'text', 'Sent'],
  ['a quick reply of a template', message('button', { payload: 'NO', text: 'No' }), 'text', 'No'],
  ['an order', order('', { product_retailer_id: 'a1', quantity: 2 }), 'text', 'Order: 2 × a1'],
  ['an order with words', order('Please'), 'text', 'Please'],
  ['a reaction', message('reaction', { message_id: 'wamid.X', emoji: '👍' }), 'text', '👍'],
  ['an unsupported message', message('unsupported', undefined), 'system', unshown],
  ['an unsupported type', message('unsupported', { type: 'poll' }), 'system', `${unshown}: poll`],
  ['an unsupported message with an error', message('unsupported', undefined, { errors: [{}] }), 'system', unshown],
  ['a type of the future', message('hologram', { id: '1' }), 'system', `${unshown}: hologram`],
  ['a text without its text', message('text', undefined), 'system', `${unshown}: text`],
  ['an answer without its inside', message('interactive', undefined), 'system', `${unshown}: interactive`],
]

test('a message of every kind is parsed and opens the window', () => {
  for (const [what, item, kind, expected] of kinds) {
    const event = onlyEvent(messages(item), 'message')
    assert.deepEqual([event.kind, event.text, event.opensWindow], [kind, expected, true], what)
    assert.deepEqual(event.customer, { userId: null, parentUserId: null, phone: customerPhone, name: 'Ana' })
    assert.deepEqual([event.at, event.referral], [new Date(at * 1000), null])
  }
})

const ofNothing = 'edit, deletion or removed reaction without a message id'
const edit = (inner: object) => messages(message('edit', inner))
const field = (name: string, lists: object) => callback(name, lists as Record<string, unknown>)
const ofStatus = (...given: Parameters<typeof status>) => field('messages', { statuses: [status(...given)] })
const account = (update: Record<string, unknown>) => payload(change('account_update', update))
const call = (fields: object) => field('calls', { calls: [fields] })
const unnamed = { action: 'remove', contact: { phone_number: customerPhone } }
const scheduled = { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'SCHEDULE_FOR_DISABLE' } }

const passedOver: [what: string, body: unknown, reason: string][] = [
  ['a reaction lifted from nothing', messages(message('reaction', { emoji: '' })), ofNothing],
  ['a withdrawal of nothing', messages(message('revoke', {})), ofNothing],
  ['an edit of nothing', edit({ message: { type: 'text', text: { body: 'x' } } }), ofNothing],
  ['an edit without words', edit({ original_message_id: 'x', message: {} }), 'edit without content'],
  ['a group message', messages(text('Hi', { group_id: '5' })), 'message in a group'],
  ['a message of nobody', messages(text('Hi', { from: undefined })), 'message without a sender'],
  ['a message of something that is no number', messages(text('Hi', { from: 'bla' })), 'message without a sender'],
  ['a message without an id', messages(text('Hi', { id: undefined })), 'message without an id'],
  ['an unknown status', ofStatus('in_orbit'), 'unknown status'],
  ['a deleted status', ofStatus('deleted'), 'unknown status'],
  ['a group status', ofStatus('read', { recipient_type: 'group' }), 'status in a group'],
  ['an error of the number', field('messages', { errors: [{ code: 0 }] }), 'error about the number, not a message'],
  ['an unknown field', payload(change('some_future_field', { foo: 1 })), 'unsupported field'],
  ['a field named like a method', payload(change('constructor', { foo: 1 })), 'unsupported field'],
  ['a marketing preference', field('user_preferences', { user_preferences: [{}] }), 'unknown preference'],
  ['another product', { object: 'page', entry: [{ messaging: [] }] }, 'not from this platform'],
  ['a call by the business', call({ from: ownPhone, direction: 'BUSINESS_INITIATED' }), 'call that opens no window'],
  ['the end of a call', call({ from: customerPhone, event: 'terminate' }), 'call that opens no window'],
  [
    'a name taken out of the contacts',
    field('smb_app_state_sync', { state_sync: [unnamed] }),
    'contact without a name',
  ],
  [
    'history that is not shared',
    field('history', { history: [{ errors: [{ code: 2593109 }] }] }),
    'history not shared by the business',
  ],
  ['a ban that is announced', account(scheduled), 'account update without effect'],
]

test('items without an event are skipped with a reason', () => {
  for (const [what, body, reason] of passedOver) {
    assert.deepEqual(parsed(body), { items: [], skipped: [reason] }, what)
  }
})

test('malformed payloads contain no items', () => {
  for (const body of [null, 7, 'x', [], {}, { object: 'whatsapp_business_account', entry: {} }, payload()]) {
    assert.deepEqual(parsed(body).items, [])
  }
})

test('an invalid item does not affect the rest of its batch', () => {
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

test('a message that appears twice in a callback is parsed once', () => {
  const twice = text('Hi')
  const { items, skipped } = parsed(messages(twice, twice))
  assert.deepEqual([items.length, skipped], [1, ['duplicate message']])
})

test('a callback can contain several numbers and entries', () => {
  const body = payload(
    change('messages', value({ messages: [text('a')] })),
    change('messages', value({ messages: [text('b')] }, '42')),
  )
  assert.deepEqual(
    parsed(body).items.map((item) => item.numberId),
    [numberId, '42'],
  )
  const asNumber = value({ messages: [text('a')], metadata: { phone_number_id: 42 } })
  assert.equal(parsed(payload(change('messages', asNumber))).items[0]?.numberId, '42')
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

test('a timestamp is seconds or milliseconds; an invalid one is now', () => {
  for (const [what, timestamp, expected] of times) {
    assert.deepEqual(onlyEvent(messages(text('Hi', { timestamp })), 'message').at, expected, what)
  }
})

const names = (words: string) => fc.constantFrom(...words.split(' '))
const fields = names('messages smb_message_echoes smb_app_state_sync history calls user_id_update account_update')
const lists = names('messages statuses message_echoes state_sync history calls user_id_update')
const types = kinds.map(([, item]) => item.type).concat(['system', 'reaction', 'revoke', 'edit', '__proto__'])
const places =
  'from to id timestamp text interactive contacts system context image document reaction revoke edit location'
const oddItem = fc.dictionary(
  names(`${places} order referral errors threads history_context contact user_id`),
  fc.oneof(
    fc.jsonValue(),
    fc.constant(customerPhone),
    fc.constant({ body: 'x', name: {}, phones: [null], user_id: [], id: 7, message_id: 'x', emoji: {} }),
    fc.constant({ original_message_id: 'x', message: { type: 'text', text: { body: 'x' } } }),
  ),
)

test('with any input, parsing never fails and never invents a sender', () => {
  const item = fc.tuple(oddItem, fc.constantFrom(...types)).map(([one, type]) => ({ ...one, type }))
  const oddValue = fc.tuple(fc.dictionary(lists, fc.oneof(fc.array(item), fc.jsonValue())), fc.jsonValue())
  const odd = fc
    .array(fc.tuple(fields, oddValue))
    .map((all) => payload(...all.map(([name, [found, contacts]]) => change(name, value({ contacts, ...found })))))
  const property = fc.property(fc.oneof(odd, fc.jsonValue()), (body) => {
    const { items, skipped } = parsed(body)
    assert.ok(!skipped.includes('item that could not be parsed'))
    for (const { event } of items) {
      if (event.type === 'message') assert.ok(event.customer.phone !== null || event.customer.userId !== null)
    }
  })
  fc.assert(property, { numRuns: 80 })
})

function only(body: unknown): ChannelEvent {
  const { items, skipped } = parsed(body)
  assert.deepEqual([items.length, skipped], [1, []])
  return items[0]?.event ?? assert.fail()
}

const detailOf = (event: ChannelEvent): unknown => ('detail' in event ? event.detail : undefined)
const sha256 = Buffer.alloc(32, 7).toString('base64')
const by = (id: string) => ({ source: { by: 'id', id } })
const media = (fields: object) => ({ media: { ...declaredPicture, mimeType: null, ...fields } })
const nobody = { name: '', organisation: null, phones: [], emails: [] }

const details: [what: string, item: Record<string, unknown>, detail: unknown][] = [
  ['words alone', text('Hi'), undefined],
  [
    'a picture',
    message('image', { id: '71', mime_type: 'image/jpeg', sha256, caption: 'x', file_size: 4000 }),
    media({ ...by('71'), mimeType: 'image/jpeg', sha256, size: 4000 }),
  ],
  ['a picture without an id', message('image', { mime_type: 'image/jpeg' }), undefined],
  ['odd values', message('image', { id: 71, mime_type: '<b>', sha256: 'x', file_size: -1 }), media(by('71'))],
  [
    'a voice note',
    message('audio', { id: 'v', mime_type: 'audio/ogg; codecs=opus', voice: true }),
    media({ kind: 'voice', ...by('v'), mimeType: 'audio/ogg' }),
  ],
  ['a voice note of old', message('voice', { id: 'v' }), media({ kind: 'voice', ...by('v') })],
  ['an audio file', message('audio', { id: 'a', voice: false }), media({ kind: 'audio', ...by('a') })],
  [
    'a video',
    message('video', { id: 'f', mime_type: 'Video/MP4' }),
    media({ kind: 'video', ...by('f'), mimeType: 'video/mp4' }),
  ],
  [
    'a moving sticker',
    message('sticker', { id: 's', animated: true }),
    media({ kind: 'sticker', ...by('s'), isAnimated: true }),
  ],
  [
    'a document that was passed on',
    message('document', { id: 'd', filename: `${'n'.repeat(300)}.pdf` }, { context: { forwarded: true } }),
    { ...media({ kind: 'document', ...by('d'), name: 'n'.repeat(255) }), isForwarded: true },
  ],
  ['words passed on often', text('Hi', { context: { frequently_forwarded: true } }), { isForwarded: true }],
  [
    'an answer',
    text('Yes', { context: { id: 'wamid.Q', from: ownPhone } }),
    { quoted: { externalId: 'wamid.Q', text: null } },
  ],
  ['an answer to a product', text('This', { context: { referred_product: { catalog_id: '1' } } }), undefined],
  [
    'a place',
    message('location', { latitude: -23.5, longitude: -46.6, name: 'Shop', address: 'a'.repeat(1200) }),
    { place: { latitude: -23.5, longitude: -46.6, name: 'Shop', address: 'a'.repeat(1000), isLive: false } },
  ],
  ['a place off the earth', message('location', { latitude: 91, longitude: 0, name: 'x' }), undefined],
  [
    'a contact card',
    message('contacts', [
      {
        name: { formatted_name: 'Bea Sol' },
        org: { company: 'Sol' },
        phones: [{ phone: '+55 11 98765', wa_id: '551198765', type: 'CELL' }, { phone: '+1 (555) 010' }, { phone: '' }],
        emails: [{ email: 'bea@sol.test' }, {}],
      },
    ]),
    {
      cards: [
        {
          name: 'Bea Sol',
          organisation: 'Sol',
          phones: [
            { phone: '551198765', label: 'CELL' },
            { phone: '+1 (555) 010', label: null },
          ],
          emails: ['bea@sol.test'],
        },
      ],
    },
  ],
  [
    'thirty cards',
    message(
      'contacts',
      Array.from({ length: 30 }, () => ({
        name: { first_name: 'A', last_name: 'B' },
        phones: Array(30).fill({ phone: '1' }),
      })),
    ),
    { cards: Array(20).fill({ ...nobody, name: 'A B', phones: Array(10).fill({ phone: '1', label: null }) }) },
  ],
  [
    'a reaction',
    message('reaction', { message_id: 'wamid.R', emoji: '👍' }),
    { reaction: { externalId: 'wamid.R', emoji: '👍' } },
  ],
]

test('content beyond the text is parsed', () => {
  for (const [what, item, expected] of details) assert.deepEqual(detailOf(only(messages(item))), expected, what)
})

test('echoes and history have the same content', () => {
  const item = message('image', { id: '71' }, { to: customerPhone, from: ownPhone })
  const threads = [{ id: customerPhone, messages: [item] }]
  for (const body of [
    callback('smb_message_echoes', { message_echoes: [item] }),
    callback('history', { history: [{ threads }] }),
  ]) {
    assert.deepEqual(detailOf(only(body)), media(by('71')))
  }
})

const words = { type: 'text', text: { body: 'Anew' } }
const revisions: [what: string, item: Record<string, unknown>, told: Record<string, unknown>][] = [
  ['an edit', message('edit', { original_message_id: 'x', message: words }), { type: 'edited', text: 'Anew' }],
  [
    'an edit of a caption',
    message('edit', { original_message_id: 'x', message: { type: 'image', image: { id: '1', caption: 'Anew' } } }),
    { type: 'edited', text: 'Anew' },
  ],
  [
    'an edit of far too many words',
    message('edit', { original_message_id: 'x', message: { type: 'text', text: { body: 'a'.repeat(70_000) } } }),
    { type: 'edited', text: 'a'.repeat(65_536) },
  ],
  ['a withdrawal', message('revoke', { original_message_id: 'x' }), { type: 'withdrawn' }],
  ['a lifted reaction', message('reaction', { message_id: 'x' }), { type: 'reaction_lifted' }],
  ['a reaction lifted by emptiness', message('reaction', { message_id: 'x', emoji: '' }), { type: 'reaction_lifted' }],
]

for (const [what, item, told] of revisions) {
  test(`${what} refers to its message, from the customer and from the phone`, () => {
    const customer = { userId: null, parentUserId: null, phone: customerPhone, name: 'Ana' }
    const shared = { originalId: 'x', customer, at: new Date(at * 1000), ...told }
    assert.deepEqual(only(messages(item)), { ...shared, direction: 'inbound' })
    const echo = { ...item, from: ownPhone, to: customerPhone }
    const body = callback('smb_message_echoes', { message_echoes: [echo] })
    assert.deepEqual(only(body), { ...shared, direction: 'outbound' })
  })
}
