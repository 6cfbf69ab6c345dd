import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createReplay } from '../../../src/webhooks/endpoint/replay.ts'
import { type WebhookWorld, webhookWorld } from '../../support/webhooks/webhook-world.ts'

/** The hour before. */
async function replayAll(w: WebhookWorld): Promise<void> {
  const range = { from: new Date(w.clock.now().getTime() - 3_600_000), to: w.clock.now(), scope: 'all' as const }
  const endpoint = { workspaceId: w.workspaceId, id: w.endpointId, phoneVisibility: 'full' as const }
  await w.db.tx((tx) => createReplay(tx, endpoint, range, w.clock.now()))
}

test('a replayed range is sent in order, before new events', async () => {
  const w = await webhookWorld()
  const subject = randomUUID()
  await w.record(subject, [{ n: 0 }, { n: 1 }, { n: 2 }])
  await w.drain()
  await replayAll(w)
  await w.record(subject, [{ n: 3 }])
  await w.drain()
  assert.deepEqual(
    w.receiver.received.map(({ body }) => body.n),
    [0, 1, 2, 0, 1, 2, 3],
  )
})

test('a replay of several batches is complete', async () => {
  const w = await webhookWorld()
  await w.recordEach(1001)
  await w.drain()
  await replayAll(w)
  await w.drain()
  assert.equal(w.receiver.received.length, 2002)
  const [job] = await w.db.sql`
    select queued, finished_at
    from webhook_replays
    where workspace_id = ${w.workspaceId}`
  assert.equal(job?.queued, 1001)
  assert.ok(job?.finished_at)
})

for (const status of [200, 500]) {
  for (const isRetry of [false, true]) {
    const attempt = isRetry ? 'a second attempt' : 'the first attempt'
    test(`an event resent while ${attempt} is in progress, which gets ${status}, is sent again`, async () => {
      const w = await webhookWorld()
      const last = isRetry ? 2 : 1
      const answered = Promise.withResolvers<{ status: number }>()
      w.receiver.answer(({ number }) => {
        if (number < last) return { status: 503 }
        return number === last ? answered.promise : { status: 204 }
      })
      const [id = ''] = await w.record(randomUUID(), [{ n: 0 }])
      if (isRetry) {
        await w.drain()
        w.clock.advance(60_000)
      }
      const drained = w.drain()
      await w.receiver.reached(last)
      await w.redeliver(id)
      answered.resolve({ status })
      await drained
      assert.deepEqual(w.sentIds(), Array(last + 1).fill(id))
      const [row] = await w.deliveries()
      assert.deepEqual(
        { state: row?.state, attempts: row?.attempts, round: row?.round_attempts },
        { state: 'delivered', attempts: last + 1, round: 1 },
      )
      const log = await w.db.sql<{ number: number; status: number }[]>`
        select number, status
        from webhook_attempts
        where workspace_id = ${w.workspaceId}
        order by number`
      assert.deepEqual(
        log.map(({ number, status }) => [number, status]),
        [...(isRetry ? [[1, 503]] : []), [last, status]],
      )
    })
  }
}
