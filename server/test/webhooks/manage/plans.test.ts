import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstIdAt } from '../../../src/base/id.ts'
import { sweepWebhookLog } from '../../../src/webhooks/retention.ts'
import { statementsOf, vacuum } from '../../support/database.ts'
import { badPlans } from '../../support/plans.ts'
import { type WebhookApi, webhookApi } from '../../support/webhooks/webhook-api.ts'

interface Filled {
  w: WebhookApi
  id: string
  leadId: string
  eventId: string
}

/** A feed, and what became of it at one endpoint: one in fifty has failed, the last ten wait. */
async function filled(count: number): Promise<Filled> {
  const w = await webhookApi()
  const { id } = await w.endpoint()
  const { workspaceId, db, clock } = w
  const { id: leadId } = await w.lead()
  const [eventId = ''] = await w.eventIds(leadId)
  await w.place()
  const idStart = firstIdAt(clock.now()).slice(0, 13)
  await db.sql`
    insert into events (workspace_id, id, name, subject_id, payload, occurred_at, position)
    select ${workspaceId}, (${idStart} || substr(gen_random_uuid()::text, 14))::uuid, 'lead.updated', gen_random_uuid(), '', ${clock.now()}, 1 + n
    from generate_series(1, ${count}) as n`
  await db.sql`update event_feeds set last_position = ${count + 1} where workspace_id = ${workspaceId}`
  await db.sql`
    insert into webhook_deliveries (
      workspace_id, endpoint_id, position, event_id, event_name, subject_id, occurred_at, masked, state, generation,
      round_attempts, attempts, due_at
    )
    select workspace_id, ${id}, position, id, name, subject_id, occurred_at, false,
      case when position > ${count - 9} then 'pending' when position % 50 = 0 then 'failed' else 'delivered' end,
      1, 1, 1, case when position > ${count - 9} then ${clock.now()}::timestamptz end
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
  await sweepWebhookLog(w.db, w.clock.now())
}

const tables = ['events', 'webhook_deliveries', 'webhook_attempts']

test('no webhook route reads a big table from end to end, in a large workspace as in a small one beside it', async () => {
  const large = await filled(40_000)
  const small = await filled(200)
  await vacuum()
  for (const each of [large, small]) {
    const statements = await statementsOf(() => useEverything(each))
    assert.deepEqual(await badPlans(each.w.db, statements, tables), [])
  }
})

test('a page of a rare kind reads a bounded part of the log, and says where to go on', async () => {
  const { w, id } = await filled(12_000)
  const first = await w.ok('GET', `/${id}/deliveries?event=lead.deleted`)
  assert.deepEqual(first.deliveries, [])
  const second = await w.ok('GET', `/${id}/deliveries?event=lead.deleted&cursor=${first.nextCursor}`)
  const third = await w.ok('GET', `/${id}/deliveries?event=lead.deleted&cursor=${second.nextCursor}`)
  assert.deepEqual([third.deliveries, third.nextCursor], [[], null])
})

test('the numbers of a long feed are those of a sample, and come close', async () => {
  const { w, id } = await filled(30_000)
  await w.db.sql`
    update webhook_deliveries
    set delivered_at = occurred_at, delivered_ms = 84, delivered_status = 204
    where endpoint_id = ${id}
      and state = 'delivered'`
  const stats = await w.ok('GET', `/${id}/stats`)
  const { delivered, failedAttempts, msP50 } = stats.buckets.at(-1)
  assert.ok(stats.sampledEvery > 1)
  assert.equal(msP50, 84)
  // 29,391 and 609; what is allowed is many standard deviations of the sample.
  assert.ok(Math.abs(delivered - 29_391) < 1_000, String(delivered))
  assert.ok(Math.abs(failedAttempts - 609) < 300, String(failedAttempts))
})
