import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openDb, type SentStatement } from '../../src/base/db.ts'
import { startWorker } from '../../src/cli/serve.ts'
import { createSequencer } from '../../src/events/sequence.ts'
import { claimQueues, releaseQueue } from '../../src/webhooks/endpoint/queue-queries.ts'
import { everyStatementOf, testDatabase } from '../support/database.ts'
import { atEnd } from '../support/file-lifecycle.ts'
import { webhookWorld } from '../support/webhooks/webhook-world.ts'
import { drivenLoops } from './driven-loops.ts'

/** Of a driven minute, in which it has nothing to do: 3.2 a second, most of them a look each 5 or 15 s for news that were lost. */
const mostInMinute = 200

test('an idle node runs about 190 statements a minute, and delivers new work', async () => {
  const w = await webhookWorld()
  const { repeat, pass, errors } = drivenLoops((ms) => w.clock.advance(ms))
  const worker = startWorker({ ...w, repeat })
  await pass(90_000)
  const sent = await everyStatementOf(() => pass(60_000))
  assert.ok(sent.length <= mostInMinute, tellOf(sent))
  const [id] = await w.record(randomUUID(), [{ n: 1 }])
  await w.receiver.reached(1)
  assert.deepEqual(w.sentIds(), [id])
  await worker.stop()
  assert.deepEqual(errors, [])
})

function tellOf(sent: readonly SentStatement[]): string {
  const counts = [...Map.groupBy(sent, ({ text }) => text.replaceAll(/\s+/g, ' ').slice(0, 100))]
  const lines = counts.sort(([, a], [, b]) => b.length - a.length).map(([text, { length }]) => `${length} × ${text}`)
  return [`${sent.length} statements in a minute`, ...lines].join('\n')
}

test('events sequenced by another process are delivered within 5 s, even if its notifications are lost', async () => {
  const w = await webhookWorld()
  const { repeat, pass, errors } = drivenLoops((ms) => w.clock.advance(ms))
  const worker = startWorker({ ...w, repeat })
  await pass(10_000)
  const other = openDb((await testDatabase()).options)
  atEnd(() => other.close())
  const [id] = await w.record(randomUUID(), [{ n: 1 }], 'lead.updated', other)
  await createSequencer(other).sequence(w.workspaceId)
  await pass(5_000)
  await w.receiver.reached(1)
  assert.deepEqual(w.sentIds(), [id])
  await worker.stop()
  assert.deepEqual(errors, [])
})

test('work released by a stopping worker is continued by another within a second', async () => {
  const w = await webhookWorld()
  const other = openDb((await testDatabase()).options)
  atEnd(() => other.close())
  const [id] = await w.record(randomUUID(), [{ n: 1 }])
  await w.sequencer.sequence(w.workspaceId)
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
