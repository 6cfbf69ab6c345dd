import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstIdAt } from '../../../src/base/id.ts'
import { deleteOldWebhookLog } from '../../../src/webhooks/retention.ts'
import { statementsOf, vacuum } from '../../support/database.ts'
import { oncePerFile } from '../../support/file-lifecycle.ts'
import { findBadPlans } from '../../support/query-plans.ts'
import { type WebhookApi, webhookApi } from '../../support/webhooks/webhook-world.ts'

interface Filled {
  w: WebhookApi
  id: string
  leadId: string
  eventId: string
}

/** A feed with its deliveries at one endpoint: one in fifty failed, the last ten pending. */
async function filled(count: number): Promise<Filled> {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const { workspaceId, db, clock } = w
  const { leadId, eventId } = await w.newLead()
  await w.sequencer.sequence(w.workspaceId)
  const idStart = firstIdAt(clock.now()).slice(0, 13)
  await db.sql`
    insert into events (workspace_id, id, name, subject_id, payload, occurred_at, position)
    select ${workspaceId}, (${idStart} || substr(gen_random_uuid()::text, 14))::uuid, 'lead.updated', gen_random_uuid(), '', ${clock.now()}, 1 + n
    from generate_series(1, ${count}) as n`
  await db.sql`update event_feeds set last_position = ${count + 1} where workspace_id = ${workspaceId}`
  await db.sql`
    insert into webhook_deliveries (
      workspace_id, endpoint_id, position, event_id, event_name, subject_id, occurred_at, masked, state, generation,
      round_attempts, attempts, due_at, delivered_at, delivered_ms, delivered_status
    )
    select workspace_id, ${id}, position, id, name, subject_id, occurred_at, false,
      case when position > ${count - 9} then 'pending' when position % 50 = 0 then 'failed' else 'delivered' end,
      1, 1, 1, case when position > ${count - 9} then ${clock.now()}::timestamptz end,
      case when position <= ${count - 9} and position % 50 > 0 then occurred_at end, 84, 204
    from events
    where workspace_id = ${workspaceId}
      and position > 1`
  await db.sql`
    insert into webhook_attempts (workspace_id, endpoint_id, position, number, at, status, ms)
    select workspace_id, endpoint_id, position, 1, occurred_at, 500, 20
    from webhook_deliveries
    where workspace_id = ${workspaceId}
      and state <> 'delivered'`
  return { w, id, leadId, eventId }
}

async function useEverything({ w, id, leadId, eventId }: Filled): Promise<void> {
  await w.ok('GET', '')
  await w.ok('GET', `/${id}`)
  const from = new Date(w.clock.now().getTime() - 86_400_000).toISOString()
  for (const query of [
    '',
    'state=pending',
    'state=failed',
    'state=cancelled',
    'state=delivered',
    'event=lead.deleted',
    'answer=5xx',
    'answer=none',
    `about=${eventId}`,
    `about=${leadId}`,
    `from=${from}&to=${w.clock.now().toISOString()}`,
  ]) {
    const { nextCursor } = await w.ok('GET', `/${id}/deliveries?limit=5&${query}`)
    if (nextCursor !== null) await w.ok('GET', `/${id}/deliveries?limit=5&${query}&cursor=${nextCursor}`)
  }
  await w.ok('POST', `/${id}/deliveries/${eventId}/resend`)
  await w.ok('GET', `/${id}/deliveries/${eventId}`)
  await w.ok('POST', `/${id}/test`, { event: 'lead.created' })
  await w.ok('POST', `/${id}/replays`, { from, scope: 'all' })
  await w.ok('GET', `/${id}/replays`)
  await w.ok('GET', `/${id}/stats?hours=720`)
  await w.ok('POST', `/${id}/disable`)
  await w.ok('POST', `/${id}/enable`, {})
  await deleteOldWebhookLog(w.db, w.clock.now())
}

const tables = ['events', 'webhook_deliveries', 'webhook_attempts']
const large = oncePerFile(() => filled(40_000))

test('a page with a selective filter reads a bounded part of the log and returns a cursor', async () => {
  const { w, id } = await large()
  let pages = 0
  for (let next = ''; next !== null; pages++) {
    const page = await w.ok('GET', `/${id}/deliveries?event=lead.deleted${next && `&cursor=${next}`}`)
    assert.deepEqual(page.deliveries, [])
    next = page.nextCursor
  }
  assert.ok(pages > 3, String(pages))
})

test('statistics of a long feed are sampled and close to the exact values', async () => {
  const { w, id } = await large()
  const stats = await w.ok('GET', `/${id}/stats`)
  const { delivered, failedAttempts, msP50 } = stats.buckets.at(-1)
  assert.ok(stats.sampledEvery > 1)
  assert.equal(msP50, 84)
  // 39,191 and 809; the tolerance is many standard deviations of the sample.
  assert.ok(Math.abs(delivered - 39_191) < 1_300, String(delivered))
  assert.ok(Math.abs(failedAttempts - 809) < 400, String(failedAttempts))
})

test('webhook routes never scan large tables, in large and small workspaces', async () => {
  const workspaces = [await large(), await filled(200)]
  await vacuum()
  for (const each of workspaces) {
    const statements = await statementsOf(() => useEverything(each))
    assert.deepEqual(await findBadPlans(each.w.db, statements, tables), [])
  }
})
