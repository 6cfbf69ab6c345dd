import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { systemClock } from '../../../src/base/clock.ts'
import type { Order, SendResult } from '../../../src/channels/connector.ts'
import { partnerConnector } from '../../../src/channels/partner/call.ts'
import { partnerAt } from '../../support/channels/connections.ts'
import { platformServer, sendJson } from '../../support/channels/platform-server.ts'
import { openTestOutgoing } from '../../support/outgoing/outgoing.ts'

const partner = await platformServer()
after(() => partner.close())
beforeEach(() => {
  partner.asked = []
  partner.answer = (_, response) => sendJson(response, 200, { messages: [{ id: 'wamid.1' }] })
})

const connection = partnerAt(partner.baseUrl)
const order = (): Order => ({
  recipient: { phone: '5511987654321', userId: null },
  message: { kind: 'text', text: 'Olá', previewUrl: true },
  correlator: 'message:0',
  deadline: new Date(Date.now() + 60_000),
})
const wire = { outgoing: openTestOutgoing(), clock: systemClock }
const { send } = partnerConnector(wire, 10_000)

test('a text goes with the key, to a path without version or number, as the official platform writes it', async () => {
  assert.partialDeepStrictEqual(await send(connection, order()), { outcome: 'accepted', externalId: 'wamid.1' })
  const [asked] = partner.asked
  assert.deepEqual([asked?.method, asked?.url], ['POST', '/messages'])
  assert.deepEqual([asked?.headers['d360-api-key'], asked?.headers.authorization], ['the-key', undefined])
  const expected = { messaging_product: 'whatsapp', to: '+5511987654321', text: { preview_url: true, body: 'Olá' } }
  assert.partialDeepStrictEqual(asked?.body, { ...expected, biz_opaque_callback_data: 'message:0' })
})

const none = (errorCode: string): SendResult => ({ outcome: 'refused', errorCode, effect: 'none' })
const down = (errorCode: string): SendResult => ({ outcome: 'refused', errorCode, effect: 'connection_unavailable' })
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
  ['an unpaid bill', 402, {}, down('http_402')],
  ['an unpaid bill in words', 400, { detail: 'Insufficient balance' }, down('payment_required')],
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

for (const [what, status, body, expected] of errors) {
  test(`${what}: ${status} is ${expected.outcome} ${'errorCode' in expected ? expected.errorCode : ''}`, async () => {
    partner.answer = (_, response) => {
      if (body === null) response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Sorry</h1>')
      else sendJson(response, status, body)
    }
    assert.deepEqual(await send(connection, order()), expected)
  })
}
