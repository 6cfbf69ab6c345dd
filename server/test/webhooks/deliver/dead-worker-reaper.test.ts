import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Db, processName } from '../../../src/base/db.ts'
import { createDeadWorkerReaper } from '../../../src/webhooks/deliver/rebalance.ts'
import { type ClaimedQueue, claimQueues, releaseQueue } from '../../../src/webhooks/endpoint/queue-queries.ts'
import { openNode, testDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'
import { type WebhookWorld, webhookWorld } from '../../support/webhooks/webhook-world.ts'

async function anotherPool(): Promise<Db> {
  const db = openNode((await testDatabase()).options)
  atEnd(() => db.close())
  return db
}

/** The database of another process, which has claimed the queue of the world. */
async function anotherWorker(w: WebhookWorld): Promise<Db> {
  const db = await anotherPool()
  await w.recordEach(1)
  await w.sequencer.sequence(w.workspaceId)
  assert.equal(await claim(db, w), 1)
  return db
}

/** Returns the number of claimed queues. */
async function claim(db: Db, w: WebhookWorld): Promise<number> {
  return (await claimed(db, w)).length
}

function claimed(db: Db, { workspaceId, clock }: WebhookWorld): Promise<ClaimedQueue[]> {
  return db.statement((tx) => claimQueues(tx, 'all', 1, clock.now(), workspaceId))
}

/** Releases the claimed queue to the named worker or to anyone. */
async function release(db: Db, w: WebhookWorld, [queue]: ClaimedQueue[], successor: string | null): Promise<void> {
  assert.ok(queue !== undefined)
  const lease = { workspaceId: w.workspaceId, endpointId: w.endpointId, owner: queue.owner }
  await db.statement((tx) => releaseQueue(tx, lease, { generation: 1, cursor: 0, successor }))
}

/** Checks with a controlled clock, after the grace period. */
async function looker(db: Db) {
  let atMs = 0
  const look = createDeadWorkerReaper(db, () => atMs)
  const lookAfter = (ms: number) => {
    atMs += ms
    return look()
  }
  await look()
  await lookAfter(60_000)
  return lookAfter
}

/** Simulates a database restart. */
async function endSessions(of: Db, by: Db): Promise<void> {
  await by.sql`
    select pg_terminate_backend(pid, 5000)
    from pg_stat_activity
    where datname = current_database()
      and application_name = ${processName(of.sql)}`
}

/** A session reconnects with its next statement; one outside the pooler does so on its own. */
async function isSeen(of: Db, by: Db): Promise<boolean> {
  await of.sql`select 1`.catch(() => {})
  const rows = await by.sql`
    select
    from pg_stat_activity
    where datname = current_database()
      and application_name = ${processName(of.sql)}`
  return rows.length > 0
}

test('the next check ends the leases of a dead worker', async () => {
  const w = await webhookWorld()
  const doomed = await anotherWorker(w)
  const lookAfter = await looker(w.db)
  assert.equal(await claim(w.db, w), 0)
  await doomed.close()
  while ((await lookAfter(1)) === 0);
  assert.equal(await claim(w.db, w), 1)
})

test('after a database restart, no worker counts as dead until all could reconnect', async () => {
  const w = await webhookWorld()
  const slow = await anotherWorker(w)
  const quick = await anotherPool()
  const lookAfter = await looker(quick)
  await endSessions(slow, w.db)
  await slow.close()
  await endSessions(quick, w.db)
  while (!(await isSeen(quick, w.db)));
  // A statement can still meet the end of its session.
  await lookAfter(1).catch(() => {})
  await lookAfter(1)
  await lookAfter(2000)
  assert.equal(await claim(w.db, w), 0)
  await lookAfter(60_000)
  assert.equal(await claim(w.db, w), 1)
})

test('a queue released to a worker is reserved for it, and free if it dies', async () => {
  const w = await webhookWorld()
  const successor = await anotherWorker(w)
  const [{ lease_session: session }] = await w.db.sql<[{ lease_session: string }]>`
    select lease_session
    from webhook_queues
    where endpoint_id = ${w.endpointId}`
  await w.expireLeases()
  const giver = await anotherWorker(w)
  const lookAfter = await looker(w.db)
  await w.expireLeases()
  await release(giver, w, await claimed(giver, w), session)
  assert.equal(await claim(w.db, w), 0)
  const taken = await claimed(successor, w)
  assert.equal(taken.length, 1)
  await release(successor, w, taken, session)
  await successor.close()
  while ((await lookAfter(1)) === 0);
  assert.equal(await claim(w.db, w), 1)
})
