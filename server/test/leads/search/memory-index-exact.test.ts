import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { leadPath, leadsPath } from '../../support/leads/leads.ts'
import { type ImageNode, type ImageWorld, imageWorld } from '../../support/leads/memory-index-world.ts'
import { makeTokens } from '../../support/tokens.ts'

// The image and the database, with tokens of none and of all, are asked the same through the front door. What the image
// answers is held against the rule by memory-index-rules.test.ts, and the rule against its words by search.test.ts.

const letters = fc.constantFrom(...'aáàbBcÇç eé-_%\\.ßø王伟のก'.split(''), '🙂', 'ﬁ')
const word = (minLength: number, maxLength = 9) => fc.string({ unit: letters, minLength, maxLength })
const digits = fc
  .string({ unit: fc.constantFrom('0', '1', '5', '9'), minLength: 8, maxLength: 12 })
  .map((text) => `5${text}`)
const fields = fc.record({
  firstName: fc.oneof(word(1), word(1, 200)).map((text) => `a${text}b`),
  lastName: fc.option(word(1).map((text) => `a${text}b`)),
  email: fc.option(
    fc.string({ unit: fc.constantFrom('a', 'B', 'ç', '1'), minLength: 1, maxLength: 5 }).map((text) => `${text}@ab.ca`),
  ),
  phone: fc.option(digits),
  status: fc.constantFrom('new', 'won', 'lost'),
  priority: fc.constantFrom('low', 'high'),
})
const formatted = fc.string({ unit: fc.constantFrom(...'0159 -()+'.split('')), minLength: 3, maxLength: 7 })
const term = fc.oneof(
  word(1),
  formatted,
  digits.map((text) => text.slice(0, 5)),
  fc.constantFrom('a', 'r-', 'ref', 'b a', 'ab.ca', 'REF-1', '9'.repeat(255)),
)

const sample = <T>(arbitrary: fc.Arbitrary<T>, count: number, seed: number) =>
  fc.sample(arbitrary, { numRuns: count, seed })

async function filled(nodes: number): Promise<{ w: ImageWorld; ids: string[] }> {
  const w = await imageWorld(nodes)
  const ids: string[] = []
  for (let start = 0; start < 300; start += 50) {
    const items = sample(fields, 50, start + 1).map((lead, n) => ({
      match: { by: 'externalRef', value: `ref-${start + n}` },
      lead,
    }))
    const { body } = await w.call('POST', `${leadsPath}/bulk-upsert`, { body: { items } })
    for (const result of body.results) if (result.success) ids.push(result.lead.id)
    w.clock.advance(7)
  }
  assert.ok(ids.length > 200, `${ids.length} leads`)
  for (const { images } of w.nodes) assert.equal(await images.warm(w.workspaceId), true)
  return { w, ids }
}

/** Walks through some lists on every node and on one without an image, page by page. */
async function compare(w: ImageWorld, seed: number): Promise<number> {
  const noon = w.clock.now().getTime()
  const at = (ms: number) => new Date(noon - ms).toISOString()
  const filters: Record<string, string>[] = [
    {},
    { status: 'won' },
    { status: 'new,lost', priority: 'low' },
    { createdFrom: at(30), createdTo: at(10) },
    { updatedFrom: at(20) },
    { assignedTo: '00000000-0000-7000-8000-000000000000' },
  ]
  let pages = 0
  for (const [n, search] of [null, ...sample(term, 16, seed)].entries()) {
    for (const sortBy of ['createdAt', 'updatedAt']) {
      const sortOrder = (n + seed) % 3 === 0 ? 'asc' : 'desc'
      const query = {
        sortBy,
        sortOrder,
        limit: '37',
        ...filters[n % filters.length],
        ...(search === null ? {} : { search }),
      }
      let more: Record<string, string> = {}
      for (;;) {
        const { status, body } = await w.call('GET', leadsPath, { query: { ...query, ...more } })
        assert.equal(status, 200, JSON.stringify(body))
        for (const node of w.nodes) {
          const answer = await node.list({ ...query, ...more })
          assert.deepEqual(answer.body, body, JSON.stringify({ query, more }))
        }
        pages++
        if (body.pagination.nextCursor === null) break
        more = { cursor: body.pagination.nextCursor }
      }
      const second = { ...query, page: '2' }
      const { body } = await w.call('GET', leadsPath, { query: second })
      for (const node of w.nodes) assert.deepEqual((await node.list(second)).body, body, JSON.stringify(second))
    }
  }
  return pages
}

const asked = (w: ImageWorld) => w.nodes.reduce((sum, { counts }) => sum + counts.database, 0)

test('image and database answer every list alike, page by page: random leads and terms, filters, both sorts', async () => {
  const { w } = await filled(1)
  assert.ok((await compare(w, 7)) > 50)
  await makeTokens(w)
  assert.ok((await compare(w, 9)) > 50)
  assert.equal(asked(w), 0)
})

test('while several writers create, change, delete and restore, an image holds every acknowledged write, and ends up exact', async () => {
  const { w, ids } = await filled(2)
  const write = async (node: ImageNode, reader: ImageNode, own: string[], seed: number) => {
    const has = async (search: string) => (await reader.list({ search })).body.pagination.total
    for (const [n, lead] of sample(fields, 10, seed).entries()) {
      const id = own[n % own.length] ?? ''
      const mark = `zz${seed}q${n}zz`
      const changed = await node.call('PATCH', leadPath(id), { ...lead, lastName: mark })
      assert.equal(changed.status, 200, JSON.stringify(changed.body))
      assert.equal(await has(mark), 1)
      if (n % 3 === 0) {
        await node.call('DELETE', leadPath(id))
        assert.equal(await has(mark), 0)
        await node.call('POST', `${leadPath(id)}/restore`)
        assert.equal(await has(mark), 1)
      }
      if (n % 5 === 0) {
        await node.call('POST', leadsPath, { ...lead, lastName: `new${mark}` })
        assert.equal(await has(mark), 2)
      }
    }
  }
  const [one, two] = w.nodes
  assert.ok(one && two)
  const share = (n: number) => ids.filter((_, index) => index % 4 === n)
  await Promise.all([
    write(one, two, share(0), 101),
    write(two, one, share(1), 102),
    write(one, one, share(2), 103),
    write(two, two, share(3), 104),
  ])
  await compare(w, 8)
  assert.equal(asked(w), 0)
})
