import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { manualClock, systemClock } from '../../../src/base/clock.ts'
import type { Choices } from '../../../src/channels/choices.ts'
import type { Order } from '../../../src/channels/connector.ts'
import { wabaConnector } from '../../../src/channels/waba/sender.ts'
import { wabaAt } from '../../support/channels/connections.ts'
import { platformServer, sendJson } from '../../support/channels/platform-server.ts'
import { openTestOutgoing } from '../../support/outgoing/outgoing.ts'
import { reset } from '../../support/wire/reset.ts'

const platform = await platformServer()
after(() => platform.close())
beforeEach(() => {
  platform.asked = []
  platform.answer = (_, response) => sendJson(response, 200, accepted)
})

const accepted = { contacts: [{ input: '+5511987654321', wa_id: '551187654321' }], messages: [{ id: 'wamid.1' }] }
const connection = wabaAt(platform.baseUrl)

function order(more: Partial<Order> = {}): Order {
  return {
    recipient: { phone: '5511987654321', userId: null },
    message: { kind: 'text', text: 'Olá', previewUrl: true },
    correlator: 'message:0',
    deadline: new Date(Date.now() + 60_000),
    ...more,
  }
}

const wire = { outgoing: openTestOutgoing(), clock: systemClock }
const { send, markRead, maxTextLength } = wabaConnector(wire, 10_000)

test('a text goes to the number with a plus, with the token and the correlator', async () => {
  assert.equal(maxTextLength, 4096)
  assert.deepEqual(await send(connection, order()), {
    outcome: 'accepted',
    externalId: 'wamid.1',
    platformUserPhone: '551187654321',
  })
  const [asked] = platform.asked
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

test('a customer who hides the number is reached by the user id', async () => {
  platform.answer = (_, response) =>
    sendJson(response, 200, { contacts: [{ user_id: 'BR.1' }], messages: [{ id: 'w' }] })
  const result = await send(connection, order({ recipient: { phone: null, userId: 'BR.1' } }))
  assert.deepEqual(result, { outcome: 'accepted', externalId: 'w', platformUserPhone: null })
  const { body } = platform.asked[0] ?? {}
  assert.deepEqual([body.recipient, body.to], ['BR.1', undefined])
})

test('without any address nothing is called', async () => {
  const result = await send(connection, order({ recipient: { phone: null, userId: null } }))
  assert.deepEqual(result, { outcome: 'refused', errorCode: 'no_address', effect: 'none' })
  assert.equal(platform.asked.length, 0)
})

const templates: [what: string, parameters: string[], names: string[] | null, components: unknown][] = [
  ['no parameters has no components', [], null, undefined],
  [
    'positional parameters',
    ['Ana', 'A-17'],
    null,
    [
      {
        type: 'body',
        parameters: [
          { type: 'text', text: 'Ana' },
          { type: 'text', text: 'A-17' },
        ],
      },
    ],
  ],
  [
    'named parameters',
    ['Ana'],
    ['first_name'],
    [{ type: 'body', parameters: [{ type: 'text', parameter_name: 'first_name', text: 'Ana' }] }],
  ],
]

for (const [what, parameters, names, components] of templates) {
  test(`a template with ${what}`, async () => {
    const message = { kind: 'template', name: 'hello', language: 'pt_BR', parameters, names } as const
    await send(connection, order({ message }))
    const { template } = platform.asked[0]?.body ?? {}
    assert.deepEqual([template.name, template.language, template.components], ['hello', { code: 'pt_BR' }, components])
  })
}

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
  test(`a text with ${what} goes as the platform's interactive message, with what it quotes`, async () => {
    const quoted = { externalId: 'wamid.q', direction: 'inbound', text: 'Come' } as const
    await send(connection, order({ message: { kind: 'choices', text: 'When?', choices, quoted } }))
    const { type, interactive: sent, context } = platform.asked[0]?.body ?? {}
    assert.deepEqual([type, sent, context], ['interactive', interactive, { message_id: 'wamid.q' }])
  })
}

test('a platform that cannot be connected to is unreachable', async () => {
  const gone = await platformServer()
  await gone.close()
  assert.deepEqual(await send(wabaAt(gone.baseUrl), order()), { outcome: 'unreachable', errorCode: 'econnrefused' })
})

test('no byte leaves once the deadline has passed', async () => {
  const clock = manualClock(new Date('2026-03-10T12:00:00.000Z'))
  const late = order({ deadline: clock.now() })
  assert.deepEqual(await wabaConnector({ ...wire, clock }, 300).send(connection, late), {
    outcome: 'unreachable',
    errorCode: 'deadline_passed',
  })
  assert.equal(platform.asked.length, 0)
})

test('a platform that hangs or resets the connection after the request is unknown', async () => {
  platform.answer = () => {}
  const impatient = wabaConnector(wire, 100)
  assert.deepEqual(await impatient.send(connection, order()), { outcome: 'unknown', errorCode: 'timeout' })
  platform.answer = (_, _response, socket) => reset(socket)
  assert.deepEqual(await send(connection, order()), { outcome: 'unknown', errorCode: 'econnreset' })
})

test('marking as read says so to the platform and never throws', async () => {
  await markRead(connection, 'wamid.in', { phone: '5511999990000', userId: null })
  assert.deepEqual(platform.asked[0]?.body, { messaging_product: 'whatsapp', status: 'read', message_id: 'wamid.in' })
  platform.answer = (_, _response, socket) => reset(socket)
  await markRead(connection, 'wamid.in', { phone: '5511999990000', userId: null })
})
