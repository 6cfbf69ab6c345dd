import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteOldWebhookLog } from '../../src/webhooks/retention.ts'
import { type WebhookApi, webhookApi } from '../support/webhooks/webhook-world.ts'

const dayMs = 86_400_000

interface Old {
  position: number
  ageDays: number
  state?: 'pending' | 'delivered' | 'failed'
  generation?: number
}

async function insertDeliveries(w: WebhookApi, endpointId: string, rows: readonly Old[]): Promise<void> {
  for (const { position, ageDays, state = 'delivered', generation = 1 } of rows) {
    const at = new Date(w.clock.now().getTime() - ageDays * dayMs)
    await w.db.sql`
      insert into webhook_deliveries (
        workspace_id, endpoint_id, position, event_id, event_name, subject_id, occurred_at, masked, state, generation,
        round_attempts, attempts
      )
      values (
        ${w.workspaceId}, ${endpointId}, ${position}, gen_random_uuid(), 'lead.created', gen_random_uuid(), ${at}, false,
        ${state}, ${generation}, 1, 1
      )`
    await w.db.sql`
      insert into webhook_attempts (workspace_id, endpoint_id, position, number, at, ms)
      values (${w.workspaceId}, ${endpointId}, ${position}, 1, ${at}, 1)`
  }
}

async function left(w: WebhookApi, endpointId: string): Promise<number[]> {
  const rows = await w.db.sql<{ position: number }[]>`
    select d.position
    from webhook_deliveries d
    join webhook_attempts a using (workspace_id, endpoint_id, position)
    where d.endpoint_id = ${endpointId}
    order by d.position`
  return rows.map(({ position }) => position)
}

test('deliveries are kept for 30 days, pending ones of active endpoints longer', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const { id: disabled } = await w.endpoint()
  const rows: Old[] = [
    { position: 1, ageDays: 31 },
    { position: 2, ageDays: 31, state: 'failed' },
    { position: 3, ageDays: 31, state: 'pending' },
    { position: 4, ageDays: 31, state: 'pending', generation: 0 },
    { position: 5, ageDays: 29 },
    { position: 6, ageDays: 31 },
  ]
  await insertDeliveries(w, id, rows)
  await insertDeliveries(w, disabled, rows)
  await w.ok('POST', `/${disabled}/disable`)
  assert.equal(await deleteOldWebhookLog(w.db, w.clock.now()), 9)
  assert.deepEqual(await left(w, id), [3, 5])
  assert.deepEqual(await left(w, disabled), [5])
  assert.equal(await deleteOldWebhookLog(w.db, w.clock.now()), 0)
})

test('several batches are deleted, and only old deliveries', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const old = new Date(w.clock.now().getTime() - 31 * dayMs)
  await w.db.sql`
    insert into webhook_deliveries (
      workspace_id, endpoint_id, position, event_id, event_name, subject_id, occurred_at, masked, state, generation,
      round_attempts, attempts
    )
    select ${w.workspaceId}::uuid, ${id}::uuid, n, gen_random_uuid(), 'lead.created', gen_random_uuid(),
      case when n <= 2300 then ${old}::timestamptz else ${w.clock.now()}::timestamptz end, false, 'delivered', 1, 1, 1
    from generate_series(1, 3500) as n`
  assert.equal(await deleteOldWebhookLog(w.db, w.clock.now()), 2300)
})

test('the log of a removed endpoint is deleted after its last requests, finished replays after 30 days', async () => {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const { id: kept } = await w.endpoint()
  await insertDeliveries(w, id, [{ position: 1, ageDays: 0 }])
  await w.ok('POST', `/${kept}/replays`, { from: w.clock.now().toISOString(), scope: 'all' })
  await w.ok('POST', `/${kept}/disable`)
  await w.ok('DELETE', `/${id}`)
  await deleteOldWebhookLog(w.db, w.clock.now())
  assert.deepEqual(await left(w, id), [1])
  w.clock.advance(3_600_001)
  await deleteOldWebhookLog(w.db, w.clock.now())
  const counts = async () => {
    const [row] = await w.db.sql<{ endpoints: number; replays: number }[]>`
      select
        (select count(*) from webhook_endpoints where workspace_id = ${w.workspaceId}) as endpoints,
        (select count(*) from webhook_replays where workspace_id = ${w.workspaceId}) as replays`
    return row
  }
  assert.deepEqual(await counts(), { endpoints: 1, replays: 1 })
  await deleteOldWebhookLog(w.db, new Date(w.clock.now().getTime() + 30 * dayMs))
  assert.deepEqual(await counts(), { endpoints: 1, replays: 0 })
})
