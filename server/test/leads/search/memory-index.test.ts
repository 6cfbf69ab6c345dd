import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { leadPath, leadsPath, makeLeads } from '../../support/leads/leads.ts'
import { type IndexNode, type MemoryIndexWorld, memoryIndexWorld } from '../../support/leads/memory-index-world.ts'
import { makeTokens } from '../../support/tokens.ts'

async function fill(w: MemoryIndexWorld, count: number): Promise<string[]> {
  const phoneOf = (n: number) => `55819${91_000_000 + n}`
  const leads = Array.from({ length: count }, (_, n) => ({ lastName: `Duarte ${n}`, phone: phoneOf(n) }))
  const ids = await makeLeads(w, leads)
  w.clock.advance(1000)
  return ids
}

async function total(node: IndexNode, query: Record<string, string> = {}): Promise<number> {
  const { status, body } = await node.list(query)
  assert.equal(status, 200, JSON.stringify(body))
  return body.pagination.total
}

const node = (w: MemoryIndexWorld, n = 0): IndexNode => {
  const found = w.nodes[n]
  assert.ok(found)
  return found
}

test('the database answers until the index is built, then the index, with the same results', async () => {
  const w = await memoryIndexWorld()
  await fill(w, 300)
  const one = node(w)
  const before = await one.list({ search: 'duarte 2' })
  assert.deepEqual(one.counts, { image: 0, database: 1 })
  assert.equal(await one.indexes.warm(w.workspaceId), true)
  const after = await one.list({ search: 'duarte 2' })
  assert.deepEqual(one.counts, { image: 1, database: 1 })
  assert.equal(after.body.pagination.total, 111)
  assert.deepEqual(after.body, before.body)
})

test('an index that is far behind leaves the request to the database, and catches up', async () => {
  const w = await memoryIndexWorld()
  await fill(w, 100)
  const one = node(w)
  await one.indexes.warm(w.workspaceId)
  assert.equal(await total(one), 100)
  await fill(w, 100)
  await w.db.sql`
    insert into events (workspace_id, id, name, subject_id, payload, occurred_at)
    select workspace_id, gen_random_uuid(), 'lead.updated', id, '', updated_at
    from leads, generate_series(1, 20)
    where workspace_id = ${w.workspaceId}`
  await w.lead({ firstName: 'Newest' })
  assert.equal(await total(one, { search: 'newest' }), 1)
  assert.deepEqual(one.counts, { image: 1, database: 1 })
  // It catches up in the background; responses until then are correct too.
  while (one.counts.image === 1) assert.equal(await total(one, { search: 'newest' }), 1)
})

test('an index is rebuilt if events were removed before it applied them', async () => {
  const w = await memoryIndexWorld()
  await fill(w, 20)
  const one = node(w)
  await one.indexes.warm(w.workspaceId)
  const { id } = await w.lead({ firstName: 'Unseen' })
  // Events are not removed before they are indexed.
  await makeTokens(w)
  await w.db.sql`delete from events where workspace_id = ${w.workspaceId} and subject_id = ${id}`
  await w.db.sql`
    insert into event_feeds (workspace_id, last_position, removed_to)
    values (${w.workspaceId}, 1000, 1000)
    on conflict (workspace_id) do update set last_position = 1000, removed_to = 1000`
  assert.equal(await total(one, { search: 'unseen' }), 1)
  assert.deepEqual(one.counts, { image: 0, database: 1 })
  assert.equal(await one.indexes.warm(w.workspaceId), true)
  assert.equal(await total(one, { search: 'unseen' }), 1)
  assert.equal(one.counts.image, 1)
})

test('few leads get no index and no thread; if the thread dies, the database answers, and a new thread starts after a delay', async () => {
  const w = await memoryIndexWorld(1, { minLeads: 20 })
  await fill(w, 19)
  const one = node(w)
  assert.equal(await one.indexes.warm(w.workspaceId), false)
  assert.equal(one.thread(), undefined)
  await w.lead()
  assert.equal(await one.indexes.warm(w.workspaceId), true)
  const gone = once(one.thread() ?? assert.fail(), 'exit')
  const asked = Array.from({ length: 20 }, () => total(one))
  await one.thread()?.terminate()
  assert.deepEqual(await Promise.all(asked), Array(20).fill(20))
  await gone
  assert.equal(await total(one), 20)
  assert.equal(await one.indexes.warm(w.workspaceId), false)
  w.clock.advance(30_000)
  assert.equal(await one.indexes.warm(w.workspaceId), true)
  const before = one.counts.image
  assert.equal(await total(one), 20)
  assert.equal(one.counts.image, before + 1)
})

test('a workspace that does not fit into memory is served by the database', async () => {
  const w = await memoryIndexWorld(1, { maxBytes: 1_000 })
  await fill(w, 100)
  const one = node(w)
  for (const what of ['text', 'values'] as const) assert.equal(await one.indexes.warm(w.workspaceId, what), false)
  assert.equal(one.indexes.isLoading(w.workspaceId), false)
  assert.equal(await total(one), 100)
  assert.deepEqual(one.counts, { image: 0, database: 1 })
})

/** Memory for the columns of some hundred leads, and for the texts of less than a hundred. */
const narrow = { maxBytes: 17_000, shape: { tailSlots: 8, segmentSlots: 64 } }

test('if texts do not fit, an index of columns answers lists without a search term, through every change', async () => {
  const w = await memoryIndexWorld(2, narrow)
  const ids = await fill(w, 120)
  const statuses = ['new', 'won', 'lost']
  for (const one of w.nodes) assert.equal(await one.indexes.warm(w.workspaceId), true)
  const compare = async () => {
    const lists: Record<string, string>[] = [
      {},
      { status: 'won' },
      { status: 'new,lost', sortBy: 'updatedAt', sortOrder: 'asc' },
      { priority: 'medium', page: '2' },
      { search: 'duarte 1' },
    ]
    for (const query of lists) {
      const { body } = await w.call('GET', leadsPath, { query: { ...query, limit: '30' } })
      for (const one of w.nodes) assert.deepEqual((await one.list({ ...query, limit: '30' })).body, body)
    }
  }
  await compare()
  assert.deepEqual(node(w).counts, { image: 4, database: 1 })
  for (const [n, id] of ids.slice(0, 60).entries()) {
    const writer = node(w, n % 2)
    await writer.call('PATCH', leadPath(id), { status: statuses[n % 3], lastName: `Changed ${n}` })
    if (n % 4 === 0) await writer.call('DELETE', leadPath(id))
    if (n % 8 === 0) await writer.call('POST', `${leadPath(id)}/restore`)
    if (n % 10 === 0) await compare()
    w.clock.advance(7)
  }
  assert.equal(await total(node(w)), 113)
  await compare()
  const { database } = node(w).counts
  await compare()
  assert.equal(node(w).counts.database, database + 1)
})

test('the thread ends when it has no index, and another starts with the next index', async () => {
  let tidy: () => Promise<unknown> = assert.fail
  const w = await memoryIndexWorld(1, {
    repeat: (_pauseMs, work) => {
      tidy = work
      return { stop: async () => {} }
    },
  })
  await fill(w, 10)
  const one = node(w)
  await one.indexes.warm(w.workspaceId)
  const first = one.thread() ?? assert.fail()
  await tidy()
  assert.equal(await total(one), 10)
  assert.equal(one.counts.image, 1, 'an image in use stays')

  const gone = once(first, 'exit')
  w.clock.advance(600_001)
  assert.equal(await total(one), 10)
  assert.equal(one.counts.image, 1, 'one that nobody asked for ten minutes answers no more')
  await tidy()
  await gone
  assert.equal(await total(one), 10)
  assert.equal(one.thread(), first, 'a search alone starts none')
  assert.equal(await one.indexes.warm(w.workspaceId), true)
  assert.notEqual(one.thread(), first)
  assert.equal(await total(one), 10)
  assert.equal(one.counts.image, 2)
})

test('a workspace with a lead that cannot be decrypted is served by the database; the log reports it without a value', async () => {
  const w = await memoryIndexWorld()
  const [id = ''] = await fill(w, 20)
  await w.call('PATCH', leadPath(id), { body: { status: 'lost' } })
  await w.db.sql`update leads set person = 'broken' where workspace_id = ${w.workspaceId} and id = ${id}`
  const one = node(w)
  assert.equal(await one.indexes.warm(w.workspaceId), false)
  assert.equal(await total(one, { status: 'new' }), 19)
  const line = w.logLines.find(
    (text) => text.includes('evicting search index after an error') && text.includes(w.workspaceId),
  )
  assert.match(line ?? '', /"code":"DecryptionError"/)
})

// Last test of the file: it wraps the database's secrets with a key that the others do not know.
test('the thread receives a new master key, and a thread started later knows it too', async () => {
  const w = await memoryIndexWorld(1, {})
  const [second, third] = [await memoryIndexWorld(), await memoryIndexWorld()]
  for (const each of [w, second, third]) await fill(each, 10)
  const one = node(w)
  assert.equal(await one.indexes.warm(w.workspaceId), true)
  const masterKey = randomBytes(32)
  w.keyStore.useMasterKey(masterKey)
  one.indexes.useMasterKey(masterKey)
  await w.keyStore.rewrapSecrets()
  assert.equal(await one.indexes.warm(second.workspaceId), true)

  const gone = once(one.thread() ?? assert.fail(), 'exit')
  await one.thread()?.terminate()
  await gone
  w.clock.advance(30_000)
  assert.equal(await one.indexes.warm(third.workspaceId), true)
})
