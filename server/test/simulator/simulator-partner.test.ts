import assert from 'node:assert/strict'
import { test } from 'node:test'
import { partnerAdapter } from '../../src/channels/partner/adapter.ts'
import { isFromPartner, readProof } from '../../src/channels/partner/authenticate.ts'
import { parsePartner } from '../../src/channels/partner/take-callback.ts'
import { seedDemo } from '../../src/simulator/demo/seed-demo.ts'
import { newPartnerSide } from '../../src/simulator/world.ts'
import { partnerAt } from '../support/channels/connections.ts'
import { simulatorWorld } from '../support/channels/simulator.ts'
import { openTestOutgoing } from '../support/outgoing/outgoing.ts'

const w = await simulatorWorld({ number: { partner: newPartnerSide() } })
const { simulator } = w
const { number } = simulator
const { clock } = simulator.platform
seedDemo(simulator, { speak: false })
const adapter = partnerAdapter({ outgoing: openTestOutgoing(), clock }, 'https://parley.example')
const connection = partnerAt(simulator.url, { apiKey: number.partner?.apiKey ?? '', numberId: number.numberId })
const stranger = partnerAt(simulator.url, { apiKey: 'the-key-of-nobody' })
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

test('faults of a partner are seen', async () => {
  for (const [fault, seen, expected] of [
    [{ on: 'webhook', effect: 'server_error' }, () => adapter.register?.(connection), 'webhook_not_registered'],
    [{ on: 'number', effect: 'html' }, async () => (await adapter.check(connection)).problem, 'unreachable'],
    [{ on: 'templates', effect: 'reset' }, async () => (await adapter.fetchTemplates?.(connection))?.ok, false],
  ] as const) {
    await knob('POST', 'faults', fault)
    assert.deepEqual(await seen(), expected)
  }
})
