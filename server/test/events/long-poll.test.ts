import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Db } from '../../src/base/db.ts'
import { openNode, testDatabase } from '../support/database.ts'
import {
  eventsPath,
  type FeedWorld,
  feedWorld,
  type Json,
  type Node,
  namesIn,
  startNode,
} from '../support/events/feed-world.ts'
import { atEnd, oncePerFile } from '../support/file-lifecycle.ts'
import { testApp } from '../support/world.ts'

interface Waiting extends Node {
  /** The only connection of the node's pool. */
  db: Db
  /** Starts a request, and resolves when it has found nothing and waits. */
  wait(w: FeedWorld, query?: Record<string, string>): Promise<{ answer: Promise<Json>; leave(): void }>
}

/** A node with a single connection: a wait that held it would block everything. */
async function newNode(): Promise<Waiting> {
  const { options } = await testDatabase()
  let onRead = () => {}
  const db = openNode({
    ...options,
    maxConnections: 1,
    onStatement: ({ text }) => void (/"removedTo"/.test(text) && onRead()),
  })
  atEnd(() => db.close())
  const node = await startNode(await testApp(), { db })
  const wait: Waiting['wait'] = async (w, query = {}) => {
    const { next_cursor: after } = await w.page({ after: 'latest' })
    const reading = new Promise<void>((resolve) => {
      onRead = resolve
    })
    const controller = new AbortController()
    const search = new URLSearchParams({ after, wait: '30', ...query })
    const asked = fetch(`${node.url}${eventsPath}?${search}`, {
      headers: { authorization: `Bearer ${w.key}` },
      signal: controller.signal,
    })
    const answer = asked.then((reply) => reply.json())
    answer.catch(() => {})
    await reading
    // Waits for the read on the only connection, which is free again.
    await db.sql`select 1`
    return { answer, leave: () => controller.abort() }
  }
  return { ...node, db, wait }
}

const oneNode = oncePerFile(newNode)

test('a wait ends with the first event notification, and holds no connection', async () => {
  const w = await feedWorld()
  const node = await oneNode()
  const { answer } = await node.wait(w)
  await w.record(['lead.created'], { db: node.db })
  assert.deepEqual(namesIn(await answer), ['lead.created'])
})

test('polling finds the event if the notification is lost', async () => {
  const w = await feedWorld()
  const node = await oneNode()
  const unplaced = await node.wait(w)
  // Another pool, whose notifications reach nobody.
  await w.record(['lead.created'])
  await node.tick()
  assert.deepEqual(namesIn(await unplaced.answer), ['lead.created'])
  const placed = await node.wait(w)
  await w.record(['lead.updated'])
  await w.page()
  await node.tick()
  assert.deepEqual(namesIn(await placed.answer), ['lead.updated'])
})

test('an invisible event does not end a wait, and the cursor passes it', async () => {
  const w = await feedWorld()
  const node = await oneNode()
  const { answer } = await node.wait(w, { events: 'lead.*' })
  await w.record(['inbox.message.sent'], { db: node.db })
  await w.record(['lead.created'], { db: node.db })
  const page = await answer
  assert.deepEqual(namesIn(page), ['lead.created'])
  assert.deepEqual(namesIn(await w.page({ after: page.next_cursor })), [])
})

test('a timeout returns no events and a cursor', async (t) => {
  const w = await feedWorld()
  const node = await oneNode()
  const timers = t.mock.method(globalThis, 'setTimeout')
  const { answer } = await node.wait(w, { wait: '29' })
  const [timer, ...more] = timers.mock.calls.filter((call) => call.arguments[1] === 29_000)
  assert.deepEqual(more, [])
  timer?.arguments[0]()
  const page = await answer
  assert.deepEqual(page.events, [])
  await w.record(['lead.created'])
  assert.deepEqual(namesIn(await w.page({ after: page.next_cursor })), ['lead.created'])
})

test('a key can have ten waits, and a disconnect frees a slot', async () => {
  const w = await feedWorld()
  const node = await oneNode()
  await w.record(['lead.created'])
  const ask = () =>
    fetch(`${node.url}${eventsPath}?wait=30`, { headers: { authorization: `Bearer ${w.key}` } }).then(
      async (reply) => ({
        status: reply.status,
        retryAfter: reply.headers.get('retry-after'),
        body: await reply.json(),
      }),
    )
  const waits = []
  for (let count = 0; count < 10; count++) waits.push(await node.wait(w))
  const refused = await ask()
  assert.equal(refused.status, 429)
  assert.equal(refused.retryAfter, '1')
  waits[0]?.leave()
  let answer = await ask()
  while (answer.status === 429) answer = await ask()
  assert.deepEqual(namesIn(answer.body), ['lead.created'])
  for (const wait of waits) wait.leave()
})

test('a server shutdown ends its waits at once', async () => {
  const w = await feedWorld()
  const node = await newNode()
  const { answer } = await node.wait(w)
  await node.app.close()
  assert.deepEqual((await answer).events, [])
})
