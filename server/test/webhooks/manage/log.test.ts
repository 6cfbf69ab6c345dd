import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sealAnswer } from '../../../src/webhooks/deliver/bodies.ts'
import { hooksPath, type WebhookApi, webhookApi } from '../../support/webhooks/webhook-api.ts'

/** Writes what a worker would: the attempts of a delivery that waits, the last of them taken if wanted. */
async function attempt(
  w: WebhookApi,
  endpointId: string,
  eventId: string,
  outcome: 'delivered' | 'failed' | 'waiting',
  failed: readonly { status: number | null; error: string | null }[] = [],
): Promise<void> {
  const keyring = await w.vault.keyring(w.workspaceId)
  const [row] = await w.db.sql<{ position: number }[]>`
    select position from webhook_deliveries where endpoint_id = ${endpointId} and event_id = ${eventId}`
  const position = row?.position ?? 0
  const now = w.clock.now()
  for (const [n, { status, error }] of failed.entries()) {
    const answer = sealAnswer(keyring, { endpointId, position, number: n + 1 }, Buffer.from('not now'))
    await w.db.sql`
      insert into webhook_attempts (workspace_id, endpoint_id, position, number, at, status, ms, error, answer)
      values (${w.workspaceId}, ${endpointId}, ${position}, ${n + 1}, ${now}, ${status}, 20, ${error}, ${answer})`
  }
  const attempts = failed.length + (outcome === 'delivered' ? 1 : 0)
  if (outcome === 'delivered') {
    const answer = sealAnswer(keyring, { endpointId, position, number: attempts }, Buffer.from('thanks'))
    await w.db.sql`
      update webhook_deliveries
      set state = 'delivered', attempts = ${attempts}, due_at = null, delivered_at = ${now}, delivered_status = 204,
        delivered_ms = 84, delivered_answer = ${answer}
      where endpoint_id = ${endpointId} and position = ${position}`
  } else {
    await w.db.sql`
      update webhook_deliveries
      set state = ${outcome === 'failed' ? 'failed' : 'pending'}, attempts = ${attempts}
      where endpoint_id = ${endpointId} and position = ${position}`
  }
}

async function queued(w: WebhookApi, endpointId: string): Promise<{ leadId: string; eventId: string }> {
  const { id: leadId } = await w.lead({ phone: '5511987654321' })
  const [eventId = ''] = await w.eventIds(leadId)
  await w.ok('POST', `/${endpointId}/deliveries/${eventId}/resend`)
  return { leadId, eventId }
}

test('a delivery shows its state, its attempts and what the last one came to', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const { leadId, eventId } = await queued(w, id)
  const now = w.clock.now().toISOString()
  const fresh = (await w.ok('GET', `/${id}/deliveries`)).deliveries
  assert.deepEqual(fresh, [
    {
      eventId,
      event: 'lead.created',
      subjectId: leadId,
      occurredAt: now,
      state: 'pending',
      attempts: 0,
      nextAttemptAt: now,
      lastAttempt: null,
    },
  ])
  const failed = { status: 500, error: null }
  await attempt(w, id, eventId, 'delivered', [failed])
  const [delivery] = (await w.ok('GET', `/${id}/deliveries`)).deliveries
  assert.deepEqual([delivery.state, delivery.attempts, delivery.nextAttemptAt], ['delivered', 2, null])
  assert.deepEqual(delivery.lastAttempt, { at: now, status: 204, ms: 84, error: null, explanation: null })
})

test('deliveries are searched by event, by lead and by how they were answered', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const sent = [await queued(w, id), await queued(w, id), await queued(w, id), await queued(w, id)] as const
  const [taken, refused, silent, waiting] = sent
  await attempt(w, id, taken.eventId, 'delivered', [{ status: 503, error: null }])
  await attempt(w, id, refused.eventId, 'waiting', [{ status: 500, error: null }])
  await attempt(w, id, silent.eventId, 'failed', [
    { status: 500, error: null },
    { status: null, error: 'timeout' },
  ])
  const found = async (query: string): Promise<string[]> =>
    (await w.ok('GET', `/${id}/deliveries?${query}`)).deliveries.map((one: { eventId: string }) => one.eventId)
  const cases: [query: string, found: { eventId: string }[]][] = [
    [`about=${taken.eventId}`, [taken]],
    [`about=${refused.leadId}`, [refused]],
    [`about=${randomUUID()}`, []],
    ['answer=204', [taken]],
    ['answer=2xx', [taken]],
    ['answer=500', [refused]],
    ['answer=5xx', [refused]],
    ['answer=none', [silent]],
    [`answer=5xx&about=${silent.leadId}`, []],
    [`state=failed&about=${silent.leadId}`, [silent]],
    ['', [waiting, silent, refused, taken]],
  ]
  for (const [query, expected] of cases) {
    const eventIds = expected.map(({ eventId }) => eventId)
    assert.deepEqual(await found(query), eventIds, query)
  }
  const other = await webhookApi()
  const { id: theirs } = await other.endpoint()
  assert.deepEqual((await other.ok('GET', `/${theirs}/deliveries?about=${taken.leadId}`)).deliveries, [])
  for (const wrong of ['answer=600', 'answer=5', 'about=lead']) {
    assert.equal((await w.admin.call('GET', `${hooksPath}/${id}/deliveries?${wrong}`)).status, 400, wrong)
  }
})

test('one delivery shows every attempt with the beginning of its answer, and the request as it is sent', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint({ headers: { Authorization: 'Bearer hidden-value' } })
  const { leadId, eventId } = await queued(w, id)
  await attempt(w, id, eventId, 'delivered', [
    { status: 302, error: null },
    { status: null, error: 'timeout' },
  ])
  const { delivery } = await w.ok('GET', `/${id}/deliveries/${eventId}`)
  const seen = delivery.attemptList.map((one: Record<string, unknown>) => [
    one.number,
    one.status,
    one.error,
    one.answer,
  ])
  assert.deepEqual(seen, [
    [1, 302, null, 'not now'],
    [2, null, 'timeout', 'not now'],
    [3, 204, null, 'thanks'],
  ])
  const explanations = delivery.attemptList.map((one: { explanation: string | null }) => one.explanation)
  assert.match(explanations[0], /redirects are not followed/)
  assert.match(explanations[1], /15 seconds/)
  assert.equal(explanations[2], null)
  const { headers, body } = delivery.request
  assert.deepEqual(
    [headers['webhook-id'], headers['webhook-event'], headers.Authorization],
    [eventId, 'lead.created', '…'],
  )
  assert.ok(!('webhook-signature' in headers))
  assert.equal(JSON.parse(body).id, leadId)
  assert.equal(JSON.parse(body).phone, '5511987654321')
})

test('a body that was masked once stays masked, and one of a masked endpoint is masked', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint({ phoneVisibility: 'masked' })
  const { eventId } = await queued(w, id)
  const phone = async () => JSON.parse((await w.ok('GET', `/${id}/deliveries/${eventId}`)).delivery.request.body).phone
  assert.equal(await phone(), '55119*****321')
  await w.ok('PATCH', `/${id}`, { phoneVisibility: 'full' })
  assert.equal(await phone(), '55119*****321')
  await w.ok('POST', `/${id}/deliveries/${eventId}/resend`)
  assert.equal(await phone(), '55119*****321')
})

test('sending again begins a new round and keeps the attempts before it', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const { eventId } = await queued(w, id)
  await attempt(w, id, eventId, 'delivered', [{ status: 500, error: null }])
  w.clock.advance(60_000)
  await w.ok('POST', `/${id}/deliveries/${eventId}/resend`)
  const { delivery } = await w.ok('GET', `/${id}/deliveries/${eventId}`)
  assert.deepEqual(
    [delivery.state, delivery.attempts, delivery.nextAttemptAt],
    ['pending', 2, w.clock.now().toISOString()],
  )
  const seen = delivery.attemptList.map((one: Record<string, unknown>) => [one.number, one.status, one.answer])
  assert.deepEqual(seen, [
    [1, 500, 'not now'],
    [2, 204, 'thanks'],
  ])
  const [row] = await w.db.sql`
    select round_attempts, delivered_at from webhook_deliveries where event_id = ${eventId}`
  assert.deepEqual(row, { round_attempts: 0, delivered_at: null })
  const [queue] = await w.db.sql`select retry_at from webhook_queues where endpoint_id = ${id}`
  assert.ok(queue?.retry_at <= w.clock.now())
})

test('an event that was never sent here, or is of another kind, can be sent; one that is not kept cannot', async () => {
  const w = await webhookApi()
  const { id: leadId } = await w.lead()
  const [eventId] = await w.eventIds(leadId)
  const { id } = await w.endpoint({ events: ['inbox.*'] })
  assert.equal((await w.admin.call('GET', `${hooksPath}/${id}/deliveries/${eventId}`)).status, 404)
  await w.ok('POST', `/${id}/deliveries/${eventId}/resend`)
  assert.equal((await w.ok('GET', `/${id}/deliveries/${eventId}`)).delivery.state, 'pending')
  const unknown = await w.admin.call('POST', `${hooksPath}/${id}/deliveries/${randomUUID()}/resend`)
  assert.equal(unknown.status, 404)
  assert.match(unknown.body.statusMessage, /30 days/)
})

test('a test event waits for its endpoint alone, in front of what waits, and is in no feed', async () => {
  const w = await webhookApi()
  const one = await w.endpoint({ events: ['inbox.*'] })
  const other = await w.endpoint()
  const { delivery } = await w.ok('POST', `/${one.id}/test`, { event: 'lead.updated' })
  const [listed] = (await w.ok('GET', `/${one.id}/deliveries`)).deliveries
  assert.deepEqual([listed.eventId, listed.event, listed.state], [delivery.eventId, 'lead.updated', 'pending'])
  assert.deepEqual((await w.ok('GET', `/${other.id}/deliveries`)).deliveries, [])
  assert.equal((await w.ok('GET', `/${other.id}`)).endpoint.health.waiting, 0)
  const resent = await w.admin.call('POST', `${hooksPath}/${other.id}/deliveries/${delivery.eventId}/resend`)
  assert.equal(resent.status, 404)
  const feed = await w.call('GET', '/api/v1/events')
  assert.deepEqual(feed.body.events, [])
  const { request } = (await w.ok('GET', `/${one.id}/deliveries/${delivery.eventId}`)).delivery
  assert.equal(JSON.parse(request.body).previousStatus, 'new')
})

test('deliveries are paged newest first, each once, by a cursor that belongs to the endpoint', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.unshift((await queued(w, id)).eventId)
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page: { deliveries: { eventId: string }[]; nextCursor: string | null } = await w.ok(
      'GET',
      `/${id}/deliveries?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`,
    )
    seen.push(...page.deliveries.map(({ eventId }) => eventId))
    cursor = page.nextCursor
  } while (cursor !== null)
  assert.deepEqual(seen, ids)

  const { nextCursor } = await w.ok('GET', `/${id}/deliveries?limit=2`)
  const other = await w.endpoint()
  for (const bad of [nextCursor, 'garbage']) {
    assert.equal((await w.admin.call('GET', `${hooksPath}/${other.id}/deliveries?cursor=${bad}`)).status, 400)
  }
})

test('deliveries are found by state, by event and by time', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const cancelled = await queued(w, id)
  await w.ok('POST', `/${id}/disable`)
  await w.ok('POST', `/${id}/enable`, {})
  w.clock.advance(3_600_000)
  const later = w.clock.now().toISOString()
  const delivered = await queued(w, id)
  await attempt(w, id, delivered.eventId, 'delivered')
  const failed = await queued(w, id)
  await attempt(w, id, failed.eventId, 'failed', [{ status: 404, error: null }])
  await w.call('DELETE', `/api/v1/leads/${failed.leadId}`)
  const [, deleted = ''] = await w.eventIds(failed.leadId)
  await w.ok('POST', `/${id}/deliveries/${deleted}/resend`)

  const found = async (query: string) =>
    (await w.ok('GET', `/${id}/deliveries?${query}`)).deliveries.map((one: { eventId: string }) => one.eventId)
  assert.deepEqual(await found('state=cancelled'), [cancelled.eventId])
  assert.deepEqual(await found('state=delivered'), [delivered.eventId])
  assert.deepEqual(await found('state=failed'), [failed.eventId])
  assert.deepEqual(await found('state=pending'), [deleted])
  assert.deepEqual(await found('event=lead.deleted'), [deleted])
  assert.deepEqual(await found(`from=${later}`), [deleted, failed.eventId, delivered.eventId])
  assert.deepEqual(await found(`to=${new Date(Date.parse(later) - 1).toISOString()}`), [cancelled.eventId])
  assert.deepEqual(await found(`from=${later}&state=failed&event=lead.created`), [failed.eventId])
  for (const bad of ['state=lost', 'event=lead.*', 'from=soon', 'limit=101', 'unknown=1']) {
    assert.equal((await w.admin.call('GET', `${hooksPath}/${id}/deliveries?${bad}`)).status, 400, bad)
  }
})

test('the numbers for a chart are those of the events of each hour', async () => {
  const w = await webhookApi()
  const hourMs = 3_600_000
  const hour = new Date(Math.ceil(w.clock.now().getTime() / hourMs) * hourMs)
  w.clock.set(hour)
  const { id } = await w.endpoint()
  const first = await queued(w, id)
  const second = await queued(w, id)
  w.clock.advance(2000)
  await attempt(w, id, first.eventId, 'delivered', [{ status: 500, error: null }])
  await attempt(w, id, second.eventId, 'waiting', [
    { status: 500, error: null },
    { status: null, error: 'dns' },
  ])
  const stats = await w.ok('GET', `/${id}/stats`)
  assert.deepEqual([stats.unit, stats.sampledEvery, stats.buckets.length], ['hour', 1, 24])
  assert.deepEqual(stats.buckets.at(-1), {
    start: hour.toISOString(),
    delivered: 1,
    failedAttempts: 3,
    msP50: 84,
    msP95: 84,
    delayMsP50: 2000,
    delayMsP95: 2000,
  })
  // What was delivered and is sent again counts by the first time it was taken.
  w.clock.advance(hourMs)
  await w.ok('POST', `/${id}/deliveries/${first.eventId}/resend`)
  const later = await w.ok('GET', `/${id}/stats`)
  const { delivered, delayMsP50 } = later.buckets.at(-2)
  assert.deepEqual([delivered, delayMsP50], [1, 2000])
  const month = await w.ok('GET', `/${id}/stats?hours=720`)
  assert.deepEqual([month.unit, month.buckets.length, month.buckets.at(-1).delivered], ['day', 30, 1])
  assert.equal((await w.admin.call('GET', `${hooksPath}/${id}/stats?hours=721`)).status, 400)
})
