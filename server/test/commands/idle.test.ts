import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openDb } from '../../src/base/db.ts'
import { startWorker } from '../../src/commands/start/worker.ts'
import { createSequencer } from '../../src/events/sequencer.ts'
import { claimQueues, releaseQueue } from '../../src/webhooks/endpoint/queue-queries.ts'
import { statementCountOf, testDatabase } from '../support/database.ts'
import { drivenLoops } from '../support/driven-loops.ts'
import { atEnd } from '../support/file-end.ts'
import { webhookWorld } from '../support/webhooks/webhook-world.ts'

test('a node that has nothing to do asks at most 15 statements a second, and delivers what comes then', async () => {
  const w = await webhookWorld()
  const { repeat, pass, errors } = drivenLoops((ms) => w.clock.advance(ms))
  const worker = startWorker({ ...w, repeat })
  await pass(10_000)
  const seconds = 60
  const count = await statementCountOf(() => pass(seconds * 1_000))
  assert.ok(count <= 15 * seconds, `${count} statements in ${seconds} s`)
  const [id] = await w.record(randomUUID(), [{ n: 1 }])
  await w.receiver.reached(1)
  assert.deepEqual(w.sentIds(), [id])
  await worker.stop()
  assert.deepEqual(errors, [])
})

test('what another process has recorded and placed is delivered within 5 s, also when its news are lost', async () => {
  const w = await webhookWorld()
  const { repeat, pass, errors } = drivenLoops((ms) => w.clock.advance(ms))
  const worker = startWorker({ ...w, repeat })
  await pass(10_000)
  const other = openDb((await testDatabase()).options)
  atEnd(() => other.close())
  const [id] = await w.record(randomUUID(), [{ n: 1 }], 'lead.updated', other)
  await createSequencer(other).place(w.workspaceId)
  await pass(5_000)
  await w.receiver.reached(1)
  assert.deepEqual(w.sentIds(), [id])
  await worker.stop()
  assert.deepEqual(errors, [])
})

test('what a worker that stops gives back is gone on with by another within a second', async () => {
  const w = await webhookWorld()
  const other = openDb((await testDatabase()).options)
  atEnd(() => other.close())
  const [id] = await w.record(randomUUID(), [{ n: 1 }])
  await w.sequencer.place(w.workspaceId)
  const [claimed] = await other.statement((tx) => claimQueues(tx, 'all', 1, w.clock.now(), w.workspaceId))
  assert.ok(claimed !== undefined)
  const { repeat, pass, errors } = drivenLoops((ms) => w.clock.advance(ms))
  const worker = startWorker({ ...w, repeat })
  await pass(11_000)
  assert.deepEqual(w.sentIds(), [])
  const lease = { workspaceId: w.workspaceId, endpointId: w.endpointId, owner: claimed.owner }
  await other.statement((tx) => releaseQueue(tx, lease, { generation: 1, cursor: claimed.cursor, successor: null }))
  await pass(1_000)
  await w.receiver.reached(1)
  assert.deepEqual(w.sentIds(), [id])
  await worker.stop()
  assert.deepEqual(errors, [])
})
