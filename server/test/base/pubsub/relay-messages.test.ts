import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openDb, type PubSubMessage } from '../../../src/base/db.ts'
import { packMessages, relayMessages } from '../../../src/base/pubsub.ts'
import { testDatabase } from '../../support/database.ts'
import { atEnd } from '../../support/file-lifecycle.ts'

const self = randomUUID()
const newsOf = (payloads: string[]): PubSubMessage[] => payloads.flatMap((payload) => JSON.parse(payload).news)

test('messages are packed by their size in bytes, whatever their topics and ids', () => {
  const shapes: [what: string, count: number, item: (n: number) => PubSubMessage][] = [
    ['none', 0, () => ({ topic: 't', id: '' })],
    ['uuids', 500, () => ({ topic: 'team_connection', id: randomUUID() })],
    ['long ids', 100, (n) => ({ topic: 'session_sends_waiting', id: `${n} ${'x'.repeat(500)}` })],
    ['ids of several bytes a letter', 100, (n) => ({ topic: 'ç', id: `${n} ${'€"\n'.repeat(60)}` })],
    ['ids that fill one by one', 5, (n) => ({ topic: 't', id: `${n}${'x'.repeat(7_800)}` })],
  ]
  for (const [what, count, item] of shapes) {
    const items = Array.from({ length: count }, (_, n) => item(n))
    const payloads = packMessages(self, items)
    assert.deepEqual(newsOf(payloads), items, what)
    const sizes = payloads.map((payload) => Buffer.byteLength(payload))
    assert.ok(Math.max(0, ...sizes) < 8_000, `${what}: ${sizes}`)
    const total = sizes.reduce((sum, size) => sum + size, 0)
    if (what !== 'ids that fill one by one') assert.ok(payloads.length <= Math.ceil(total / 7_000), `${what}: ${sizes}`)
  }
})

test('a message too long for a notification does not block the others', () => {
  const [before, giant, behind] = [1, 9_000, 2].map((length) => ({ topic: 't', id: 'x'.repeat(length) }))
  assert.ok(before && giant && behind)
  assert.deepEqual(newsOf(packMessages(self, [before, giant, behind])), [before, behind])
})

test('everything that one process publishes at once reaches another', async () => {
  const { db: here, options } = await testDatabase()
  const there = openDb(options)
  const failures: unknown[] = []
  const stops = await Promise.all([here, there].map((db) => relayMessages(db, (error) => failures.push(error))))
  atEnd(async () => {
    for (const stop of stops) stop()
    await there.close()
  })
  const ids = Array.from({ length: 200 }, (_, n) => `${n} ${'x'.repeat(300)}`)
  const heard = new Set<string>()
  const all = Promise.withResolvers<void>()
  there.subscribe('relay_test', (id) => {
    heard.add(id)
    if (heard.size === ids.length) all.resolve()
  })
  for (const id of ids) await here.statement(async () => {}, { topic: 'relay_test', id })
  await all.promise
  assert.deepEqual([...heard].sort(), [...ids].sort())
  assert.deepEqual(failures, [])
})
