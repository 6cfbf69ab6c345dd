import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Db } from '../../../src/base/db.ts'
import { relayMessages } from '../../../src/base/pubsub.ts'
import { createSequencer } from '../../../src/events/sequence.ts'
import { planRebalance } from '../../../src/webhooks/deliver/rebalance.ts'
import { openNode, testDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { type WebhookWorld, webhookWorld } from '../../support/webhooks/webhook-world.ts'

const relay = async (db: Db) => {
  const stop = await relayMessages(db, () => {})
  atEnd(async () => stop())
}

const endpointCount = 8
const holding = (session: string, queues: number) => ({ session, queues })

test('a worker requests half of the difference from the busiest one, in limited steps', () => {
  assert.equal(planRebalance([holding('own', 0)]), null)
  assert.equal(planRebalance([holding('own', 0), holding('a', 3)]), null)
  assert.equal(planRebalance([holding('own', 48), holding('a', 52)]), null)
  assert.equal(planRebalance([holding('own', 9), holding('a', 2)]), null)
  assert.deepEqual(planRebalance([holding('own', 1), holding('a', 6), holding('b', 9)]), {
    from: 'b',
    to: 'own',
    count: 4,
  })
  assert.deepEqual(planRebalance([holding('own', 0), holding('a', 300)]), { from: 'a', to: 'own', count: 20 })
})

test('a worker that starts during steady traffic gets its share without lost, repeated or reordered events', async () => {
  const w = await webhookWorld({ headers: { 'x-endpoint': '0' } })
  for (let n = 1; n < endpointCount; n++) await w.addEndpoint({ headers: { 'x-endpoint': String(n) } })
  const first = w.addWorker()
  first.start()
  await relay(w.db)
  const subjects = Array.from({ length: 5 }, () => randomUUID())
  let n = 0
  const write = async () => {
    await Promise.all(subjects.map((subject) => w.record(subject, [{ subject, n }])))
    n++
    await w.receiver.reached((n - 2) * subjects.length * endpointCount)
  }
  while ((await heldByEach(w))[0] !== endpointCount) await write()

  const db = openNode((await testDatabase()).options)
  atEnd(() => db.close())
  await relay(db)
  const second = w.addWorker({ db, sequencer: createSequencer(db) })
  second.start()
  while (Math.min(...(await heldByEach(w))) > endpointCount / 2) await write()
  for (let more = 0; more < 10; more++) await write()
  await w.receiver.reached(n * subjects.length * endpointCount)
  await Promise.all([first.stop(), second.stop()])

  const inOrder = Array.from({ length: n }, (_, at) => at)
  for (const [lane, sent] of Map.groupBy(
    w.receiver.received,
    ({ headers, body }) => `${headers['x-endpoint']} ${body.subject}`,
  )) {
    assert.deepEqual(
      sent.map(({ body }) => body.n),
      inOrder,
      lane,
    )
  }
})

/** Returns how many queues of the workspace each worker holds. */
async function heldByEach({ db, workspaceId }: WebhookWorld): Promise<number[]> {
  const rows = await db.sql<{ held: number }[]>`
    select count(*) as held
    from webhook_queues
    where workspace_id = ${workspaceId}
      and lease_owner is not null
    group by lease_session
    order by held`
  return rows.map(({ held }) => held)
}
