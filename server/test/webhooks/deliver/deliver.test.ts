import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { webhookWorld } from '../../support/webhooks/webhook-world.ts'

test('an event reaches the endpoint with the headers of Standard Webhooks, and the official library verifies it', async () => {
  const w = await webhookWorld({ headers: { 'X-Shop': '7', 'Webhook-Id': 'mine' } })
  const [id] = await w.record(randomUUID(), [{ id: 'l1', firstName: 'Marina' }], 'lead.created')
  await w.drain()
  assert.equal(w.receiver.received.length, 1)
  const [{ headers, text } = assert.fail()] = w.receiver.received
  assert.equal(headers['webhook-id'], id)
  assert.equal(headers['webhook-event'], 'lead.created')
  assert.equal(headers['content-type'], 'application/json')
  assert.match(headers['user-agent'] ?? '', /^Parley\/\d/)
  assert.equal(headers['x-shop'], '7')
  assert.equal(headers['webhook-timestamp'], String(w.clock.now().getTime() / 1000))
  assert.deepEqual(JSON.parse(text), { id: 'l1', firstName: 'Marina' })
})

test('lead events travel bare, inbox events wrapped in their name', async () => {
  const w = await webhookWorld()
  await w.record(randomUUID(), [{ id: 'l1' }], 'lead.deleted')
  await w.record(randomUUID(), [{ id: 'm1' }], 'inbox.message.sent')
  await w.drain()
  const bodies = Object.fromEntries(w.receiver.received.map(({ event, text }) => [event, text]))
  assert.deepEqual(bodies, {
    'lead.deleted': '{"id":"l1"}',
    'inbox.message.sent': '{"event":"inbox.message.sent","payload":{"id":"m1"}}',
  })
})

test('events of one subject go one after another, in the order in which they were recorded', async () => {
  const w = await webhookWorld()
  const subjects = Array.from({ length: 8 }, () => randomUUID())
  for (let n = 0; n < 20; n++) for (const subject of subjects) await w.record(subject, [{ subject, n }])
  await w.drain()
  for (const subject of subjects) {
    const seen = w.receiver.received.filter(({ body }) => body.subject === subject).map(({ body }) => body.n)
    assert.deepEqual(
      seen,
      Array.from({ length: 20 }, (_, n) => n),
    )
  }
  assert.equal((await w.queue()).cursor, 160)
  assert.ok((await w.deliveries()).every(({ state, attempts }) => state === 'delivered' && attempts === 1))
})

test('what an endpoint did not ask for passes it by, and leaves no row', async () => {
  const w = await webhookWorld({ events: ['lead.created', 'inbox.*'] })
  await w.record(randomUUID(), [{}], 'lead.updated')
  const [id] = await w.record(randomUUID(), [{}], 'lead.created')
  const [inbox] = await w.record(randomUUID(), [{}], 'inbox.message.status')
  await w.record(randomUUID(), [{}], 'lead.deleted')
  await w.drain()
  assert.deepEqual(w.sentIds().sort(), [id, inbox].sort())
  assert.equal((await w.deliveries()).length, 2)
  assert.equal((await w.queue()).cursor, 4)
})

test('a failed delivery is tried again at 5 s, 30 s, 2 min, 10 min, 1 h, 3 h, 6 h, 12 h, 24 h and 24 h, then given up', async () => {
  const w = await webhookWorld()
  w.receiver.answer(() => ({ status: 500, body: 'no' }))
  const [id] = await w.record(randomUUID(), [{ n: 1 }])
  await w.drain()
  const waits = [5, 30, 120, 600, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600, 24 * 3600]
  for (const [index, seconds] of waits.entries()) {
    assert.equal(w.receiver.received.length, index + 1)
    w.clock.advance(seconds * 1000 - 1)
    await w.drain()
    assert.equal(w.receiver.received.length, index + 1, 'never earlier')
    w.clock.advance(1)
    await w.drain()
  }
  assert.equal(w.receiver.received.length, 11)
  const [row] = await w.deliveries()
  assert.equal(row?.state, 'failed')
  assert.equal(new Set(w.receiver.received.map(({ text }) => text)).size, 1)
  assert.deepEqual(new Set(w.sentIds()), new Set([id]))
  assert.equal(new Set(w.receiver.received.map(({ headers }) => headers['webhook-timestamp'])).size, 11)
})

test('each attempt is signed anew, and verifies at the time it is made', async (t) => {
  const w = await webhookWorld()
  t.mock.timers.enable({ apis: ['Date'], now: w.clock.now() })
  w.receiver.answer(({ number }) => ({ status: number === 1 ? 503 : 200 }))
  await w.record(randomUUID(), [{ n: 'é' }])
  await w.drain()
  w.clock.advance(5000)
  t.mock.timers.setTime(w.clock.now().getTime())
  await w.drain()
  const webhook = new Webhook(w.secret.value)
  for (const { text, headers } of w.receiver.received) {
    assert.deepEqual(webhook.verify(text, headers as Record<string, string>), { n: 'é' })
  }
  assert.equal(w.receiver.received.length, 2)
})
