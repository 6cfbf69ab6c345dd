import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { seedDemo } from '../../src/simulator/demo/seed-demo.ts'
import { inboundKinds } from '../../src/simulator/inbound.ts'
import { makeWamid, readWamid } from '../../src/simulator/wamid.ts'
import { simulatorWorld } from '../support/channels/simulator.ts'

const w = await simulatorWorld()
const { simulator } = w
const say = (id: string, body: object) => w.call('POST', `/simulator/customers/${id}/messages`, body)
const change = (id: string, body: object) => w.call('PATCH', `/simulator/customers/${id}`, body)
const chatOf = async (id: string) => (await w.call('GET', `/simulator/customers/${id}`)).body

test('an id of a message holds the address of the customer, and reads back', () => {
  const directions = fc.constantFrom('inbound' as const, 'outbound' as const)
  fc.assert(
    fc.property(fc.stringMatching(/^\d{5,20}$/), directions, (customer, direction) => {
      const read = readWamid(makeWamid(customer, direction))
      assert.deepEqual([read?.customer, read?.direction], [customer, direction])
    }),
  )
  assert.equal(readWamid('wamid.AAAA'), null)
  assert.equal(readWamid('other'), null)
  assert.deepEqual(readWamid('wamid.HBgLMTIxMjU1NTAxMDAVAgARGBI1RjQyNUE3NEYxMzAzMzQ5MkEA'), {
    customer: '12125550100',
    direction: 'outbound',
    id: '5F425A74F13033492A',
  })
})

test('a customer can send every kind of message', async () => {
  const zoe = await w.customer()
  const { body: first } = await say(zoe.id, { text: 'first' })
  for (const kind of inboundKinds)
    assert.equal((await say(zoe.id, { kind, text: 'words', about: first.id })).status, 201)
  await simulator.settled()
  const messages = w.changes().flatMap(({ value }) => value.messages)
  assert.equal(messages.length, inboundKinds.length + 1)
  for (const { id, from, from_user_id: userId, timestamp, type } of messages) {
    assert.equal(readWamid(id)?.direction, 'inbound')
    assert.deepEqual([from, userId, typeof type], [zoe.phone, zoe.userId, 'string'])
    assert.match(timestamp, /^\d{10}$/)
  }
  const types = new Set(messages.map(({ type }) => type))
  const expected = 'text image audio interactive button reaction order revoke edit unsupported hologram'.split(' ')
  for (const type of expected) assert.ok(types.has(type), type)
})

test('an ad leaves its mark on the first message, without a click id when seen in a status', async () => {
  const zoe = await w.customer()
  for (const ad of ['image', 'video', 'post', 'status']) await say(zoe.id, { text: 'Hi', ad })
  await simulator.settled()
  const referrals = w.changes().map(({ value }) => value.messages[0].referral)
  assert.deepEqual(
    referrals.map(({ source_type: type, media_type: media, ctwa_clid: click }) => [type, media, typeof click]),
    [
      ['ad', 'image', 'string'],
      ['ad', 'video', 'string'],
      ['post', 'image', 'string'],
      ['ad', 'image', 'undefined'],
    ],
  )
})

test('a phone without a network keeps what is written and gets what was sent once it is back', async () => {
  const zoe = await w.customer()
  await change(zoe.id, { online: false })
  await say(zoe.id, { text: 'from the tunnel' })
  await w.text(zoe.phone, 'to the tunnel')
  await simulator.settled()
  assert.deepEqual(w.statuses(), ['sent'])
  await w.call('POST', `/simulator/customers/${zoe.id}/read`)
  assert.deepEqual(
    (await chatOf(zoe.id)).messages.map(({ status }: { status: string }) => status),
    ['delivered', 'pending', 'sent'],
  )
  await change(zoe.id, { online: true })
  await simulator.settled()
  assert.deepEqual(w.statuses(), ['sent', 'delivered'])
  assert.equal(
    w.changes().some(({ value }) => value.messages?.[0].text.body === 'from the tunnel'),
    true,
  )
})

test('a customer who hides the number is known by a user id alone', async () => {
  const zoe = await w.customer()
  await change(zoe.id, { hidesNumber: true, username: 'zoe' })
  await say(zoe.id, { text: 'guess' })
  await simulator.settled()
  const { contacts, messages } = w.changes()[0].value
  assert.deepEqual(contacts, [{ profile: { name: 'Zoë', username: 'zoe' }, user_id: zoe.userId }])
  assert.deepEqual([messages[0].from, messages[0].from_user_id], [undefined, zoe.userId])
  assert.equal(w.received[0]?.raw.includes(zoe.phone), false)
})

test('a new number is announced with the new user id, and without contacts', async () => {
  const zoe = await w.customer()
  await change(zoe.id, { phone: '442079551234' })
  await simulator.settled()
  const values = w.changes().map(({ value }) => value)
  const [number, user] = values.map(({ messages }) => messages[0])
  assert.deepEqual(
    [number.from, number.system.wa_id, number.system.type],
    [zoe.phone, '442079551234', 'user_changed_number'],
  )
  assert.deepEqual(
    [user.from, user.system.previous_user_id, user.system.type],
    [undefined, zoe.userId, 'user_changed_user_id'],
  )
  assert.equal(
    values.some(({ contacts }) => contacts !== undefined),
    false,
  )
})

test('a call opens the window, a message typed on the phone of the business does not', async () => {
  const { body: ana } = await w.call('POST', '/simulator/customers', { name: 'Ana', phone: '34600555110' })
  await w.call('POST', `/simulator/customers/${ana.id}/echo`, { text: 'Hola Ana' })
  assert.equal((await chatOf(ana.id)).windowIsOpen, false)
  await w.call('POST', `/simulator/customers/${ana.id}/call`)
  assert.equal((await chatOf(ana.id)).windowIsOpen, true)
})

test('two numbers on one platform keep their customers and their callbacks apart', async () => {
  const { callbackUrl } = simulator.number
  const added = await w.call('POST', '/simulator/numbers', {
    name: 'Second',
    phone: '15550002222',
    callbackUrl: `${callbackUrl}/two`,
  })
  assert.equal(added.status, 201)
  const { numberId, accessToken } = added.body
  assert.equal((await w.graph('GET', numberId)).body.error.error_subcode, 33)
  assert.equal((await w.graph('GET', numberId, undefined, accessToken)).status, 200)
  const { body: ana } = await w.call('POST', '/simulator/customers', { name: 'Ana', phone: '34600555109', numberId })
  w.received.length = 0
  await say(ana.id, { text: 'hi' })
  await simulator.settled()
  assert.equal(w.changes()[0].value.metadata.phone_number_id, numberId)
  assert.equal(
    (await w.call('POST', '/simulator/customers', { name: 'Ana', phone: '34600555109', numberId })).status,
    422,
  )
})

test('the demo has living conversations, and none are told again after a restart', async () => {
  const first = await simulatorWorld()
  seedDemo(first.simulator, { speak: true })
  await first.simulator.settled()
  assert.ok(first.received.length >= 8)
  const again = await simulatorWorld()
  seedDemo(again.simulator, { speak: false })
  await again.simulator.settled()
  assert.equal(again.received.length, 0)
  const { customers } = (await again.call('GET', '/simulator/customers')).body
  const of = (network: string) => customers.filter((customer: { network: string }) => customer.network === network)
  assert.deepEqual([of('official').length, of('linked').length], [6, 3])
})
