import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { webhookWorld } from '../../support/webhooks/webhook-world.ts'

test('two workers share the endpoints and send every event once', async () => {
  const w = await webhookWorld()
  for (let n = 0; n < 3; n++) await w.addEndpoint()
  await w.recordEach(20)
  const other = w.addWorker()
  await Promise.all([w.drain(), other.drain()])
  await w.drain()
  assert.equal(w.receiver.received.length, 80)
})

test('a worker that has lost its lease writes nothing, and the new owner sends again', async () => {
  const w = await webhookWorld()
  const answered = Promise.withResolvers<{ status: number }>()
  w.receiver.answer(({ number }) => (number === 1 ? answered.promise : { status: 200 }))
  const [id] = await w.record(randomUUID(), [{ n: 1 }])
  const first = w.drain()
  await w.receiver.reached(1)
  await w.expireLeases()
  await w.addWorker().drain()
  answered.resolve({ status: 500 })
  await first
  assert.deepEqual(w.sentIds(), [id, id])
  const [row] = await w.deliveries()
  assert.deepEqual({ state: row?.state, attempts: row?.attempts }, { state: 'delivered', attempts: 1 })
})

test('an expired but unclaimed lease is still valid: nothing is sent twice', async () => {
  const w = await webhookWorld()
  w.receiver.answer(async () => {
    await w.expireLeases()
    return { status: 200 }
  })
  await w.record(randomUUID(), [{ n: 1 }])
  await w.drain()
  await w.drain()
  assert.equal(w.receiver.received.length, 1)
})

test('an endpoint disabled during a request gets nothing more, and the result is saved', async () => {
  const w = await webhookWorld()
  const subject = randomUUID()
  const answered = Promise.withResolvers<{ status: number }>()
  w.receiver.answer(() => answered.promise)
  await w.record(subject, [{ n: 1 }, { n: 2 }])
  const drained = w.drain()
  await w.receiver.reached(1)
  await w.db.sql`update webhook_endpoints set state = 'disabled', state_reason = 'member' where id = ${w.endpointId}`
  await w.db.sql`update webhook_queues set generation = generation + 1 where endpoint_id = ${w.endpointId}`
  answered.resolve({ status: 500 })
  await drained
  assert.equal(w.receiver.received.length, 1)
  assert.deepEqual(
    (await w.deliveries()).map(({ state, generation }) => ({ state, generation })),
    [
      { state: 'pending', generation: 1 },
      { state: 'pending', generation: 1 },
    ],
  )
  w.clock.advance(86_400_000)
  await w.drain()
  assert.equal(w.receiver.received.length, 1)
})

test('a stopped worker finishes running requests and releases its leases', async () => {
  const w = await webhookWorld()
  const subject = randomUUID()
  const answered = Promise.withResolvers<{ status: number }>()
  w.receiver.answer(({ number }) => (number === 1 ? answered.promise : { status: 200 }))
  const worker = w.addWorker()
  worker.start()
  await w.record(subject, [{ n: 1 }, { n: 2 }])
  await w.receiver.reached(1)
  const stopped = worker.stop()
  answered.resolve({ status: 200 })
  await stopped
  assert.equal((await w.queue()).lease_owner, null)
  assert.equal((await w.deliveries()).length, 1)
  await w.drain()
  assert.deepEqual(
    w.receiver.received.map(({ body }) => body.n),
    [1, 2],
  )
})
