import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PartnerConnection } from '../../src/channels/connection/connection.ts'
import type { Outgoing } from '../../src/channels/connector.ts'
import { partnerAdapter } from '../../src/channels/partner/adapter.ts'
import { isFromPartner, readProof } from '../../src/channels/partner/authenticate.ts'
import { partnerConnector } from '../../src/channels/partner/call.ts'
import { parsePartner } from '../../src/channels/partner/take-callback.ts'
import { seedDemo } from '../../src/simulator/demo/seed-demo.ts'
import { newPartnerSide } from '../../src/simulator/world.ts'
import { simulatorWorld } from '../support/channels/simulator.ts'
import { openTestOutgoing } from '../support/outgoing/outgoing.ts'

const w = await simulatorWorld({ number: { partner: newPartnerSide() } })
const { simulator } = w
const { number } = simulator
const { clock } = simulator.platform
seedDemo(simulator, { speak: false })
const wire = { outgoing: openTestOutgoing(), clock }
const connector = partnerConnector(wire, 500)
const adapter = partnerAdapter(wire, 'https://parley.example')
const connection: PartnerConnection = {
  workspaceId: '0190d0a0-0000-7000-8000-000000000001',
  id: '0190d0a0-0000-7000-8000-000000000002',
  channel: 'partner',
  name: 'Simulated',
  numberId: number.numberId,
  accountId: null,
  settings: {
    profile: '360dialog',
    baseUrl: simulator.url,
    apiKey: number.partner?.apiKey ?? '',
    webhookToken: 'the-token-of-the-callbacks',
    signingSecret: null,
  },
  state: 'active',
  stateReason: null,
  acknowledgedAt: null,
  isOnPhone: false,
}
const stranger = { ...connection, settings: { ...connection.settings, apiKey: 'the-key-of-nobody' } }
const hello: Outgoing = { kind: 'text', text: 'Olá', previewUrl: false }
const send = (to: PartnerConnection, phone: string, message: Outgoing) => {
  const deadline = new Date(clock.now().getTime() + 5_000)
  return connector.send(to, { recipient: { phone, userId: null }, message, correlator: 'm:1', deadline })
}
const knob = (method: string, path: string, body?: object) => w.call(method, `/simulator/${path}`, body)

test('the number is known by its key, and every template is listed in the partner’s words', async () => {
  const { phone } = number
  assert.deepEqual(await adapter.check(connection), { problem: null, number: phone, isOnPhone: false, phone })
  assert.equal((await adapter.check(stranger)).problem, 'platform_error_invalid_api_key')
  const fetched = await adapter.fetchTemplates?.(connection)
  assert.ok(fetched?.ok)
  const { templates } = simulator.platform.world
  const statuses = [...templates.values()].map(({ status }) => (status === 'PENDING' ? 'SUBMITTED' : status))
  assert.deepEqual(
    fetched.templates.map(({ status }) => status),
    statuses,
  )
})

test('callbacks go where they were registered, with its headers, and signed when the partner signs', async () => {
  const { callbackUrl } = number
  assert.equal(await adapter.register?.(connection), null)
  assert.equal(number.callbackUrl, `https://parley.example/channels/partner/${connection.id}/webhook`)
  number.callbackUrl = callbackUrl
  const zoe = await w.customer()
  for (const signingSecret of [null, 'a-signing-secret']) {
    w.received.length = 0
    assert.equal((await knob('PATCH', `numbers/${number.numberId}`, { signingSecret })).status, 200)
    await knob('POST', `customers/${zoe.id}/messages`, { text: 'Hello' })
    await simulator.settled()
    const [callback] = w.received
    const proof = readProof(callback?.headers ?? {})
    assert.ok(callback && proof && isFromPartner({ ...connection.settings, signingSecret }, proof, callback.raw))
    assert.equal(callback.headers['x-hub-signature-256'], undefined)
    assert.equal(parsePartner(callback.body, clock.now()).items[0]?.numberId, number.numberId)
  }
  await knob('PATCH', `numbers/${number.numberId}`, { signingSecret: null })
})

test('texts, templates and reading reach the phones of the same world', async () => {
  const zoe = await w.customer()
  assert.equal((await send(connection, zoe.phone, hello)).outcome, 'accepted')
  const named = { name: 'order_update', language: 'en', parameters: ['Ana', 'A-17'], names: ['first_name', 'order_id'] }
  assert.equal((await send(connection, zoe.phone, { kind: 'template', ...named })).outcome, 'accepted')
  assert.deepEqual(await send(stranger, zoe.phone, hello), {
    outcome: 'refused',
    errorCode: 'invalid_api_key',
    effect: 'connection_unavailable',
  })
  const { body: said } = await knob('POST', `customers/${zoe.id}/messages`, { text: 'read me' })
  await simulator.settled()
  await connector.markRead(connection, said.id, { phone: null, userId: null })
  const { body: chat } = await knob('GET', `customers/${zoe.id}`)
  assert.deepEqual(
    chat.messages.map((message: { from: string; status: string }) => [message.from, message.status]),
    [
      ['customer', 'read'],
      ['business', 'delivered'],
      ['business', 'delivered'],
      ['customer', 'read'],
    ],
  )
})

const faults: [fault: object, seen: () => Promise<unknown>, expected: unknown][] = [
  [{ on: 'webhook', effect: 'server_error' }, async () => adapter.register?.(connection), 'webhook_not_registered'],
  [{ on: 'number', effect: 'html' }, async () => (await adapter.check(connection)).problem, 'unreachable'],
  [{ on: 'templates', effect: 'reset' }, async () => (await adapter.fetchTemplates?.(connection))?.ok, false],
]
for (const [fault, seen, expected] of faults) {
  test(`a fault ${JSON.stringify(fault)} is seen`, async () => {
    await knob('POST', 'faults', fault)
    assert.deepEqual(await seen(), expected)
  })
}

const addresses: [what: string, body: unknown, status: number][] = [
  ['no body', undefined, 400],
  ['no address', { headers: {} }, 400],
  ['headers that are no texts', { url: 'https://parley.example', headers: { a: 1 } }, 400],
  ['an address alone', { url: 'https://parley.example' }, 200],
]
for (const [what, body, status] of addresses) {
  test(`the partner answers ${status} to the registration of ${what}`, async () => {
    const answer = await fetch(`${simulator.url}/v1/configs/webhook`, {
      method: 'POST',
      headers: { 'd360-api-key': connection.settings.apiKey, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    assert.equal(answer.status, status)
  })
}

test('a number can be added with a partner, and only such a one signs by its secret', async () => {
  const phone = { phone: '4930123456', name: 'Shop' }
  const { body: served } = await knob('POST', 'numbers', { ...phone, isPartners: true })
  assert.equal(typeof served.partner.apiKey, 'string')
  const { body: own } = await knob('POST', 'numbers', phone)
  assert.equal(own.partner, null)
  assert.equal((await knob('PATCH', `numbers/${own.numberId}`, { signingSecret: 'a-secret-of-16-ch' })).status, 409)
})
