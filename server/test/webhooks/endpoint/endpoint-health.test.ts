import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type WebhookWorld, webhookWorld } from '../../support/webhooks/webhook-world.ts'

const day = 86_400_000

async function stateOf(w: WebhookWorld): Promise<unknown[]> {
  const [endpoint] = await w.db.sql`
    select state, state_reason
    from webhook_endpoints
    where id = ${w.endpointId}`
  return [endpoint?.state, endpoint?.state_reason]
}

test('429 and 503 with Retry-After pause the whole endpoint', async () => {
  const w = await webhookWorld()
  w.receiver.answer(({ number }) =>
    number === 1 ? { status: 429, headers: { 'retry-after': '90' } } : { status: 200 },
  )
  await w.recordEach(1)
  await w.drain()
  await w.recordEach(1)
  w.clock.advance(89_999)
  await w.drain()
  assert.equal(w.receiver.received.length, 1)
  w.clock.advance(1)
  await w.drain()
  assert.equal(w.receiver.received.length, 3)
})

test('410 disables the endpoint at once, is audited, and cancels pending deliveries', async () => {
  const w = await webhookWorld()
  const subject = randomUUID()
  w.receiver.answer(() => ({ status: 410 }))
  await w.record(subject, [{ n: 1 }, { n: 2 }, { n: 3 }])
  await w.drain()
  assert.equal(w.receiver.received.length, 1)
  assert.deepEqual(await stateOf(w), ['disabled', 'gone'])
  const [audit] = await w.db.sql`
    select actor_type, action, target
    from audit_log
    where scope_id = ${w.workspaceId}`
  const target = `webhook:${w.endpointId}`
  assert.deepEqual({ ...audit }, { actor_type: 'system', action: 'webhook.disabled', target })
  w.clock.advance(day)
  await w.record(subject, [{ n: 4 }])
  await w.drain()
  assert.equal(w.receiver.received.length, 1)
})

test('an endpoint that fails for five days is disabled, and the audit log records it', async () => {
  const w = await webhookWorld()
  w.receiver.answer(() => ({ status: 500 }))
  for (let n = 0; n <= 5; n++) {
    await w.record(randomUUID(), [{ n }])
    await w.drain()
    assert.deepEqual(await stateOf(w), n < 5 ? ['active', null] : ['disabled', 'failing'])
    w.clock.advance(day)
  }
  assert.ok(w.logLines.some((line) => line.includes('webhook endpoint disabled') && line.includes(w.endpointId)))
})

test('a failing receiver gets one request at a time, and its backlog stays a cursor', async () => {
  const w = await webhookWorld()
  w.receiver.answer(() => ({ status: 500 }))
  await w.recordEach(60)
  await w.drain()
  const first = w.receiver.received.length
  assert.ok(first <= 20, 'no more than was in flight when the fifth failed')
  w.clock.advance(60_000)
  await w.drain()
  assert.equal(w.receiver.received.length, first + 1)
  assert.ok((await w.deliveries()).length <= first + 1)
  w.receiver.answer(() => ({ status: 200 }))
  w.clock.advance(60_000)
  await w.drain()
  assert.equal(new Set(w.sentIds()).size, 60)
  assert.ok((await w.deliveries()).every(({ state }) => state === 'delivered'))
})

test('an endpoint that fails or hangs does not delay others', async () => {
  const w = await webhookWorld()
  const hanging = await webhookWorld()
  const bad = await w.addEndpoint({ url: hanging.receiver.url })
  const { promise: isOver, resolve: end } = Promise.withResolvers<{ status: number }>()
  hanging.receiver.answer(() => isOver)
  await w.recordEach(40)
  const worker = w.addWorker()
  const drained = worker.drain()
  await w.receiver.reached(40)
  assert.ok(hanging.receiver.received.length <= 16)
  await w.db.sql`update webhook_endpoints set removed_at = now() where id = ${bad.id}`
  end({ status: 200 })
  await worker.stop()
  void drained
})

test('an event that cannot be decrypted fails after three attempts and blocks nothing', async () => {
  const w = await webhookWorld()
  const subject = randomUUID()
  const [broken] = await w.record(subject, [{ n: 1 }])
  await w.db.sql`update events set payload = ${Buffer.alloc(80, 1)} where id = ${broken ?? ''}`
  await w.record(subject, [{ n: 2 }])
  await w.record(randomUUID(), [{ n: 3 }])
  await w.drain()
  const sent = () => w.receiver.received.map(({ body }) => body.n)
  assert.deepEqual(sent(), [3])
  for (const seconds of [5, 30]) {
    w.clock.advance(seconds * 1000)
    await w.drain()
  }
  assert.deepEqual(sent(), [3, 2])
  const failed = await w.db.sql`
    select error
    from webhook_attempts
    where workspace_id = ${w.workspaceId}`
  assert.deepEqual(
    failed.map(({ error }) => error),
    ['internal', 'internal', 'internal'],
  )
  assert.equal((await w.queue()).failures_in_a_row, 0)
})

test('a removed event fails, and later events are delivered', async () => {
  const w = await webhookWorld()
  const subject = randomUUID()
  w.receiver.answer(() => ({ status: 500 }))
  const [gone] = await w.record(subject, [{ n: 1 }])
  await w.record(subject, [{ n: 2 }])
  await w.drain()
  await w.db.sql`delete from events where workspace_id = ${w.workspaceId} and id = ${gone ?? ''}`
  w.receiver.answer(() => ({ status: 200 }))
  w.clock.advance(5000)
  await w.drain()
  assert.deepEqual(
    (await w.deliveries()).map(({ state }) => state),
    ['failed', 'delivered'],
  )
})
