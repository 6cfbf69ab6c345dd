import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { leadPath, leadsPath } from '../../support/leads/leads.ts'
import {
  type IndexNode,
  type MemoryIndexWorld,
  memberAt,
  memoryIndexWorld,
} from '../../support/leads/memory-index-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'
import { makeTokens } from '../../support/tokens.ts'

// Compares a node with all leads in memory to one with only the database, whose results are checked in search.test.ts
// and list.test.ts.

const letters = fc.constantFrom(...'aáàbBcÇçñz eé-_%\\.ßø1王伟のก'.split(''), '🙂', 'ﬁ')
const word = (minLength: number, maxLength = 9) => fc.string({ unit: letters, minLength, maxLength })
const digits = fc
  .string({ unit: fc.constantFrom('0', '1', '5', '9'), minLength: 8, maxLength: 12 })
  .map((text) => `5${text}`)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const fields = fc.record(
  {
    firstName: fc.oneof(word(1), word(1, 200)).map((text) => `a${text}b`),
    lastName: maybe(word(1).map((text) => `a${text}b`)),
    email: maybe(fc.string({ unit: fc.constantFrom('a', 'B', 'ç', '1'), minLength: 1 }).map((text) => `${text}@ab.ca`)),
    phone: maybe(digits),
    status: fc.constantFrom('new', 'won', 'lost', 'own'),
    priority: fc.constantFrom('low', 'high', 'urgent'),
    adPlatform: maybe(fc.constantFrom('meta', 'x')),
    estimatedValue: maybe(fc.constantFrom(0, 2, 10, 9.5)),
    notes: maybe(fc.constant('note')),
    customFieldValues: fc.record({ size: maybe(word(1, 6)), n: maybe(fc.constantFrom('10', '9', '-2.5')) }),
  },
  { noNullPrototype: true },
)
const term = fc.oneof(
  word(1),
  fc.string({ unit: fc.constantFrom(...'0159 -()+'.split('')), minLength: 3, maxLength: 7 }),
  digits.map((text) => text.slice(0, 5)),
  fc.constantFrom('a', 'r-', 'ref', 'b a', 'ab.ca', 'REF-1', '9'.repeat(255)),
)
const texts = ['name', 'email', 'phone', 'uniqueCode', 'externalRef', 'field:size', 'field:n']
const choices = ['status', 'priority', 'source', 'adPlatform', 'assignedTo', 'estimatedValue', 'actualValue']
const asked = fc.record({
  search: maybe(term),
  order: fc.oneof(
    fc.record({ sortBy: fc.constantFrom('createdAt', 'updatedAt') }),
    fc.record({ sortBy: fc.constantFrom(...texts, ...choices), sortLanguage: fc.constantFrom('es', 'pt') }),
  ),
  sortOrder: fc.constantFrom('asc', 'desc'),
  limit: fc.constantFrom('3', '37', '100'),
  narrowed: fc.constantFrom<Record<string, string>>(
    {},
    { status: 'won' },
    { status: 'new,lost', priority: 'low' },
    { createdFrom: '2020-01-01T00:00:00Z', updatedTo: '2030-01-01T00:00:00Z' },
    { assignedTo: '00000000-0000-7000-8000-000000000000' },
    { where: 'name.notEmpty' },
    { where: 'name.contains.a;phone.notEmpty', match: 'any' },
    { where: 'field:n.from.9;notes.empty' },
    { where: 'estimatedValue.between.1.10;adPlatform.isNot.meta', status: 'new,won' },
    { where: 'createdAt.last.1' },
    { where: 'status.is.own', priority: 'low' },
  ),
})

const sample = <T>(arbitrary: fc.Arbitrary<T>, count: number, seed: number) =>
  fc.sample(arbitrary, { numRuns: count, seed })

interface Filled {
  w: MemoryIndexWorld
  ids: string[]
  member: TestMember
}

async function filled(nodes: number): Promise<Filled> {
  const w = await memoryIndexWorld(nodes)
  const ids: string[] = []
  for (let start = 0; start < 250; start += 50) {
    const items = sample(fields, 50, start + 1).map((lead, n) => ({
      match: { by: 'externalRef', value: `ref-${start + n}` },
      lead: JSON.parse(JSON.stringify(lead)),
    }))
    const { body } = await w.call('POST', `${leadsPath}/bulk-upsert`, { body: { items } })
    for (const result of body.results) if (result.success) ids.push(result.lead.id)
    w.clock.advance(7)
  }
  assert.ok(ids.length > 200, `${ids.length} leads`)
  for (const { indexes } of w.nodes) {
    for (const what of ['text', 'values'] as const) assert.equal(await indexes.warm(w.workspaceId, what), true)
  }
  return { w, ids, member: await signedInMember(w) }
}

/** Pages through lists by cursor, or goes to a page, on every node; returns the number of leads found. */
async function compare({ w, member }: Filled, count: number, seed: number): Promise<number> {
  let found = 0
  for (const [n, { search, order, narrowed, ...query }] of sample(asked, count, seed).entries()) {
    let more: Record<string, string> = {}
    for (let page = 0; page < 3; page++) {
      const all = { ...query, ...order, ...narrowed, ...(search !== undefined && { search }), ...more }
      const path = `/leads?${new URLSearchParams(all)}`
      const { status, body } = await member.call('GET', path)
      assert.equal(status, 200, JSON.stringify(body))
      const cursors: string[] = [body.nextCursor]
      for (const node of w.nodes) {
        const { nextCursor, ...answer } = (await memberAt(node, w, member).call('GET', path)).body
        assert.deepEqual(
          { ...answer, nextCursor: nextCursor === null },
          { ...body, nextCursor: body.nextCursor === null },
        )
        cursors.push(nextCursor)
      }
      found += body.leads.length
      if (body.nextCursor === null) break
      // Either node continues with the other's cursor.
      more = n % 5 === 0 ? { page: String(page + 2) } : { cursor: cursors[n % cursors.length] ?? '' }
    }
  }
  return found
}

const asksOfDatabase = (w: MemoryIndexWorld) => w.nodes.reduce((sum, { counts }) => sum + counts.database, 0)

test('memory and database return the same lists, page by page: random leads, terms, filters and orders, with and without tokens, after changes', async () => {
  const all = await filled(1)
  const { w, ids } = all
  assert.ok((await compare(all, 20, 7)) > 100)
  await makeTokens(w)
  assert.ok((await compare(all, 15, 9)) > 100)
  for (const [n, id] of ids.entries()) {
    if (n % 8 === 0) await w.call('PATCH', leadPath(id), { body: { lastName: `naz ${n}`, phone: null, status: 'won' } })
    if (n % 29 === 0) await w.call('DELETE', leadPath(id))
  }
  assert.ok((await compare(all, 20, 11)) > 100)
  assert.equal(asksOfDatabase(w), 0, 'all of it came from memory')
})

test('while several writers create, change, delete and restore, memory has every acknowledged write, and is exact at the end', async () => {
  const all = await filled(2)
  const { w, ids } = all
  const write = async (node: IndexNode, reader: IndexNode, own: string[], seed: number) => {
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
  await compare(all, 8, 8)
  assert.equal(asksOfDatabase(w), 0)
})
