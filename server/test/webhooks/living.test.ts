import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { type Db, openDb } from '../../src/base/db.ts'
import { claimQueues } from '../../src/webhooks/lease.ts'
import { watchTheLiving } from '../../src/webhooks/living.ts'
import { testDatabase } from '../support/database.ts'
import { type WebhookWorld, webhookWorld } from '../support/webhook-world.ts'

const pools: Db[] = []
after(() => Promise.all(pools.map((db) => db.close())))

/** The database as another process has it, one that has claimed the queue of the world. */
async function anotherWorker(w: WebhookWorld): Promise<Db> {
  const db = openDb((await testDatabase()).options)
  pools.push(db)
  await w.record(randomUUID(), [{ n: 1 }])
  await w.placer.place(w.workspaceId)
  assert.equal(await claim(db, w), 1)
  return db
}

/** Answers how many queues it got. */
async function claim(db: Db, { workspaceId, clock }: WebhookWorld): Promise<number> {
  return (await db.statement((tx) => claimQueues(tx, [workspaceId], 1, clock.now()))).length
}

/** Looks by a clock that is driven, past whatever grace the beginning has. */
async function looker(db: Db) {
  let atMs = 0
  const look = watchTheLiving(db, () => atMs)
  const lookAfter = (ms: number) => {
    atMs += ms
    return look()
  }
  await look()
  await lookAfter(60_000)
  return lookAfter
}

/** As a restart of the database does. */
async function endSessions(of: Db, by: Db): Promise<void> {
  const [own] = await of.sql<{ name: string }[]>`select current_setting('application_name') as name`
  const name = own?.name ?? ''
  await by.sql`
    select pg_terminate_backend(pid, 5000)
    from pg_stat_activity
    where datname = current_database()
      and application_name = ${name}`
}

test('the leases of a worker that died end at the next look', async () => {
  const w = await webhookWorld()
  const doomed = await anotherWorker(w)
  const lookAfter = await looker(w.db)
  assert.equal(await claim(w.db, w), 0)
  await doomed.close()
  while ((await lookAfter(1)) === 0);
  assert.equal(await claim(w.db, w), 1)
})

test('after a restart of the database nobody is taken for dead until all have had time to come back', async () => {
  const w = await webhookWorld()
  const slow = await anotherWorker(w)
  const quick = openDb((await testDatabase()).options)
  pools.push(quick)
  const lookAfter = await looker(quick)
  await endSessions(slow, w.db)
  await endSessions(quick, w.db)
  // One of its statements may still meet the end of its session.
  await lookAfter(1).catch(() => {})
  await lookAfter(1)
  await lookAfter(2000)
  assert.equal(await claim(w.db, w), 0)
  await lookAfter(60_000)
  assert.equal(await claim(w.db, w), 1)
})
