import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openReplay } from '../../src/webhooks/replay.ts'
import { type WebhookWorld, webhookWorld } from '../support/webhook-world.ts'

async function replay(w: WebhookWorld, scope: 'undelivered' | 'all'): Promise<void> {
  const range = { from: new Date(w.clock.now().getTime() - 3_600_000), to: w.clock.now(), scope }
  const endpoint = { workspaceId: w.workspaceId, id: w.endpointId, phoneVisibility: 'full' as const }
  await w.db.tx((tx) => openReplay(tx, endpoint, range, w.clock.now()))
}

test('a range of time that is sent again goes in order, before anything new', async () => {
  const w = await webhookWorld()
  const subject = randomUUID()
  await w.record(subject, [{ n: 0 }, { n: 1 }, { n: 2 }])
  await w.drain()
  await replay(w, 'all')
  await w.record(subject, [{ n: 3 }])
  await w.drain()
  assert.deepEqual(
    w.receiver.received.map(({ body }) => body.n),
    [0, 1, 2, 0, 1, 2, 3],
  )
})

test('of what was not delivered only that is sent again', async () => {
  const w = await webhookWorld()
  await w.record(randomUUID(), [{ n: 0 }])
  await w.drain()
  const [lost] = await w.record(randomUUID(), [{ n: 1 }])
  await w.drain()
  await w.db.sql`update webhook_deliveries set state = 'failed' where event_id = ${lost ?? ''}`
  await replay(w, 'undelivered')
  await w.drain()
  assert.deepEqual(
    w.receiver.received.map(({ body }) => body.n),
    [0, 1, 1],
  )
})

test('more than one batch of a replay is worked off whole', async () => {
  const w = await webhookWorld()
  for (let n = 0; n < 3; n++) {
    await w.record(
      randomUUID(),
      Array.from({ length: 700 }, (_, index) => ({ n: n * 700 + index })),
    )
  }
  await w.drain()
  await replay(w, 'all')
  await w.drain()
  assert.equal(w.receiver.received.length, 4200)
  const [job] = await w.db.sql`
    select queued, finished_at
    from webhook_replays
    where workspace_id = ${w.workspaceId}`
  assert.equal(job?.queued, 2100)
  assert.ok(job?.finished_at)
})

test('an event that was first sent with phones hidden never shows more, whatever the endpoint is set to later', async () => {
  const w = await webhookWorld({
    phoneVisibility: 'masked',
    deps: { present: (_name, payload) => ({ ...payload, phone: '***' }) },
  })
  w.receiver.answer(({ number }) => ({ status: number === 1 ? 500 : 200 }))
  await w.record(randomUUID(), [{ phone: '5581991234567' }])
  await w.drain()
  await w.db.sql`update webhook_endpoints set phone_visibility = 'full' where id = ${w.endpointId}`
  w.clock.advance(5000)
  await w.record(randomUUID(), [{ phone: '5581997654321' }])
  await w.drain()
  assert.deepEqual(w.receiver.received.map(({ body }) => body.phone).sort(), ['***', '***', '5581997654321'])
})
