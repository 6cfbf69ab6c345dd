import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Connection } from '../../src/channels/connection/connection.ts'
import type { Outgoing } from '../../src/channels/connector.ts'
import { wabaAdapter } from '../../src/channels/waba/adapter.ts'
import { parse } from '../../src/channels/waba/read/parse.ts'
import { wabaConnector } from '../../src/channels/waba/sender.ts'
import { isSignedBy, readSignature } from '../../src/channels/waba/take-callback.ts'
import { fetchTemplates } from '../../src/channels/waba/templates.ts'
import { seedDemo } from '../../src/simulator/demo/seed-demo.ts'
import { inboundKinds } from '../../src/simulator/inbound.ts'
import { simulatorWorld } from '../support/channels/simulator.ts'
import { openTestOutgoing } from '../support/outgoing/outgoing.ts'

const w = await simulatorWorld()
const { simulator } = w
const { clock } = simulator.platform
seedDemo(simulator, { speak: false })
const wire = { outgoing: openTestOutgoing(), clock }
const connector = wabaConnector(wire, 500)
const adapter = wabaAdapter(wire)
const { numberId, accountId, accessToken, appSecret, verifyToken } = simulator.number
const connection: Connection = {
  workspaceId: '0190d0a0-0000-7000-8000-000000000001',
  id: '0190d0a0-0000-7000-8000-000000000002',
  channel: 'waba',
  name: 'Simulated',
  numberId,
  accountId,
  settings: { baseUrl: simulator.url, version: 'v25.0', accessToken, appSecret, verifyToken },
  state: 'active',
  stateReason: null,
  acknowledgedAt: null,
  isOnPhone: false,
}
const send = (phone: string | null, message: Outgoing, userId: string | null = null) => {
  const deadline = new Date(clock.now().getTime() + 5_000)
  return connector.send(connection, { recipient: { phone, userId }, message, correlator: 'm:1', deadline })
}
const hello: Outgoing = { kind: 'text', text: 'Olá', previewUrl: false }
const events = () => w.received.flatMap(({ body }) => parse(body, clock.now()).items.map(({ event }) => event))

test('the connector and the simulator understand each other: texts, templates, reading, statuses', async () => {
  const zoe = await w.customer()
  const text = await send(zoe.phone, hello)
  assert.equal(text.outcome, 'accepted')
  const named = { name: 'order_update', language: 'en', parameters: ['Ana', 'A-17'], names: ['first_name', 'order_id'] }
  assert.equal((await send(zoe.phone, { kind: 'template', ...named })).outcome, 'accepted')
  assert.equal((await send(null, hello, zoe.userId)).outcome, 'accepted')
  await simulator.settled()
  const statuses = events().flatMap((event) => (event.type === 'status' ? [event] : []))
  assert.deepEqual([statuses.length, new Set(statuses.map(({ correlator }) => correlator))], [6, new Set(['m:1'])])
  const { body: said } = await w.call('POST', `/simulator/customers/${zoe.id}/messages`, { text: 'read me' })
  await simulator.settled()
  await connector.markRead(connection, said.id, { phone: null, userId: null })
  const { body: chat } = await w.call('GET', `/simulator/customers/${zoe.id}`)
  assert.equal(chat.messages.at(-1).status, 'read')
})

test('the connector reads the number and every page of the templates', async () => {
  assert.deepEqual(await adapter.check(connection), {
    problem: null,
    number: connection.numberId,
    isOnPhone: true,
    phone: simulator.number.phone,
  })
  const fetched = await fetchTemplates(wire, connection)
  assert.ok(fetched.ok)
  assert.equal(fetched.templates.length, simulator.platform.world.templates.size)
})

const outcomes: [object, string][] = [
  [{ effect: 'refuse', code: 131030 }, 'refused'],
  [{ effect: 'refuse', code: 130429 }, 'unreachable'],
  [{ effect: 'html' }, 'unreachable'],
  [{ effect: 'server_error', httpStatus: 503 }, 'unreachable'],
  [{ effect: 'garbage' }, 'unknown'],
  [{ effect: 'reset', accepts: true }, 'unknown'],
  [{ effect: 'hang', accepts: true }, 'unknown'],
  [{ effect: 'late', afterMs: 60_000 }, 'unknown'],
]
for (const [fault, outcome] of outcomes) {
  test(`a fault ${JSON.stringify(fault)} is ${outcome} to the connector`, async () => {
    const zoe = await w.customer()
    await w.call('POST', '/simulator/faults', fault)
    assert.equal((await send(zoe.phone, hello)).outcome, outcome)
    await w.call('POST', '/simulator/clock', { advanceMs: 60_000 })
  })
}

test('every webhook of a customer is signed, and understood or knowingly passed over', async () => {
  const zoe = await w.customer()
  const { body: first } = await w.call('POST', `/simulator/customers/${zoe.id}/messages`, {
    text: 'first',
    ad: 'image',
  })
  for (const kind of inboundKinds) {
    await w.call('POST', `/simulator/customers/${zoe.id}/messages`, { kind, text: 'words', about: first.id })
  }
  await w.call('POST', `/simulator/customers/${zoe.id}/call`)
  await w.call('POST', `/simulator/customers/${zoe.id}/echo`, { text: 'from the phone' })
  await w.call('PATCH', `/simulator/customers/${zoe.id}`, { phone: '442079559999' })
  await w.call('POST', '/simulator/account-events', { event: 'PARTNER_REMOVED' })
  await simulator.settled()
  for (const { raw, headers } of w.received) {
    const signature = readSignature(headers['x-hub-signature-256'])
    assert.ok(signature !== null && isSignedBy(appSecret, raw, signature))
  }
  const seen = new Set(events().map(({ type }) => type))
  for (const type of ['message', 'echo', 'contact_opened', 'customer_changed', 'connection_state'] as const) {
    assert.ok(seen.has(type), type)
  }
  const kinds = new Set(events().flatMap((event) => (event.type === 'message' ? [event.kind] : [])))
  for (const kind of ['text', 'image', 'video', 'audio', 'document', 'location'] as const)
    assert.ok(kinds.has(kind), kind)
  assert.ok(events().some((event) => event.type === 'message' && event.referral?.ctwa_clid))
})
