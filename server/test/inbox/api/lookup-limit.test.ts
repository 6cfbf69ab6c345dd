import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { lookupsPerMinute } from '../../../src/auth/rate-limit/lookup-limit.ts'
import { addAgent, inboxPath, inboxWorld, marina } from '../../support/inbox/inbox-world.ts'
import { leadPath } from '../../support/leads/leads.ts'

const phone = marina.phone ?? ''
const list = `${inboxPath}/conversations`
const wrong = (n: number): string => `55819${String(80_000 + n)}567`

test('a masked key filters by a complete number and shares the limit of misses per minute with leads', async () => {
  const w = await inboxWorld()
  await w.customerWrites('Hi')
  const { value: key } = await addAgent(w, { scopes: ['inbox.read', 'leads.read'], phoneVisibility: 'masked' })
  const find = (digits: string, more: Record<string, string> = {}) =>
    w.call('GET', list, { key, query: { phone: digits, ...more } })
  const half = lookupsPerMinute / 2
  for (let n = 0; n < half; n++) assert.deepEqual((await find(wrong(n))).body.conversations, [])
  for (let n = 0; n < half; n++) assert.equal((await w.call('GET', leadPath(wrong(n)), { key })).status, 404)
  for (const digits of [phone, wrong(0)]) {
    const { status, body, headers } = await find(digits)
    assert.equal(status, 429)
    assert.deepEqual(body.data, { code: 'RATE_LIMITED' })
    assert.ok(Number(headers['retry-after']) > 0)
  }
  assert.equal((await w.call('GET', list, { key })).body.conversations.length, 1)
  w.clock.advance(61_000)
  for (let n = 0; n < 2 * lookupsPerMinute; n++) {
    const { body } = await find(phone)
    assert.equal(body.conversations[0].contact.phone, '55819*****567')
  }
  assert.equal((await find(phone.slice(0, 8))).body.conversations.length, 0)
})

test('filters combined with a number do not avoid the lookup limit', async () => {
  const w = await inboxWorld()
  await w.customerWrites('Hi')
  const { value: key } = await addAgent(w, { scopes: ['inbox.read'], phoneVisibility: 'masked' })
  for (let n = 0; n < lookupsPerMinute; n++) {
    const query = { phone: wrong(n), status: 'open' }
    assert.equal((await w.call('GET', list, { key, query })).status, 200)
  }
  assert.equal((await w.call('GET', list, { key, query: { phone, status: 'closed' } })).status, 429)
})

test('an echo of a masked key that creates a conversation counts as a failed lookup', async () => {
  const w = await inboxWorld()
  await w.customerWrites('Hi')
  const { value: key } = await addAgent(w, { phoneVisibility: 'masked' })
  const echo = (to: string) =>
    w.call('POST', `${inboxPath}/echoes`, {
      key,
      body: { connection_id: w.connectionId, to, external_id: randomUUID(), kind: 'text', body: 'Hello' },
    })
  for (let n = 0; n < lookupsPerMinute; n++) {
    assert.equal((await echo(phone)).status, 202)
    assert.equal((await echo(wrong(n))).status, 202)
  }
  assert.equal((await echo(phone)).status, 429)
  assert.equal((await echo(wrong(99))).status, 429)
})
