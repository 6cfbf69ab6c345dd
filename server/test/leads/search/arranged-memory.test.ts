import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { leadPath, leadsPath } from '../../support/leads/leads.ts'
import { type ImageNode, type ImageWorld, imageWorld } from '../../support/leads/memory-index-world.ts'
import { signedInMember, type TestMember } from '../../support/member.ts'

// The same is asked of a node that sorts in memory and of one that opens every lead: `arranged.test.ts` holds the latter
// against what is known.

const word = fc.string({ unit: fc.constantFrom(...'aáAbcçéñoz -1'.split('')), minLength: 1, maxLength: 6 })
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const fields = fc.record(
  {
    firstName: word.map((text) => `n${text}`),
    lastName: maybe(word.map((text) => `${text}x`)),
    email: maybe(fc.constantFrom('a@ab.ca', 'B@ab.ca', 'ç1@ab.ca')),
    phone: maybe(fc.constantFrom('5511955501101', '5511955501102')),
    status: fc.constantFrom('new', 'won', 'lost', 'own'),
    priority: fc.constantFrom('low', 'high', 'urgent'),
    adPlatform: maybe(fc.constantFrom('meta', 'x')),
    estimatedValue: maybe(fc.constantFrom(0, 2, 10, 9.5)),
    notes: maybe(fc.constant('note')),
    customFieldValues: fc.record({ size: maybe(word), n: maybe(fc.constantFrom('10', '9', '-2.5')) }),
  },
  { noNullPrototype: true },
)

const sorts = [
  'name',
  'email',
  'phone',
  'uniqueCode',
  'externalRef',
  'status',
  'priority',
  'source',
  'adPlatform',
].concat(['assignedTo', 'estimatedValue', 'actualValue', 'createdAt', 'updatedAt', 'field:size', 'field:n'])
const wheres: Record<string, string>[] = [
  {},
  { where: 'email.empty' },
  { where: 'name.contains.a;phone.notEmpty', match: 'any' },
  { where: 'field:n.from.9;notes.empty' },
  { where: 'estimatedValue.between.1.10;adPlatform.isNot.meta', status: 'new,won' },
  { where: 'createdAt.last.1', search: 'na' },
  { where: 'status.is.own', priority: 'low' },
]

interface Filled {
  w: ImageWorld
  ids: string[]
  member: TestMember
  node: ImageNode
}

async function filled(): Promise<Filled> {
  const w = await imageWorld()
  const ids: string[] = []
  const leads = fc.sample(fields, { numRuns: 400, seed: 7 })
  for (let start = 0; start < leads.length; start += 50) {
    const items = leads.slice(start, start + 50).map((lead, n) => ({
      match: { by: 'externalRef', value: `ref-${start + n}` },
      lead: JSON.parse(JSON.stringify(lead)),
    }))
    const { body } = await w.call('POST', `${leadsPath}/bulk-upsert`, { body: { items } })
    ids.push(...body.results.map((result: { lead: { id: string } }) => result.lead.id))
    w.clock.advance(1000)
  }
  const [node] = w.nodes
  assert.ok(node)
  assert.equal(await node.images.warm(w.workspaceId, 'values'), true)
  return { w, ids, member: await signedInMember(w), node }
}

async function compare({ w, member, node }: Filled, sorts: readonly string[]): Promise<void> {
  for (const [n, sortBy] of sorts.entries()) {
    for (const [m, where] of wheres.entries()) {
      // Each order with some of the filters, each filter with some of the orders.
      if ((n + m) % 3 === 2) continue
      // That is the list as it ever was, which the index for search answers.
      if (where.where === undefined && sortBy.endsWith('At')) continue
      const sortOrder = (n + m) % 2 === 0 ? 'asc' : 'desc'
      const query = { sortBy, sortOrder, limit: '40', sortLanguage: n % 3 === 0 ? 'es' : 'pt', ...where }
      let more: Record<string, string> = {}
      for (let page = 0; page < 2; page++) {
        const path = `/leads?${new URLSearchParams({ ...query, ...more })}`
        const { status, body } = await member.call('GET', path)
        assert.equal(status, 200, JSON.stringify(body))
        const url = `/api/team/v1/workspaces/${w.workspaceId}${path}`
        const reply = await node.app.inject({ url, headers: { cookie: member.cookie } })
        const found = reply.json()
        const context = JSON.stringify({ query, page })
        assert.deepEqual(
          found.leads.map((lead: { id: string }) => lead.id),
          body.leads.map((lead: { id: string }) => lead.id),
          context,
        )
        assert.equal(found.total, body.total, context)
        assert.equal(found.nextCursor === null, body.nextCursor === null, context)
        if (body.nextCursor === null) break
        // Either node goes on where the other one was.
        more = n % 4 === 0 ? { page: '3' } : { cursor: n % 2 === 0 ? found.nextCursor : body.nextCursor }
      }
    }
  }
}

const asked = fc.record({
  search: fc.oneof(
    word.map((text) => `n${text}`),
    fc.constantFrom('ab.ca', 'ref-1', '-2', '9555', '01102', '(11) 95550', 'n', 'zz-'),
  ),
  sortBy: fc.constantFrom(...sorts),
  sortOrder: fc.constantFrom('asc', 'desc'),
  sortLanguage: fc.constantFrom('es', 'pt'),
  limit: fc.constantFrom('3', '40', '100'),
  where: fc.constantFrom<Record<string, string>>(
    { where: 'name.notEmpty' },
    { where: 'field:n.from.9;notes.empty', match: 'any' },
    { where: 'estimatedValue.from.1', status: 'new,won' },
    { where: 'status.isNot.own', priority: 'high' },
    { where: 'phone.notEmpty', createdFrom: '2020-01-01T00:00:00Z' },
  ),
})

/** Walks through searches by cursor, or goes to a page, on either node. */
async function compareSearches({ w, member, node }: Filled, count: number, seed: number): Promise<number> {
  let found = 0
  for (const [n, { where, ...query }] of fc.sample(asked, { numRuns: count, seed }).entries()) {
    // By a time, only what has a condition is arranged.
    const narrowed = n % 3 === 0 || query.sortBy.endsWith('At') ? where : {}
    let more: Record<string, string> = {}
    for (let page = 0; page < 3; page++) {
      const path = `/leads?${new URLSearchParams({ ...query, ...narrowed, ...more })}`
      const { status, body } = await member.call('GET', path)
      assert.equal(status, 200, JSON.stringify(body))
      const url = `/api/team/v1/workspaces/${w.workspaceId}${path}`
      const reply = (await node.app.inject({ url, headers: { cookie: member.cookie } })).json()
      const listOf = ({ leads, total }: { leads: { id: string }[]; total: number }) => [
        leads.map(({ id }) => id),
        total,
      ]
      assert.deepEqual(listOf(reply), listOf(body), path)
      assert.equal(reply.nextCursor === null, body.nextCursor === null, path)
      found += body.leads.length
      if (body.nextCursor === null) break
      more = n % 5 === 0 ? { page: String(page + 2) } : { cursor: n % 2 === 0 ? reply.nextCursor : body.nextCursor }
    }
  }
  return found
}

test('a search in any order is that of the database alone, page by page, also after changes', async () => {
  const all = await filled()
  const { w, ids, node } = all
  assert.equal(await node.images.warm(w.workspaceId), true)
  assert.ok((await compareSearches(all, 45, 11)) > 500)
  for (const [n, id] of ids.entries()) {
    if (n % 4 === 0) await w.call('PATCH', leadPath(id), { body: { lastName: `naz ${n}`, phone: null, status: 'won' } })
    if (n % 29 === 0) await w.call('DELETE', leadPath(id))
  }
  assert.ok((await compareSearches(all, 30, 12)) > 200)
  assert.equal(node.counts.database, 0, 'all of it came from memory')
})

test('memory and opening give one order, one page and one total, also after changes', async () => {
  const all = await filled()
  await compare(all, sorts)
  const { w, ids, node } = all
  for (const [n, id] of ids.entries()) {
    if (n % 5 === 0)
      await w.call('PATCH', leadPath(id), { body: { firstName: `Zé ${n}`, email: null, status: 'lost' } })
    if (n % 31 === 0) await w.call('DELETE', leadPath(id))
  }
  await compare(all, ['name', 'email', 'status', 'estimatedValue'])
  assert.equal(node.counts.database, 0, 'all of it came from memory')
})

test('values that do not fit into the memory that is allowed are not read into it', async () => {
  const w = await imageWorld(1, { maxBytes: 1000 })
  for (let n = 0; n < 20; n++) await w.lead({ firstName: `Lead ${n}` })
  const [node] = w.nodes
  assert.equal(await node?.images.warm(w.workspaceId, 'values'), false)
  assert.equal(node?.images.isArranging(w.workspaceId), false)
})
