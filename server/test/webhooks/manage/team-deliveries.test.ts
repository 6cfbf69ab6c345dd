import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventNames } from '../../../src/webhooks/event-catalog.ts'
import { verifyWebhook } from '../../support/webhooks/verify-webhook.ts'
import { startReceiver } from '../../support/webhooks/webhook-receiver.ts'
import { deliveryWorld } from '../../support/webhooks/webhook-world.ts'

test('a test of each event reaches the endpoint, and the official library verifies it', async () => {
  const w = await deliveryWorld({ events: ['lead.created'], headers: { 'X-Shop': '7' } })
  const { body } = await w.admin.call('GET', '/webhook-events')
  for (const { name, sample } of body.events) {
    const { delivery } = await w.ok('POST', `/${w.id}/test`, { event: name })
    await w.drain()
    const [webhook = assert.fail()] = w.receiver.received.slice(-1)
    assert.deepEqual([webhook.id, webhook.event, webhook.headers['x-shop']], [delivery.eventId, name, '7'])
    const verified = verifyWebhook(w.secret, webhook, w.clock.now()) as object
    assert.deepEqual(Object.keys(verified), Object.keys(sample), name)
    const shown = (await w.ok('GET', `/${w.id}/deliveries/${delivery.eventId}`)).delivery
    assert.deepEqual([shown.state, shown.attempts, shown.request.body], ['delivered', 1, webhook.text])
    for (const [header, value] of Object.entries(shown.request.headers)) {
      if (header !== 'X-Shop') assert.equal(webhook.headers[header], value, header)
    }
  }
  assert.equal(w.receiver.received.length, eventNames.length)
})

test('a test is tried once and does not affect the health of the endpoint', async () => {
  const w = await deliveryWorld()
  w.receiver.answer(() => ({ status: 500, body: 'not now' }))
  const { delivery } = await w.ok('POST', `/${w.id}/test`, { event: 'lead.created' })
  await w.drain()
  w.clock.advance(60_000)
  await w.drain()
  assert.deepEqual(w.sent(), [delivery.eventId])
  const shown = (await w.ok('GET', `/${w.id}/deliveries/${delivery.eventId}`)).delivery
  assert.deepEqual([shown.state, shown.attemptList[0].status, shown.attemptList[0].answer], ['failed', 500, 'not now'])
  assert.equal((await w.ok('GET', `/${w.id}`)).endpoint.health.failuresInARow, 0)
})

test('a replay sends undelivered events, or all of its range', async () => {
  const w = await deliveryWorld()
  const from = w.clock.now().toISOString()
  await w.lead()
  await w.drain()
  const [taken = ''] = w.sent()
  w.receiver.answer(() => ({ status: 500 }))
  await w.lead()
  await w.drain()
  const [failed = ''] = w.sent()
  await w.db.sql`
    update webhook_deliveries set state = 'failed', due_at = null where event_id = ${failed} and endpoint_id = ${w.id}`
  w.receiver.answer(() => ({ status: 204 }))

  await w.ok('POST', `/${w.id}/replays`, { from, scope: 'undelivered' })
  await w.drain()
  assert.deepEqual(w.sent(), [failed])
  await w.ok('POST', `/${w.id}/replays`, { from, scope: 'all' })
  await w.drain()
  assert.deepEqual(w.sent().sort(), [taken, failed].sort())
  const [all, undelivered] = (await w.ok('GET', `/${w.id}/replays`)).replays
  assert.deepEqual([all.queued, undelivered.queued], [2, 1])
  assert.ok(all.finishedAt !== null && undelivered.finishedAt !== null)
})

test('pending events of a disabled endpoint are sent only with sendSince', async () => {
  const w = await deliveryWorld()
  w.receiver.answer(() => ({ status: 500 }))
  await w.lead()
  await w.drain()
  const [waiting] = w.sent()
  await w.ok('POST', `/${w.id}/disable`)
  await w.lead()
  w.receiver.answer(() => ({ status: 204 }))
  w.clock.advance(60_000)
  await w.drain()
  assert.deepEqual(w.sent(), [])

  await w.ok('POST', `/${w.id}/enable`, {})
  await w.drain()
  assert.deepEqual(w.sent(), [])

  await w.ok('POST', `/${w.id}/disable`)
  const sendSince = new Date(w.clock.now().getTime() - 120_000).toISOString()
  await w.ok('POST', `/${w.id}/enable`, { sendSince })
  const [{ from, to, scope }] = (await w.ok('GET', `/${w.id}/replays`)).replays
  assert.deepEqual([from, to, scope], [sendSince, w.clock.now().toISOString(), 'undelivered'])
  await w.drain()
  const missed = w.sent()
  assert.equal(missed.length, 2)
  assert.equal(missed[0], waiting)
})

test('a masked endpoint gets no phone in any event', async () => {
  const w = await deliveryWorld({ phoneVisibility: 'masked' })
  await w.lead({ phone: '5511900000001' })
  for (const event of eventNames) await w.ok('POST', `/${w.id}/test`, { event })
  await w.drain()
  assert.equal(w.receiver.received.length, 1 + eventNames.length)
  for (const { text } of w.receiver.received) assert.ok(!text.includes('5511900000001'), text)
  assert.ok(w.receiver.received.some(({ text }) => text.includes('55119*****001')))
})

test("an endpoint that sees phones gets none of a lead's former numbers, which are recorded for the mask", async () => {
  const w = await deliveryWorld()
  const { id } = await w.lead({ phone: '5511900000001' })
  await w.call('PATCH', `/api/v1/leads/${id}`, { body: { phone: '5511900000002' } })
  assert.deepEqual((await w.events(id)).at(-1)?.payload.formerPhones, ['5511900000001'])
  await w.drain()
  const [, changed = assert.fail()] = w.receiver.received
  assert.equal(changed.body.phone, '5511900000002')
  assert.doesNotMatch(changed.text, /5511900000001|formerPhones/)
})

test('during a rotation both secrets verify, afterwards only the new one', async () => {
  const w = await deliveryWorld()
  const { secret: fresh } = await w.ok('POST', `/${w.id}/rotate-secret`, { overlapHours: 1 })
  const last = async () => {
    await w.lead()
    await w.drain()
    return w.receiver.received.at(-1) ?? assert.fail()
  }
  const during = await last()
  verifyWebhook(w.secret, during, w.clock.now())
  verifyWebhook(fresh, during, w.clock.now())
  w.clock.advance(3_600_000)
  const after = await last()
  verifyWebhook(fresh, after, w.clock.now())
  assert.throws(() => verifyWebhook(w.secret, after, w.clock.now()))
})

test('a changed URL and changed headers apply to pending events', async () => {
  const w = await deliveryWorld()
  w.receiver.answer(() => ({ status: 500 }))
  await w.lead()
  await w.drain()
  const [waiting] = w.sent()
  const other = await startReceiver()
  await w.ok('PATCH', `/${w.id}`, { url: other.url, headers: { 'X-Shop': '8' } })
  w.clock.advance(6_000)
  await w.drain()
  assert.deepEqual(w.sent(), [])
  assert.deepEqual(
    other.received.map(({ id, headers }) => [id, headers['x-shop']]),
    [[waiting, '8']],
  )
})

test('a deleted endpoint gets nothing', async () => {
  const w = await deliveryWorld()
  await w.lead()
  await w.ok('DELETE', `/${w.id}`)
  await w.drain()
  assert.deepEqual(w.sent(), [])
})
