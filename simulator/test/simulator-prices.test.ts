import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulatorWorld } from '../../server/test/support/channels/simulator.ts'
import { addTemplate } from '../src/control-routes.ts'
import { sendFromCustomer } from '../src/customer-actions.ts'

const w = await simulatorWorld()
const { platform, number } = w.simulator
const own = { language: 'en', status: 'APPROVED', parameter_format: 'POSITIONAL' } as const
addTemplate(platform.world, {
  ...own,
  name: 'offer',
  category: 'MARKETING',
  components: [{ type: 'BODY', text: 'Hi' }],
})

const text = { type: 'text', text: { body: 'Hello' } }
const offer = { type: 'template', template: { name: 'offer', language: { code: 'en' } } }

/** Sends a message and returns what its statuses say about the price. */
async function pricesOf(phone: string, body: object): Promise<[status: string, price: string, hasEnd?: boolean][]> {
  w.received.length = 0
  const answer = await w.send({ to: `+${phone}`, ...body })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  await w.simulator.settled()
  return w.changes().map(({ value }): [string, string, boolean?] => {
    const { status, pricing, conversation } = value.statuses[0]
    const price = pricing === undefined ? 'none' : `${pricing.type} ${pricing.category} ${pricing.billable}`
    return conversation === undefined ? [status, price] : [status, price, 'expiration_timestamp' in conversation]
  })
}

test('the first service messages of a month are free, and each price is reported on sent and once delivered', async () => {
  number.freeServiceMessages = 1
  number.serviceMessages = { month: '', count: 0 }
  const { phone, id } = await w.customer()
  const customer = platform.world.customers.get(id)
  assert.ok(customer)
  customer.readsAtOnce = true
  const free = 'free_customer_service service false'
  assert.deepEqual(await pricesOf(phone, text), [
    ['sent', free],
    ['delivered', free],
    ['read', 'none'],
  ])
  const charged = 'regular service true'
  assert.deepEqual(await pricesOf(phone, text), [
    ['sent', charged],
    ['delivered', charged],
    ['read', 'none'],
  ])
  const marketing = 'regular marketing true'
  assert.deepEqual(await pricesOf(phone, offer), [
    ['sent', marketing],
    ['delivered', marketing],
    ['read', 'none'],
  ])
})

test('a reply to a customer from an ad opens 72 hours in which everything is free', async () => {
  const { phone, id } = await w.customer()
  const customer = platform.world.customers.get(id)
  assert.ok(customer)
  const utterance = { kind: 'text', text: 'Is this still there?', about: null } as const
  sendFromCustomer({ platform, number, customer }, utterance, { ad: 'image' })
  await w.simulator.settled()
  const free = 'free_entry_point referral_conversion false'
  assert.deepEqual(await pricesOf(phone, text), [
    ['sent', free, true],
    ['delivered', free, false],
  ])
  assert.deepEqual(await pricesOf(phone, offer), [
    ['sent', free, true],
    ['delivered', free, false],
  ])
  assert.ok(customer.freeEntry)
  customer.freeEntry.until = platform.clock.now()
  const charged = 'regular marketing true'
  assert.deepEqual(await pricesOf(phone, offer), [
    ['sent', charged],
    ['delivered', charged],
  ])
})
