import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyWebhook, type WebhookEvent, WebhookVerificationError } from '../../../client/src/webhooks.ts'
import { createSecret } from '../../src/webhooks/endpoint/signing.ts'
import { webhookWorld } from '../support/webhooks/webhook-world.ts'

async function delivered() {
  const w = await webhookWorld()
  await w.lead({ firstName: 'Ana' })
  await w.drain()
  const [received] = w.receiver.received
  assert.ok(received !== undefined)
  const { headers, text: body, id } = received
  return { ...w, webhook: { headers, body, secret: w.secret.value, now: w.clock.now() }, id }
}

test('valid signatures are accepted with all forms of headers and bodies', async () => {
  const { webhook, id } = await delivered()
  const asRequest = new Request('http://127.0.0.1', { headers: webhook.headers as Record<string, string> })
  const bytes = new TextEncoder().encode(webhook.body)
  const rotated = [createSecret().value, webhook.secret]
  const forms = [
    webhook,
    { ...webhook, headers: asRequest.headers },
    { ...webhook, body: bytes },
    { ...webhook, secret: rotated },
  ]
  for (const form of forms) {
    const event = await verifyWebhook(form)
    assert.deepEqual([event.id, event.event], [id, 'lead.created'])
    if (event.event === 'lead.created') assert.equal(event.payload.firstName, 'Ana')
  }
})

test('modified, old and wrongly signed webhooks are rejected', async () => {
  const { webhook } = await delivered()
  const { headers, now } = webhook
  const later = new Date(now.getTime() + 6 * 60_000)
  const changes: object[] = [
    { body: webhook.body.replace('Ana', 'Bob') },
    { secret: createSecret().value },
    { secret: [] },
    { secret: 'whsec_' },
    { now: later },
    { now: new Date(now.getTime() - 6 * 60_000) },
    { headers: { ...headers, 'webhook-id': 'another' } },
    { headers: { ...headers, 'webhook-timestamp': 'NaN' } },
    { headers: { ...headers, 'webhook-signature': undefined } },
    { headers: { ...headers, 'webhook-signature': `v1a,x v1,§ ${String(headers['webhook-signature']).slice(0, -4)}` } },
  ]
  for (const change of changes)
    await assert.rejects(verifyWebhook({ ...webhook, ...change }), WebhookVerificationError, JSON.stringify(change))
  assert.equal((await verifyWebhook({ ...webhook, now: later, toleranceMs: 7 * 60_000 })).event, 'lead.created')
})

test('inbox events are unwrapped from their envelope', async () => {
  const w = await webhookWorld({ events: ['inbox.*'] })
  const payload = { conversation_id: w.endpointId, owner: 'human', actor: { type: 'user', id: w.keyId }, at: 'now' }
  await w.record(w.endpointId, [payload], 'inbox.conversation.owner_changed')
  await w.drain()
  const [received] = w.receiver.received
  assert.ok(received !== undefined)
  const { headers, text: body } = received
  const event: WebhookEvent = await verifyWebhook({ headers, body, secret: w.secret.value, now: w.clock.now() })
  assert.equal(event.event, 'inbox.conversation.owner_changed')
  assert.deepEqual(event.payload, payload)
})
