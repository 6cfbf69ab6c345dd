import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { verifyWebhook } from '../../support/webhooks/verify-webhook.ts'
import { type DeliveryWorld, deliveryWorld, hooksPath, webhookApi } from '../../support/webhooks/webhook-world.ts'

// biome-ignore lint/suspicious/noExplicitAny: as in Answer
type Json = any

/** The receiver responds to each event with its list of responses, then with success. */
function script(w: DeliveryWorld, answers: Record<string, (number | 'cut')[]>): void {
  w.receiver.answer(({ id }) => {
    const next = answers[id]?.shift() ?? 200
    if (next === 'cut') return next
    // A cut request on a reused connection is repeated automatically.
    return { status: next, headers: { connection: 'close' }, body: next < 300 ? 'thanks' : 'not now' }
  })
}

const list = async (w: DeliveryWorld, query = ''): Promise<Json[]> =>
  (await w.ok('GET', `/${w.id}/deliveries?${query}`)).deliveries
const show = async (w: DeliveryWorld, eventId: string): Promise<Json> =>
  (await w.ok('GET', `/${w.id}/deliveries/${eventId}`)).delivery
const resend = (w: DeliveryWorld, eventId: string) => w.ok('POST', `/${w.id}/deliveries/${eventId}/resend`)

/** Runs this many attempts of undelivered events, each when it is due. */
async function attempt(w: DeliveryWorld, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    if (n > 0) w.clock.advance(n === 1 ? 5_000 : 30_000)
    await w.drain()
  }
}

test('deliveries can be filtered by event, lead, state, time and response', async () => {
  const w = await deliveryWorld()
  const cancelled = await w.newLead()
  await resend(w, cancelled.eventId)
  await w.ok('POST', `/${w.id}/disable`)
  await w.ok('POST', `/${w.id}/enable`, {})
  w.clock.advance(3_600_000)
  const later = w.clock.now().toISOString()
  const [taken, refused, silent] = [await w.newLead(), await w.newLead(), await w.newLead()]
  script(w, {
    [taken.eventId]: [503],
    [refused.eventId]: [503, 500],
    [silent.eventId]: [500, 'cut'],
  })
  await attempt(w, 2)
  await w.db.sql`update webhook_deliveries set state = 'failed' where event_id = ${silent.eventId}`
  await w.call('DELETE', `/api/v1/leads/${silent.leadId}`)
  const [, deletedId = ''] = await w.eventIds(silent.leadId)
  await resend(w, deletedId)
  const deleted = { eventId: deletedId }
  const cases: [query: string, found: { eventId: string }[]][] = [
    [`about=${taken.eventId}`, [taken]],
    [`about=${refused.leadId}`, [refused]],
    [`about=${randomUUID()}`, []],
    ['answer=200', [taken]],
    ['answer=2xx', [taken]],
    ['answer=500', [refused]],
    ['answer=5xx', [refused]],
    ['answer=none', [silent]],
    [`answer=5xx&about=${silent.leadId}`, []],
    [`state=failed&about=${silent.leadId}`, [silent]],
    ['state=cancelled', [cancelled]],
    ['state=delivered', [taken]],
    ['state=failed', [silent]],
    ['state=pending', [deleted, refused]],
    ['event=lead.deleted', [deleted]],
    [`from=${later}`, [deleted, silent, refused, taken]],
    [`to=${new Date(Date.parse(later) - 1).toISOString()}`, [cancelled]],
    [`from=${later}&state=failed&event=lead.created`, [silent]],
    ['', [deleted, silent, refused, taken, cancelled]],
  ]
  for (const [query, expected] of cases) {
    assert.deepEqual(
      (await list(w, query)).map(({ eventId }) => eventId),
      expected.map(({ eventId }) => eventId),
      query,
    )
  }
  const other = await deliveryWorld()
  assert.deepEqual(await list(other, `about=${taken.leadId}`), [])
  const wrong = ['answer=600', 'answer=5', 'about=lead', 'state=lost', 'event=lead.*', 'from=soon', 'limit=101']
  for (const query of [...wrong, 'unknown=1']) {
    assert.equal((await w.admin.call('GET', `${hooksPath}/${w.id}/deliveries?${query}`)).status, 400, query)
  }
})

test('a delivery has all attempts with the start of the response, and the request', async () => {
  const w = await deliveryWorld({ headers: { Authorization: 'Bearer hidden-value' } })
  const { leadId, eventId } = await w.newLead({ phone: '5511987654321' })
  script(w, { [eventId]: [302, 'cut'] })
  await attempt(w, 3)
  const { attemptList, request } = await show(w, eventId)
  assert.deepEqual(
    attemptList.map((one: Json) => [one.number, one.status, one.error, one.answer]),
    [
      [1, 302, null, 'not now'],
      [2, null, 'reset', null],
      [3, 200, null, 'thanks'],
    ],
  )
  const [redirect, cut, taken] = attemptList.map((one: Json) => one.explanation)
  assert.match(redirect, /redirects are not followed/)
  assert.match(cut, /./)
  assert.equal(taken, null)
  const { headers, body } = request
  assert.deepEqual(
    [headers['webhook-id'], headers['webhook-event'], headers.Authorization],
    [eventId, 'lead.created', '…'],
  )
  assert.ok(!('webhook-signature' in headers))
  const { id, phone } = JSON.parse(body)
  assert.deepEqual([id, phone], [leadId, '5511987654321'])
})

test('a body that was masked once stays masked, and a masked endpoint masks all', async () => {
  const w = await deliveryWorld({ phoneVisibility: 'masked' })
  const { eventId } = await w.newLead({ phone: '5511987654321' })
  await resend(w, eventId)
  const phone = async () => JSON.parse((await show(w, eventId)).request.body).phone
  assert.equal(await phone(), '55119*****321')
  await w.ok('PATCH', `/${w.id}`, { phoneVisibility: 'full' })
  assert.equal(await phone(), '55119*****321')
  await resend(w, eventId)
  assert.equal(await phone(), '55119*****321')
})

test('a resend starts a new round, keeps earlier attempts, and has a new timestamp and signature', async () => {
  const w = await deliveryWorld()
  const { eventId } = await w.newLead()
  script(w, { [eventId]: [500, 200, 500] })
  await attempt(w, 2)
  w.clock.advance(60_000)
  await resend(w, eventId)
  const waiting = await show(w, eventId)
  assert.deepEqual(
    [waiting.state, waiting.attempts, waiting.nextAttemptAt],
    ['pending', 2, w.clock.now().toISOString()],
  )
  await attempt(w, 2)
  const seen = (await show(w, eventId)).attemptList.map((one: Json) => [one.number, one.status, one.answer])
  assert.deepEqual(seen, [
    [1, 500, 'not now'],
    [2, 200, 'thanks'],
    [3, 500, 'not now'],
    [4, 200, 'thanks'],
  ])
  const [, first = assert.fail(), , second = assert.fail()] = w.receiver.received
  assert.deepEqual([second.id, second.text], [first.id, first.text])
  assert.notEqual(second.headers['webhook-signature'], first.headers['webhook-signature'])
  verifyWebhook(w.secret, second, w.clock.now())
})

test('an event that was never sent or has another name can be resent; a removed one cannot', async () => {
  const w = await deliveryWorld({ events: ['inbox.*'] })
  const { eventId } = await w.newLead()
  assert.equal((await w.admin.call('GET', `${hooksPath}/${w.id}/deliveries/${eventId}`)).status, 404)
  await resend(w, eventId)
  assert.equal((await show(w, eventId)).state, 'pending')
  const unknown = await w.admin.call('POST', `${hooksPath}/${w.id}/deliveries/${randomUUID()}/resend`)
  assert.equal(unknown.status, 404)
  assert.match(unknown.body.statusMessage, /30 days/)
})

test('a test event is for its endpoint only, bypasses the backlog, and is not in the feed', async () => {
  const w = await deliveryWorld({ events: ['inbox.*'] })
  const other = await w.endpoint()
  const { delivery } = await w.ok('POST', `/${w.id}/test`, { event: 'lead.updated' })
  const [listed] = await list(w)
  assert.deepEqual([listed.eventId, listed.event, listed.state], [delivery.eventId, 'lead.updated', 'pending'])
  assert.deepEqual((await w.ok('GET', `/${other.id}/deliveries`)).deliveries, [])
  assert.equal((await w.ok('GET', `/${other.id}`)).endpoint.health.waiting, 0)
  const resent = await w.admin.call('POST', `${hooksPath}/${other.id}/deliveries/${delivery.eventId}/resend`)
  assert.equal(resent.status, 404)
  assert.deepEqual((await w.call('GET', '/api/v1/events')).body.events, [])
  assert.equal(JSON.parse((await show(w, delivery.eventId)).request.body).previousStatus, 'new')
})

test('deliveries are paged newest first, each once, with a cursor of the endpoint', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const ids: string[] = []
  for (let n = 0; n < 5; n++) {
    const { eventId } = await w.newLead()
    await w.ok('POST', `/${id}/deliveries/${eventId}/resend`)
    ids.unshift(eventId)
  }
  const seen: string[] = []
  let next = ''
  while (next !== null) {
    const page: Json = await w.ok('GET', `/${id}/deliveries?limit=2${next && `&cursor=${next}`}`)
    seen.push(...page.deliveries.map(({ eventId }: { eventId: string }) => eventId))
    next = page.nextCursor
  }
  assert.deepEqual(seen, ids)

  const { nextCursor } = await w.ok('GET', `/${id}/deliveries?limit=2`)
  const other = await w.endpoint()
  for (const bad of [nextCursor, 'garbage']) {
    assert.equal((await w.admin.call('GET', `${hooksPath}/${other.id}/deliveries?cursor=${bad}`)).status, 400)
  }
})

test('statistics count the events of each hour', async () => {
  const w = await deliveryWorld()
  const hourMs = 3_600_000
  const hour = new Date(Math.ceil(w.clock.now().getTime() / hourMs) * hourMs)
  w.clock.set(hour)
  const [first, second] = [await w.newLead(), await w.newLead()]
  script(w, { [first.eventId]: [500], [second.eventId]: [500, 'cut'] })
  await attempt(w, 2)
  const stats = await w.ok('GET', `/${w.id}/stats`)
  assert.deepEqual([stats.unit, stats.sampledEvery, stats.buckets.length], ['hour', 1, 24])
  const { msP50, msP95, ...counts } = stats.buckets.at(-1)
  const delays = { delayMsP50: 5000, delayMsP95: 5000 }
  assert.deepEqual(counts, { start: hour.toISOString(), delivered: 1, failedAttempts: 3, ...delays })
  assert.ok(msP50 >= 0 && msP95 >= msP50)
  // A delivered event that was resent counts with its first success.
  w.clock.advance(hourMs)
  await resend(w, first.eventId)
  const { delivered, delayMsP50 } = (await w.ok('GET', `/${w.id}/stats`)).buckets.at(-2)
  assert.deepEqual([delivered, delayMsP50], [1, 5000])
  const month = await w.ok('GET', `/${w.id}/stats?hours=720`)
  assert.deepEqual([month.unit, month.buckets.length, month.buckets.at(-1).delivered], ['day', 30, 1])
  assert.equal((await w.admin.call('GET', `${hooksPath}/${w.id}/stats?hours=721`)).status, 400)
})
