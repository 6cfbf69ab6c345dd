import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import type { Db } from '../../src/base/db.ts'
import { newId } from '../../src/base/id.ts'
import { relayMessages } from '../../src/base/pubsub.ts'
import { recordEvents } from '../../src/events/record.ts'
import { sequenceEvents } from '../../src/events/sequence.ts'
import { openNode, testDatabase, withoutPooler } from '../support/database.ts'
import {
  bodyOf,
  eventsPath,
  type FeedWorld,
  feedWorld,
  type Json,
  type Node,
  startNode,
} from '../support/events/feed-world.ts'
import { atEnd } from '../support/file-lifecycle.ts'

// Run with FEED_EVENTS=50000 for a long test.
const count = Number(process.env.FEED_EVENTS ?? 300)

async function newPool(options: Parameters<typeof openNode>[0] = {}): Promise<Db> {
  const db = openNode({ ...(await testDatabase()).options, ...options })
  atEnd(() => db.close())
  const stop = await relayMessages(db, () => {})
  atEnd(async () => stop())
  return db
}

/** Follows the feed by long poll, alternating between two nodes, until the writers are done and nothing is left. */
async function follow(w: FeedWorld, nodes: readonly Node[], isWriting: () => boolean): Promise<Json[]> {
  const seen: Json[] = []
  let after: string | undefined
  for (let turn = 0; ; turn++) {
    const wasWriting = isWriting()
    const query = new URLSearchParams({ limit: '100', wait: wasWriting ? '1' : '0', ...(after && { after }) })
    const reply = await fetch(`${nodes[turn % nodes.length]?.url}${eventsPath}?${query}`, {
      headers: { authorization: `Bearer ${w.key}` },
    })
    assert.equal(reply.status, 200)
    const page: Json = await reply.json()
    seen.push(...page.events)
    after = page.next_cursor
    if (!wasWriting && page.events.length === 0 && !page.has_more) return seen
  }
}

async function assertComplete(w: FeedWorld, seen: readonly Json[]): Promise<void> {
  const rows = await w.db.sql<{ id: string }[]>`
    select id
    from events
    where workspace_id = ${w.workspaceId}
    order by position`
  assert.ok(rows.length >= count)
  assert.deepEqual(
    seen.map(({ id }) => id),
    rows.map(({ id }) => id),
    'every event once, in the order of the feed',
  )
  const told = new Map<string, number>()
  for (const { payload } of seen) {
    const last = told.get(payload.externalRef) ?? 0
    assert.equal(payload.estimatedValue, last + 1, 'events of a subject come in the order of its changes')
    told.set(payload.externalRef, last + 1)
  }
}

/**
 * Concurrent writers with random transactions on random subjects, a quarter of which roll back.
 * Each event has its subject (`externalRef`) and its number within the subject (`estimatedValue`).
 */
async function writeEvents(w: FeedWorld, db: Db): Promise<void> {
  const ids = Array.from({ length: 20 }, () => newId(w.clock.now()))
  await w.db.sql`create table if not exists test_subjects (id uuid primary key, told integer not null)`
  await w.db.sql`insert into test_subjects select id, 0 from unnest(${ids}::uuid[]) as id`
  const keyring = await w.keyStore.keyring(w.workspaceId)
  const rolledBack = new Error('rolled back')
  let left = count
  const write = async () => {
    while (left > 0) {
      // In a fixed order, to avoid deadlocks.
      const changed = Array.from({ length: randomInt(1, 6) }, () => ids[randomInt(ids.length)] ?? '').sort()
      const commits = randomInt(4) > 0
      if (commits) left -= changed.length
      const change = db.tx(async (tx) => {
        for (const subjectId of changed) {
          // Locks the subject until the end, like a change of a lead or conversation.
          const [row] = await tx`update test_subjects set told = told + 1 where id = ${subjectId} returning told`
          const payload = { ...bodyOf('lead.updated'), externalRef: subjectId, estimatedValue: row?.told ?? 0 }
          const event = { name: 'lead.updated', subjectId, connectionId: null, payload } as const
          await recordEvents(tx, keyring, w.workspaceId, [event], w.clock.now())
          await tx`select pg_sleep(random() * 0.004)`
        }
        if (!commits) throw rolledBack
      })
      await change.catch((error: unknown) => assert.equal(error, rolledBack))
    }
  }
  await Promise.all(Array.from({ length: 8 }, write))
}

/** Sequences continuously until the writers are done, despite killed connections. */
async function keepPlacing(db: Db, workspaceId: string, isWriting: () => boolean): Promise<void> {
  while (isWriting()) await sequenceEvents(db, workspaceId).catch(() => {})
}

test('a polling reader gets all events once and in order while 8 writers commit and roll back', async (t) => {
  const w = await feedWorld()
  const pools = [await newPool(), await newPool()]
  const nodes = [await startNode(w, { db: pools[0] }), await startNode(w, { db: pools[1] })]
  let isWriting = true
  const placing = pools.map((db) => keepPlacing(db, w.workspaceId, () => isWriting))
  const following = follow(w, nodes, () => isWriting)
  const startedAt = performance.now()
  await writeEvents(w, await newPool()).finally(() => {
    isWriting = false
  })
  const seen = await following
  t.diagnostic(`${seen.length} events in ${Math.round(performance.now() - startedAt)} ms`)
  await Promise.all(placing)
  await assertComplete(w, seen)
})

test('a reader gets all events once and in order even if the sequencing connection is killed repeatedly', async (t) => {
  const w = await feedWorld()
  const killer = await newPool({ maxConnections: 1 })
  let [placings, kills] = [0, 0]
  // Through a pooler, its backend could belong to another session a moment later.
  const doomed = await newPool({
    ...withoutPooler((await testDatabase()).options),
    direct: undefined,
    maxConnections: 1,
    applicationName: 'parley-doomed',
    onStatement: ({ text }) => {
      if (!/set last_position/.test(text) || placings++ % 3 > 0) return
      killer.sql`
        select pg_terminate_backend(pid)
        from pg_stat_activity
        where datname = current_database()
          and application_name = 'parley-doomed'`.then(
        ({ length }) => {
          kills += length
        },
        () => {},
      )
    },
  })
  const node = await startNode(w, { db: await newPool() })
  let isWriting = true
  const placing = keepPlacing(doomed, w.workspaceId, () => isWriting)
  const following = follow(w, [node], () => isWriting)
  await writeEvents(w, await newPool()).finally(() => {
    isWriting = false
  })
  const seen = await following
  await placing
  t.diagnostic(`${kills} kills`)
  assert.ok(kills > 0)
  await assertComplete(w, seen)
})
