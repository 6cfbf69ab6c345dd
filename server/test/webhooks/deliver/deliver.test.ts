import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { verifyWebhook } from '../../support/webhooks/verify-webhook.ts'
import { webhookWorld } from '../../support/webhooks/webhook-world.ts'

test('an event is delivered with the headers of Standard Webhooks, and the official library verifies it', async () => {
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
  verifyWebhook(w.secret.value, w.receiver.received[0] ?? assert.fail(), w.clock.now())
})

test('lead events are sent bare, inbox events in an envelope', async () => {
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

test('events of one subject are sent one after another, in recorded order', async () => {
  const w = await webhookWorld()
  const subjects = Array.from({ length: 5 }, () => randomUUID())
  const numbers = Array.from({ length: 16 }, (_, n) => n)
  for (const n of [0, 8]) {
    for (const subject of subjects) {
      await w.record(
        subject,
        numbers.slice(n, n + 8).map((each) => ({ subject, n: each })),
      )
    }
  }
  await w.drain()
  for (const subject of subjects) {
    const seen = w.receiver.received.filter(({ body }) => body.subject === subject).map(({ body }) => body.n)
    assert.deepEqual(seen, numbers)
  }
  assert.equal((await w.queue()).cursor, 80)
  assert.ok((await w.deliveries()).every(({ state, attempts }) => state === 'delivered' && attempts === 1))
})

test('events that an endpoint does not subscribe to are skipped without a row', async () => {
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

test('a failed delivery is retried on time with the same id and body and a new signature', async () => {
  const w = await webhookWorld()
  w.receiver.answer(({ number }) => ({ status: number < 3 ? 503 : 200 }))
  const [id] = await w.record(randomUUID(), [{ n: 'é' }])
  await w.drain()
  const times = [w.clock.now()]
  for (const seconds of [5, 30]) {
    w.clock.advance(seconds * 1000 - 1)
    await w.drain()
    assert.equal(w.receiver.received.length, times.length, 'never earlier')
    w.clock.advance(1)
    await w.drain()
    times.push(w.clock.now())
  }
  assert.deepEqual(w.sentIds(), [id, id, id])
  for (const [n, webhook] of w.receiver.received.entries()) {
    assert.deepEqual(verifyWebhook(w.secret.value, webhook, times[n] ?? assert.fail()), { n: 'é' })
  }
  assert.equal(new Set(w.receiver.received.map(({ headers }) => headers['webhook-timestamp'])).size, 3)
  const [row] = await w.deliveries()
  assert.deepEqual([row?.state, row?.attempts], ['delivered', 3])
})
