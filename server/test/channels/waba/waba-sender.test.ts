import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { manualClock, systemClock } from '../../../src/base/clock.ts'
import type { FilledInputs, Order, SendResult } from '../../../src/channels/connector.ts'
import type { Choices } from '../../../src/channels/interactive-options.ts'
import { partnerConnector } from '../../../src/channels/partner/call.ts'
import { wabaConnector } from '../../../src/channels/waba/sender.ts'
import { partnerAt, wabaAt } from '../../support/channels/connections.ts'
import { platformServer, sendJson } from '../../support/channels/platform-server.ts'
import { openTestOutgoing } from '../../support/outgoing/outgoing.ts'
import { reset } from '../../support/wire/reset.ts'

const platform = await platformServer()
after(() => platform.close())
beforeEach(() => {
  platform.requests = []
  platform.answer = (_, response) => sendJson(response, 200, accepted)
})

const accepted = { contacts: [{ input: '+5511987654321', wa_id: '551187654321' }], messages: [{ id: 'wamid.1' }] }
const connection = wabaAt(platform.baseUrl)

function order(more: Partial<Order> = {}): Order {
  return {
    ...{ recipient: { phone: '5511987654321', userId: null }, correlator: 'message:0' },
    message: { kind: 'text', text: 'Olá', previewUrl: true },
    deadline: new Date(Date.now() + 60_000),
    ...more,
  }
}

const wire = { outgoing: openTestOutgoing(), clock: systemClock }
const { send, markRead, maxTextLength } = wabaConnector(wire, 10_000)

test('a text is sent to the number with a plus, with the token and the correlator', async () => {
  assert.equal(maxTextLength, 4096)
  assert.deepEqual(await send(connection, order()), {
    outcome: 'accepted',
    externalId: 'wamid.1',
    platformUserPhone: '551187654321',
  })
  const [asked] = platform.requests
  assert.deepEqual([asked?.method, asked?.url], ['POST', `/v25.0/${connection.numberId}/messages`])
  assert.equal(asked?.headers.authorization, 'Bearer the-token')
  assert.deepEqual(asked?.body, {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: '+5511987654321',
    type: 'text',
    text: { preview_url: true, body: 'Olá' },
    biz_opaque_callback_data: 'message:0',
  })
})

test('a customer who hides the number is addressed by user id', async () => {
  platform.answer = (_, response) =>
    sendJson(response, 200, { contacts: [{ user_id: 'BR.1' }], messages: [{ id: 'w' }] })
  const result = await send(connection, order({ recipient: { phone: null, userId: 'BR.1' } }))
  assert.deepEqual(result, { outcome: 'accepted', externalId: 'w', platformUserPhone: null })
  const { body } = platform.requests[0] ?? {}
  assert.deepEqual([body.recipient, body.to], ['BR.1', undefined])
})

test('without an address no call is made', async () => {
  const result = await send(connection, order({ recipient: { phone: null, userId: null } }))
  assert.deepEqual(result, { outcome: 'refused', errorCode: 'no_address', effect: 'none' })
  assert.equal(platform.requests.length, 0)
})

const part = (text: string, parameter_name?: string) => ({
  type: 'text',
  ...(parameter_name && { parameter_name }),
  text,
})
const templates: [what: string, parameters: string[], names: string[] | null, parts: object[]][] = [
  ['no parameters has no components', [], null, []],
  ['positional parameters', ['Ana', 'A-17'], null, [part('Ana'), part('A-17')]],
  ['named parameters', ['Ana'], ['first_name'], [part('Ana', 'first_name')]],
]

for (const [what, parameters, names, parts] of templates) {
  test(`a template with ${what}`, async () => {
    const message = { kind: 'template', name: 'hello', language: 'pt_BR', parameters, names } as const
    await send(connection, order({ message }))
    const { template } = platform.requests[0]?.body ?? {}
    const components = parts.length === 0 ? undefined : [{ type: 'body', parameters: parts }]
    assert.deepEqual([template.name, template.language, template.components], ['hello', { code: 'pt_BR' }, components])
  })
}

test('a template carries the values of its header and its buttons', async () => {
  const base = { kind: 'template' as const, name: 'hello', language: 'pt_BR', parameters: ['Ana'], names: null }
  const buttons = [
    { index: 1, type: 'url', value: 'A-17' },
    { index: 2, type: 'copy_code', value: 'SAVE10' },
  ] as const
  const body = { type: 'body', parameters: [part('Ana')] }
  const button = (index: string, sub_type: string, parameter: object) => ({
    ...{ type: 'button', sub_type, index, parameters: [parameter] },
  })
  const place = { latitude: -8.05, longitude: -34.9, name: 'Shop' }
  const rows: [inputs: FilledInputs, components: object[]][] = [
    [
      { headerText: { value: 'A-17', name: null }, buttons: [...buttons] },
      [
        { type: 'header', parameters: [part('A-17')] },
        body,
        button('1', 'url', part('A-17')),
        button('2', 'copy_code', { type: 'coupon_code', coupon_code: 'SAVE10' }),
      ],
    ],
    [{ headerText: { value: 'A-17', name: 'order' } }, [{ type: 'header', parameters: [part('A-17', 'order')] }, body]],
    [
      { headerLocation: place },
      [
        {
          type: 'header',
          parameters: [{ type: 'location', location: { latitude: '-8.05', longitude: '-34.9', name: 'Shop' } }],
        },
        body,
      ],
    ],
  ]
  for (const [inputs, components] of rows) {
    platform.requests = []
    await send(connection, order({ message: { ...base, inputs } }))
    assert.deepEqual(platform.requests[0]?.body.template.components, components)
  }
})

test('a linked file is loaded by the platform, and a document shows its name', async () => {
  const base = { kind: 'template' as const, name: 'hello', language: 'pt_BR', parameters: [], names: null }
  const link = 'https://shop.example/menu.pdf'
  for (const [kind, file] of [
    ['image', { link }],
    ['document', { link, filename: 'menu.pdf' }],
  ] as const) {
    platform.requests = []
    await send(connection, order({ message: { ...base, header: { kind, name: 'menu.pdf', url: link } } }))
    const header = { type: 'header', parameters: [{ type: kind, [kind]: file }] }
    assert.deepEqual(platform.requests[0]?.body.template.components, [header])
  }
})

const marketing = (category: string): Order['message'] => ({
  ...{ kind: 'template', category, name: 'offer', language: 'pt_BR', parameters: [], names: null },
})
const endpoints: [what: string, sendsMarketing: boolean, category: string, endpoints: string[]][] = [
  ['marketing, where the account has the endpoint', true, 'MARKETING', ['marketing_messages']],
  ['marketing, where it has not', false, 'MARKETING', ['messages']],
  ['another category', true, 'UTILITY', ['messages']],
]

for (const [what, sendsMarketing, category, expected] of endpoints) {
  test(`a template of ${what}`, async () => {
    await send({ ...connection, sendsMarketing }, order({ message: marketing(category) }))
    assert.deepEqual(
      platform.requests.map(({ url }) => url.split('/').at(-1)),
      expected,
    )
  })
}

test('a missing marketing endpoint falls back to the other one; other errors do not', async () => {
  const refusals: [error: object, calls: number][] = [
    [{ code: 2500 }, 2],
    [{ code: 100, error_subcode: 33 }, 2],
    [{ code: 131049 }, 1],
    [{ code: 100 }, 1],
  ]
  for (const [error, calls] of refusals) {
    platform.requests = []
    platform.answer = (_asked, response) => sendJson(response, 400, { error })
    await send({ ...connection, sendsMarketing: true }, order({ message: marketing('MARKETING') }))
    assert.equal(platform.requests.length, calls, JSON.stringify(error))
  }
})

const words = { body: { text: 'When?' } }
const offers: [what: string, choices: Choices, interactive: object][] = [
  [
    'buttons',
    { buttons: [{ id: 'a', title: 'Today' }], footer: 'Until six' },
    {
      type: 'button',
      ...words,
      footer: { text: 'Until six' },
      action: { buttons: [{ type: 'reply', reply: { id: 'a', title: 'Today' } }] },
    },
  ],
  [
    'a list',
    { list: { button: 'Days', rows: [{ id: 'a', title: 'Monday', description: 'Early' }] } },
    {
      type: 'list',
      ...words,
      action: { button: 'Days', sections: [{ rows: [{ id: 'a', title: 'Monday', description: 'Early' }] }] },
    },
  ],
]
for (const [what, choices, interactive] of offers) {
  test(`a text with ${what} is sent as the platform's interactive message, with its quote`, async () => {
    const quoted = { externalId: 'wamid.q', direction: 'inbound', text: 'Come' } as const
    await send(connection, order({ message: { kind: 'choices', text: 'When?', choices, quoted } }))
    const { type, interactive: sent, context } = platform.requests[0]?.body ?? {}
    assert.deepEqual([type, sent, context], ['interactive', interactive, { message_id: 'wamid.q' }])
  })
}

test('a platform that refuses connections is unreachable', async () => {
  const gone = await platformServer()
  await gone.close()
  assert.deepEqual(await send(wabaAt(gone.baseUrl), order()), { outcome: 'unreachable', errorCode: 'econnrefused' })
})

test('no byte is sent after the deadline', async () => {
  const clock = manualClock(new Date('2026-03-10T12:00:00.000Z'))
  const late = order({ deadline: clock.now() })
  assert.deepEqual(await wabaConnector({ ...wire, clock }, 300).send(connection, late), {
    outcome: 'unreachable',
    errorCode: 'deadline_passed',
  })
  assert.equal(platform.requests.length, 0)
})

test('a timeout or reset after the request has an unknown outcome', async () => {
  platform.answer = () => {}
  const impatient = wabaConnector(wire, 100)
  assert.deepEqual(await impatient.send(connection, order()), { outcome: 'unknown', errorCode: 'timeout' })
  platform.answer = (_, _response, socket) => reset(socket)
  assert.deepEqual(await send(connection, order()), { outcome: 'unknown', errorCode: 'econnreset' })
})

test('typing is shown with the read receipt', async () => {
  await markRead(connection, 'wamid.in', { phone: '5511999990000', userId: null }, true)
  assert.deepEqual(platform.requests[0]?.body, {
    messaging_product: 'whatsapp',
    status: 'read',
    message_id: 'wamid.in',
    typing_indicator: { type: 'text' },
  })
})

test('marking as read calls the platform and never throws', async () => {
  await markRead(connection, 'wamid.in', { phone: '5511999990000', userId: null })
  assert.deepEqual(platform.requests[0]?.body, {
    messaging_product: 'whatsapp',
    status: 'read',
    message_id: 'wamid.in',
  })
  platform.answer = (_, _response, socket) => reset(socket)
  await markRead(connection, 'wamid.in', { phone: '5511999990000', userId: null })
})

const sendByPartner = (one: Order) => partnerConnector(wire, 10_000).send(partnerAt(platform.baseUrl), one)

test('a text is sent with the key to a path without version or number, in the official format', async () => {
  assert.partialDeepStrictEqual(await sendByPartner(order()), { outcome: 'accepted', externalId: 'wamid.1' })
  const [asked] = platform.requests
  assert.deepEqual([asked?.method, asked?.url], ['POST', '/messages'])
  assert.deepEqual([asked?.headers['d360-api-key'], asked?.headers.authorization], ['the-key', undefined])
  const expected = { messaging_product: 'whatsapp', to: '+5511987654321', text: { preview_url: true, body: 'Olá' } }
  assert.partialDeepStrictEqual(asked?.body, { ...expected, biz_opaque_callback_data: 'message:0' })
})

const none = (errorCode: string): SendResult => ({ outcome: 'refused', errorCode, effect: 'none' })
const down = (errorCode: string): SendResult => ({ outcome: 'refused', errorCode, effect: 'connection_unavailable' })
const billable = (errorCode: string): SendResult => ({ outcome: 'refused', errorCode, effect: 'billable_held' })
const stale = (errorCode: string): SendResult => ({ outcome: 'refused', errorCode, effect: 'templates_stale' })
const away = (errorCode: string): SendResult => ({ outcome: 'unreachable', errorCode })
const said = (developer_message: string) => ({ meta: { success: false, developer_message } })

const errors: [what: string, status: number, body: unknown, expected: SendResult][] = [
  ['the platform’s own error', 400, { error: { code: 131026 } }, none('131026')],
  ['the platform’s own error of the account', 403, { error: { code: 131031 } }, down('131031')],
  ['the platform’s own error of a template', 404, { error: { code: 132001 } }, stale('132001')],
  ['the platform’s own limit', 429, { error: { code: 130429 } }, away('130429')],
  ['a number that is not ours', 400, { error: { code: 100, error_subcode: 33 } }, down('100')],
  ['an older error: no such user', 400, { errors: [{ code: 1013, title: 'User is not valid' }] }, none('1013')],
  ['an older error: the window', 400, { errors: [{ code: 470, title: 'Re-engagement' }] }, none('470')],
  ['an older error: spam', 400, { errors: [{ code: 471 }] }, away('471')],
  ['an older error: too many', 429, { errors: [{ code: 1015 }] }, away('1015')],
  ['an older error: overloaded', 500, { errors: [{ code: 1016 }] }, away('1016')],
  ['an older error: access', 400, { errors: [{ code: 1005 }] }, down('1005')],
  ['an older error: the account', 400, { errors: [{ code: 1031 }] }, down('1031')],
  ['an older error: template', 400, { errors: [{ code: 2001 }] }, stale('2001')],
  ['an older list with a newer code', 400, { errors: [{ code: 131047 }] }, none('131047')],
  ['an unknown key', 401, said('Invalid api_key'), down('invalid_api_key')],
  ['an unknown key, unexplained', 401, null, down('http_401')],
  ['an unpaid bill', 402, {}, billable('http_402')],
  ['an unpaid bill in words', 400, { detail: 'Insufficient balance' }, billable('payment_required')],
  ['a limit in words', 400, { message: 'Rate limit exceeded' }, away('rate_limited')],
  ['a blocked number', 403, { message: 'This channel was blocked' }, down('blocked')],
  ['a customer who has blocked us', 400, { message: 'The recipient blocked this number' }, none('http_400')],
  ['forbidden, unexplained', 403, {}, down('http_403')],
  ['words that say nothing', 400, { message: 'Bad request' }, none('http_400')],
  ['an error that is a text', 400, { error: 'api key missing' }, down('invalid_api_key')],
  ['words of a fault of the partner', 500, said('api key store is down'), away('http_500')],
  ['upstream is away', 502, null, away('http_502')],
  ['accepted without an id', 200, {}, { outcome: 'unknown', errorCode: 'no_message_id' }],
]

test("a partner's errors are interpreted by the platform's codes, the older API or its own words", async () => {
  for (const [what, status, body, expected] of errors) {
    platform.answer = (_, response) => {
      if (body === null) response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Sorry</h1>')
      else sendJson(response, status, body)
    }
    assert.deepEqual(await sendByPartner(order()), expected, what)
  }
})
