import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { signedInMember } from '../../support/member.ts'
import { hooksPath, type WebhookApi, webhookApi } from '../../support/webhooks/webhook-world.ts'

const dayMs = 86_400_000

async function queueOf(w: WebhookApi, id: string) {
  const [queue] = await w.db.sql`
    select cursor, generation, retry_at, lease_owner from webhook_queues where endpoint_id = ${id}`
  return queue
}

test('a new endpoint gets no earlier events', async () => {
  const w = await webhookApi()
  await w.lead()
  await w.lead()
  const { id } = await w.endpoint()
  assert.equal((await queueOf(w, id))?.cursor, 2)
})

test('disabling has a reason with a hint, cancels pending deliveries, and is idempotent', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const { eventId } = await w.newLead()
  await w.ok('POST', `/${id}/deliveries/${eventId}/resend`)
  await w.ok('POST', `/${id}/replays`, { from: w.clock.now().toISOString(), scope: 'all' })
  assert.equal((await w.ok('GET', `/${id}`)).endpoint.health.waiting, 1)

  const { endpoint } = await w.ok('POST', `/${id}/disable`)
  assert.equal(endpoint.state, 'disabled')
  assert.deepEqual(endpoint.stateReason, { code: 'member', message: 'A member disabled it. Enable it to resume.' })
  assert.equal(endpoint.health.waiting, 0)
  const [delivery] = (await w.ok('GET', `/${id}/deliveries`)).deliveries
  assert.deepEqual([delivery.state, delivery.nextAttemptAt], ['cancelled', null])
  assert.notEqual((await w.ok('GET', `/${id}/replays`)).replays[0].finishedAt, null)

  const { generation } = (await queueOf(w, id)) ?? {}
  await w.ok('POST', `/${id}/disable`)
  assert.equal((await queueOf(w, id))?.generation, generation)
})

test('an enabled endpoint gets new events and has a clean health record', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  await w.ok('POST', `/${id}/disable`)
  await w.lead()
  await w.db.sql`
    update webhook_queues
    set failing_since = now(), failures_in_a_row = 9, paused_until = now(), lease_owner = ${randomUUID()}
    where endpoint_id = ${id}`
  const { endpoint } = await w.ok('POST', `/${id}/enable`, {})
  const { failingSince, failuresInARow, pausedUntil, waiting } = endpoint.health
  assert.deepEqual([failingSince, failuresInARow, pausedUntil, waiting], [null, 0, null, 0])
  assert.deepEqual([endpoint.state, endpoint.stateReason], ['active', null])
  const queue = await queueOf(w, id)
  assert.deepEqual([queue?.cursor, queue?.lease_owner], [1, null])
  assert.deepEqual((await w.ok('GET', `/${id}/replays`)).replays, [])
})

test('enabling an active endpoint changes nothing, and refuses sendSince with 409', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  await w.ok('POST', `/${id}/enable`, {})
  const sendSince = w.clock.now().toISOString()
  const { status, body } = await w.admin.call('POST', `${hooksPath}/${id}/enable`, { sendSince })
  assert.equal(status, 409)
  assert.match(body.statusMessage, /replay/)
})

test('times that are in the future, beyond 30 days, reversed or malformed are rejected by name', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const at = (ms: number) => new Date(w.clock.now().getTime() + ms).toISOString()
  const refused: [string, object, string][] = [
    ['enable', { sendSince: at(1) }, 'sendSince'],
    ['enable', { sendSince: at(-30 * dayMs - 1) }, 'sendSince'],
    ['enable', { sendSince: 'yesterday' }, 'sendSince'],
    ['replays', { from: at(1), scope: 'all' }, 'from'],
    ['replays', { from: at(-31 * dayMs), scope: 'all' }, 'from'],
    ['replays', { from: at(-10), to: at(1), scope: 'all' }, 'to'],
    ['replays', { from: at(-10), to: at(-20), scope: 'all' }, 'to'],
    ['replays', { from: at(-10), scope: 'some' }, 'scope'],
    ['rotate-secret', { overlapHours: 169 }, 'overlapHours'],
    ['rotate-secret', { overlapHours: -1 }, 'overlapHours'],
    ['test', { event: 'lead.*' }, 'event'],
  ]
  for (const [route, input, path] of refused) {
    const { status, body } = await w.admin.call('POST', `${hooksPath}/${id}/${route}`, input)
    assert.equal(status, 400, `${route} ${JSON.stringify(input)}`)
    assert.equal(body.data.issues[0].path, path)
  }
})

test('a rotated secret is shown once, and the old one signs until the overlap ends', async () => {
  const w = await webhookApi()
  const { id, secret } = await w.endpoint()
  const rotated = await w.ok('POST', `/${id}/rotate-secret`, {})
  assert.notEqual(rotated.secret, secret)
  const tomorrow = new Date(w.clock.now().getTime() + dayMs).toISOString()
  assert.deepEqual(rotated.endpoint.secrets, { valid: 2, oldUntil: tomorrow })
  w.clock.advance(dayMs)
  const admin = await signedInMember(w, 'admin')
  const { endpoint } = (await admin.call('GET', `${hooksPath}/${id}`)).body
  assert.deepEqual(endpoint.secrets, { valid: 1, oldUntil: null })
  // Ends a leaked secret at once.
  const ended = await admin.call('POST', `${hooksPath}/${id}/rotate-secret`, { overlapHours: 0 })
  assert.deepEqual(ended.body.endpoint.secrets, { valid: 1, oldUntil: null })
})

test('at most five replays can be open', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const body = { from: w.clock.now().toISOString(), scope: 'all' }
  const open = () => w.admin.call('POST', `${hooksPath}/${id}/replays`, body)
  const statuses = (await Promise.all(Array.from({ length: 7 }, open))).map(({ status }) => status).sort()
  assert.deepEqual(statuses, [201, 201, 201, 201, 201, 409, 409])
})

test('a disabled endpoint accepts no test, resend or replay: 409 says to enable it first', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const { eventId } = await w.newLead()
  await w.ok('POST', `/${id}/disable`)
  for (const [path, input] of [
    ['test', { event: 'lead.created' }],
    [`deliveries/${eventId}/resend`, undefined],
    ['replays', { from: w.clock.now().toISOString(), scope: 'all' }],
  ] as const) {
    const { status, body } = await w.admin.call('POST', `${hooksPath}/${id}/${path}`, input)
    assert.equal(status, 409, path)
    assert.match(body.statusMessage, /enable it first/)
  }
})

test('every change is recorded in the audit log', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const { eventId } = await w.newLead()
  await w.ok('PATCH', `/${id}`, { description: 'x' })
  await w.ok('POST', `/${id}/rotate-secret`, {})
  await w.ok('POST', `/${id}/test`, { event: 'lead.created' })
  await w.ok('POST', `/${id}/deliveries/${eventId}/resend`)
  await w.ok('POST', `/${id}/replays`, { from: w.clock.now().toISOString(), scope: 'all' })
  await w.ok('POST', `/${id}/disable`)
  await w.ok('POST', `/${id}/enable`, {})
  await w.ok('DELETE', `/${id}`)
  const { body } = await w.admin.call('GET', '/audit')
  const lines = body.entries.map(({ action, target, actor }: Record<string, unknown>) => ({ action, target, actor }))
  const actor = { type: 'user', id: w.admin.userId }
  const actions = ['created', 'changed', 'secret-rotated', 'tested', 'event-resent', 'replay-opened']
  const expected = [...actions, 'disabled', 'enabled', 'deleted']
    .toReversed()
    .map((what) => ({ action: `webhook.${what}`, target: `webhook:${id}`, actor }))
  assert.deepEqual(lines, expected)
})
