import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  accountId,
  at,
  callback,
  change,
  customerPhone,
  eventsOf,
  message,
  messages,
  onlyEvent,
  ownPhone,
  parsed,
  payload,
  status,
  text,
  userId,
  value,
} from '../../support/channels/waba-payloads.ts'

const ana = { profile: { name: 'Ana', username: 'ana.s' } }
const both = { ...ana, wa_id: customerPhone, user_id: userId }
const eve = { profile: { name: 'Eve' }, wa_id: '15550100' }
const named = (username: string) => [{ profile: { username }, wa_id: customerPhone }]
const parent = { parent_user_id: 'BR.ENT.1' }
const hidden = { from: undefined, from_user_id: userId }
const odd = [{ ...both, user_id: 'foo_bar' }]
const byPhone = [null, null, customerPhone]
const customers: [what: string, contacts: unknown, sender: Record<string, unknown>, expected: unknown[]][] = [
  ['both', [{ ...both, ...parent }], { from_user_id: userId }, [userId, 'BR.ENT.1', customerPhone, 'Ana']],
  ['a hidden number', [{ ...ana, user_id: userId }], hidden, [userId, null, null, 'Ana']],
  ['a user id in the place of the number', [{ ...ana, wa_id: userId }], { from: userId }, [userId, null, null, 'Ana']],
  ['a user id in the contact alone', [both], {}, [userId, null, customerPhone, 'Ana']],
  ['a phone in the contact alone', [both], hidden, [userId, null, customerPhone, 'Ana']],
  ['a malformed user id', odd, { from_user_id: 'foo_bar' }, [...byPhone, 'Ana']],
  ['a plus before the number', [], { from: `+${customerPhone}` }, [...byPhone, null]],
  ['a number written as a number', [], { from: Number(customerPhone) }, [...byPhone, null]],
  ['a username with an at sign', named('@ana'), {}, [...byPhone, '@ana']],
  ['a username without one', named('ana'), {}, [...byPhone, '@ana']],
  ['no contacts', undefined, {}, [...byPhone, null]],
  ['contacts of other people first', [eve, { ...ana, wa_id: customerPhone }], {}, [...byPhone, 'Ana']],
  ['contacts of other people alone', [eve], {}, [...byPhone, null]],
]

test('a customer is identified by all given fields', () => {
  for (const [what, contacts, sender, expected] of customers) {
    const body = callback('messages', { contacts, messages: [text('Hi', sender)] })
    const { customer } = onlyEvent(body, 'message')
    assert.deepEqual([customer.userId, customer.parentUserId, customer.phone, customer.name], expected, what)
  }
})

test("a number shared on request becomes the customer's phone and is not in the text", () => {
  const contacts = [{ origin: 'contact_request', phones: [{ phone: '+55 11 98765-4321' }] }]
  const item = message('contacts', contacts, { from: undefined, from_user_id: userId })
  const event = onlyEvent(callback('messages', { contacts: [], messages: [item] }), 'message')
  assert.deepEqual([event.customer.phone, event.customer.userId], [customerPhone, userId])
  assert.equal(event.text, 'Shared their phone number')
})

test('a referral has every field, null if the platform omitted it', () => {
  const source_url = 'https://ads.example/1'
  const referral = { source_url, source_id: 12, source_type: 'ad', headline: 'Sale', body: 'x' }
  assert.deepEqual(onlyEvent(messages(text('Hi', { referral })), 'message').referral, {
    ctwa_clid: null,
    source_id: '12',
    source_type: 'ad',
    source_url: 'https://ads.example/1',
    headline: 'Sale',
  })
  assert.equal(onlyEvent(messages(text('Hi', { referral: {} })), 'message').referral, null)
})

const climbs: [state: string, more: Record<string, unknown>, expected: string, code: string | null][] = [
  ['sent', {}, 'sent', null],
  ['delivered', { conversation: { id: 'x' } }, 'delivered', null],
  ['read', { errors: [{ code: 1 }] }, 'read', null],
  ['played', {}, 'read', null],
  ['failed', { errors: [{ code: 131047, title: 'x' }] }, 'failed', '131047'],
  ['failed', {}, 'failed', 'unknown'],
]

test('a status has its message, state and customer, also with a hidden number', () => {
  const told = (item: Record<string, unknown>) => onlyEvent(callback('messages', { statuses: [item] }), 'status')
  for (const [state, more, expected, code] of climbs) {
    const event = told(status(state, { ...more, biz_opaque_callback_data: 'm:0', recipient_user_id: userId }))
    const { errorCode, correlator, externalId, customer } = event
    assert.deepEqual([event.status, errorCode, correlator, externalId], [expected, code, 'm:0', 'wamid.OUT'])
    assert.deepEqual([customer?.phone, customer?.userId], [customerPhone, userId])
  }
  const { customer } = told(status('delivered', { recipient_id: undefined, recipient_user_id: userId }))
  assert.deepEqual([customer?.phone, customer?.userId], [null, userId])
})

const newNumber = { type: 'user_changed_number', wa_id: '5511900001111', body: 'x' }
const olderShape = { type: 'user_changed_number', new_wa_id: '5511900001111' }
const newUser = { type: 'user_changed_user_id', previous_user_id: 'BR.old', user_id: 'BR.new' }
const notices: [what: string, system: Record<string, unknown>, more: Record<string, unknown>, after: unknown[]][] = [
  ['a new number', newNumber, {}, [null, '5511900001111']],
  ['a new number of the older shape', olderShape, {}, [null, '5511900001111']],
  ['a new user id', newUser, { from: undefined }, ['BR.new', null]],
]

for (const [what, system, more, [newUserId, newPhone]] of notices) {
  test(`${what}: the customer is updated, and the notice opens no window`, () => {
    const [changed, notice] = eventsOf(messages(message('system', system, more)))
    assert.ok(changed?.type === 'customer_changed' && notice?.type === 'message')
    assert.deepEqual([changed.customer.userId, changed.customer.phone], [newUserId, newPhone])
    assert.notDeepEqual(changed.previous, changed.customer)
    assert.deepEqual(notice.customer, changed.customer)
    assert.deepEqual([notice.kind, notice.opensWindow], ['system', false])
    assert.doesNotMatch(notice.text, /\d/)
  })
}

test('any other notice is stored without the numbers in it', () => {
  const system = { type: 'something_new', body: `About ${customerPhone}` }
  const event = onlyEvent(messages(message('system', system)), 'message')
  assert.deepEqual([event.kind, event.text, event.opensWindow], ['system', 'About …', false])
  const identity = onlyEvent(messages(message('system', { type: 'customer_identity_changed' })), 'message')
  assert.equal(identity.text, 'The security code of the customer changed')
})

test('a change of a user id as a separate field', () => {
  const update = { wa_id: customerPhone, user_id: { previous: 'BR.old', current: 'BR.new' }, timestamp: String(at) }
  const body = callback('user_id_update', { user_id_update: [update, {}] })
  const event = onlyEvent(body, 'customer_changed')
  assert.deepEqual(
    [event.previous.userId, event.customer.userId, event.customer.phone],
    ['BR.old', 'BR.new', customerPhone],
  )
})

test("a customer's call opens the window; its end is a system message", () => {
  const told = (fields: object) =>
    callback('calls', { calls: [{ id: 'wacid.1', from: customerPhone, timestamp: String(at), ...fields }] })
  const opened = onlyEvent(told({ event: 'connect', direction: 'USER_INITIATED' }), 'contact_opened')
  assert.deepEqual([opened.customer.phone, opened.at], [customerPhone, new Date(at * 1000)])
  for (const [fields, said] of [
    [{ status: 'FAILED' }, 'Missed call'],
    [{ status: 'COMPLETED', duration: 65 }, 'Call (1:05)'],
  ] as const) {
    const {
      externalId,
      customer,
      kind,
      text: words,
      opensWindow,
    } = onlyEvent(told({ event: 'terminate', ...fields }), 'message')
    const expected = ['wacid.1', customerPhone, 'system', said, false]
    assert.deepEqual([externalId, customer.phone, kind, words, opensWindow], expected)
  }
})

test('a message from the phone is an echo to the customer', () => {
  const echo = text('Hi', { from: ownPhone, to: customerPhone, to_user_id: userId })
  const revoke = { ...echo, id: 'wamid.R', type: 'revoke', revoke: {} }
  const event = onlyEvent(callback('smb_message_echoes', { message_echoes: [echo, revoke] }), 'echo')
  assert.deepEqual([event.text, event.customer.phone, event.customer.userId], ['Hi', customerPhone, userId])
})

test('a name in the contact book is reported', () => {
  const sync = { type: 'contact', action: 'add', contact: { first_name: 'Ana', phone_number: customerPhone } }
  const event = onlyEvent(callback('smb_app_state_sync', { state_sync: [sync] }), 'contact_named')
  assert.deepEqual(event.customer, { userId: null, parentUserId: null, phone: customerPhone, name: 'Ana' })
})

test('history has its direction and status, and its media follow', () => {
  const old = (more: object) => ({ timestamp: String(at), type: 'text', text: { body: 'x' }, ...more })
  const thread = {
    id: customerPhone,
    messages: [
      old({ id: 'h1', from: ownPhone, to: customerPhone, history_context: { status: 'READ' } }),
      old({ id: 'h2', from: customerPhone, history_context: { status: 'PLAYED' } }),
      old({ id: 'h3', from: ownPhone, type: 'media_placeholder', history_context: { status: 'ERROR' } }),
    ],
  }
  const body = payload(
    change('history', value({ contacts: undefined, history: [{ metadata: { phase: 0 }, threads: [thread] }] })),
    change('history', value({ messages: [message('image', { caption: 'Pic' }, { id: 'h4' })] })),
  )
  const told = eventsOf(body).map(
    (event) =>
      event.type === 'history' && [event.externalId, event.direction, event.status, event.kind, event.customer.phone],
  )
  assert.deepEqual(told, [
    ['h1', 'outbound', 'read', 'text', customerPhone],
    ['h2', 'inbound', 'read', 'text', customerPhone],
    ['h3', 'outbound', 'failed', 'system', customerPhone],
    ['h4', 'inbound', 'delivered', 'image', customerPhone],
  ])
})

const accounts: [event: Record<string, unknown>, available: boolean, reason: string, account: string][] = [
  [{ event: 'PARTNER_REMOVED', waba_info: { waba_id: '55' } }, false, 'partner_removed', '55'],
  [{ event: 'ACCOUNT_OFFBOARDED' }, false, 'account_offboarded', accountId],
  [{ event: 'ACCOUNT_DELETED' }, false, 'account_deleted', accountId],
  [{ event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'DISABLE' } }, false, 'account_disabled', accountId],
  [{ event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'REINSTATE' } }, true, 'account_reinstated', accountId],
  [{ event: 'ACCOUNT_RECONNECTED' }, true, 'account_reconnected', accountId],
]

test('account and template events refer to the account', () => {
  for (const [update, available, reason, account] of accounts) {
    const event = { type: 'connection_state', available, reason }
    assert.deepEqual(parsed(payload(change('account_update', update))).items, [
      { numberId: null, accountId: account, event },
    ])
  }
  for (const field of [
    'message_template_status_update',
    'message_template_quality_update',
    'template_category_update',
    'message_template_components_update',
  ]) {
    const { items } = parsed(payload(change(field, { event: 'PAUSED', message_template_id: 2 ** 60, reason: null })))
    assert.deepEqual(items, [{ numberId: null, accountId, event: { type: 'templates_changed' } }])
  }
})

test('only a completed change of category names the new one; an announced one is only a hint', () => {
  const named = { message_template_name: 'welcome', message_template_language: 'en-US' }
  const category = { name: 'welcome', language: 'en_US', category: 'MARKETING' }
  const changes: [value: Record<string, string>, event: object][] = [
    [
      { ...named, previous_category: 'UTILITY', new_category: 'MARKETING' },
      { type: 'templates_changed', category },
    ],
    [
      { ...named, new_category: 'marketing' },
      { type: 'templates_changed', category },
    ],
    [{ ...named, correct_category: 'MARKETING', new_category: 'UTILITY' }, { type: 'templates_changed' }],
    [{ previous_category: 'UTILITY', new_category: 'MARKETING' }, { type: 'templates_changed' }],
    [{ ...named, new_category: '<script>' }, { type: 'templates_changed' }],
  ]
  for (const [value, event] of changes) {
    const { items } = parsed(payload(change('template_category_update', value)))
    assert.deepEqual(items, [{ numberId: null, accountId, event }])
  }
})

test('a decision about a template is applied at once: status, reason and explanation, or its quality', () => {
  const named = { message_template_name: 'welcome', message_template_language: 'en-US' }
  const one = { name: 'welcome', language: 'en_US' }
  const rejection = { reason: 'Too short.', recommendation: 'Write more.' }
  const reviews: [value: Record<string, unknown>, review: object][] = [
    [
      { event: 'APPROVED', reason: 'NONE' },
      { status: 'APPROVED', reason: null, note: null },
    ],
    [
      { event: 'REJECTED', reason: 'INVALID_FORMAT', rejection_info: rejection },
      { status: 'REJECTED', reason: 'INVALID_FORMAT', note: 'Too short.\nWrite more.' },
    ],
    [
      { event: 'PAUSED', reason: null, other_info: { title: 'FIRST_PAUSE', description: 'For 3 hours.' } },
      { status: 'PAUSED', reason: null, note: 'For 3 hours.' },
    ],
    [{ event: 'REINSTATED' }, { status: 'APPROVED', reason: null, note: null }],
    [{ event: 'FLAGGED' }, { status: null, reason: null, note: null }],
  ]
  for (const [value, review] of reviews) {
    const { items } = parsed(payload(change('message_template_status_update', { ...named, ...value })))
    assert.deepEqual(items[0]?.event, { type: 'templates_changed', review: { ...one, ...review } })
  }
  const hint = { type: 'templates_changed' }
  for (const event of ['<script>', 7, 'x'.repeat(50)]) {
    const { items } = parsed(payload(change('message_template_status_update', { ...named, event })))
    assert.deepEqual(items[0]?.event, hint)
  }
  for (const [score, quality] of [
    ['GREEN', 'GREEN'],
    ['red', 'RED'],
    ['UNKNOWN', null],
    [1, null],
  ] as const) {
    const { items } = parsed(payload(change('message_template_quality_update', { ...named, new_quality_score: score })))
    assert.deepEqual(items[0]?.event, { ...hint, quality: { ...one, quality } })
  }
})
