import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { matchesTerm, readSearchTerm, type Searchable } from '../../../src/leads/lead/search-lines.ts'
import { type LeadFilter, noFilter } from '../../../src/leads/search/list-filter.ts'
import { leadText } from '../../../src/leads/search/memory-index/indexed-text.ts'
import {
  compact,
  type IndexedLead,
  type MemoryIndex,
  newMemoryIndex,
  putLead,
  queryMemoryIndex,
  removeLead,
} from '../../../src/leads/search/memory-index/memory-index.ts'
import type { IndexQuery } from '../../../src/leads/search/memory-index/query.ts'

// What an image answers is held against the rules themselves, on the plain leads.

const shape = { tailSlots: 4, segmentSlots: 64 }

interface Known extends Omit<IndexedLead, 'text'>, Searchable {}

// Few letters, so that terms match by chance, reach over fields, and grams of a term occur apart from each other.
const letter = fc.constantFrom(
  ...'aáÀbBcß eé-_%\\.01259ø'.split(''),
  '🙂',
  'ﬁ',
  '\u0000',
  '\u0001',
  '\u0003',
  'e\u0301',
  '語',
)
const word = (minLength: number, maxLength = 8) => fc.string({ unit: letter, minLength, maxLength })
const digits = fc.string({ unit: fc.constantFrom('0', '1', '2', '5', '9'), minLength: 4, maxLength: 12 })
const time = fc.integer({ min: 1, max: 12 })
const choice = <T>(...values: T[]) => fc.constantFrom<(T | null)[]>(...values, null)

const known = fc.record({
  created: time,
  updated: time,
  status: fc.constantFrom('new', 'won', 'lost'),
  priority: fc.constantFrom('low', 'high'),
  source: fc.constantFrom('ads', 'phone'),
  adPlatform: choice('meta', 'x'),
  assignee: choice('ana', 'bia'),
  // Also names that are a number or hold one, of which a masked reader sees less.
  firstName: fc.oneof(
    word(1),
    word(1, 200),
    digits,
    fc.tuple(word(1), digits, word(1)).map((words) => words.join(' ')),
  ),
  lastName: fc.option(word(0)),
  email: fc.option(word(1, 12)),
  phone: fc.option(digits),
  uniqueCode: word(1),
  externalRef: fc.option(word(1)),
})

const formatted = fc.string({ unit: fc.constantFrom(...'01259 -()+.'.split('')), minLength: 1, maxLength: 7 })
const filter = fc.record({
  statuses: fc.option(fc.subarray(['new', 'won', 'lost', 'unheard'])),
  priority: choice('low' as const, 'urgent' as const),
  source: choice('ads' as const),
  adPlatform: choice('meta' as const),
  assignedTo: choice('ana', 'nobody'),
  createdFrom: fc.option(time.map((ms) => new Date(ms))),
  createdTo: fc.option(time.map((ms) => new Date(ms))),
  updatedFrom: fc.option(time.map((ms) => new Date(ms))),
  updatedTo: fc.option(time.map((ms) => new Date(ms))),
  search: fc.constant(null),
})

const question = fc.record({
  filter: fc.oneof(fc.constant(noFilter), filter) as fc.Arbitrary<LeadFilter>,
  /** A piece of a lead that is there, or any text. */
  term: fc.oneof(
    fc.record({ lead: fc.nat(), field: fc.nat(5), start: fc.nat(9), length: fc.integer({ min: 1, max: 9 }) }),
    fc.oneof(word(1), formatted, digits, fc.constant(null)),
  ),
  by: fc.constantFrom('createdAt' as const, 'updatedAt' as const),
  order: fc.constantFrom('asc' as const, 'desc' as const),
  limit: fc.integer({ min: 1, max: 7 }),
  masked: fc.boolean(),
  offset: fc.constantFrom(0, 0, 3),
})

const idOf = (n: number) =>
  `0190${((n * 2_654_435_761) >>> 0).toString(16).padStart(8, '0')}-7000-8000-000000000000`.replace(
    /^(.{8})(.{4})/,
    '$1-$2',
  )

function termOf(leads: readonly Known[], wanted: unknown): string | null {
  if (typeof wanted === 'string' || wanted === null) return wanted
  const { lead, field, start, length } = wanted as { lead: number; field: number; start: number; length: number }
  const one = leads[lead % Math.max(leads.length, 1)]
  if (one === undefined) return 'ab'
  const texts = [
    `${one.firstName} ${one.lastName ?? ''}`,
    one.email,
    one.phone,
    one.uniqueCode,
    one.externalRef,
    one.firstName,
  ]
  return [...(texts[field] ?? 'aab')].slice(start, start + length).join('')
}

function expected(leads: readonly Known[], query: IndexQuery): Known[] {
  const { filter: f, term, sort } = query
  const at = (lead: Known) => (sort.by === 'createdAt' ? lead.created : lead.updated)
  const within = (ms: number, from: Date | null, to: Date | null) =>
    (from === null || ms >= from.getTime()) && (to === null || ms <= to.getTime())
  const sign = sort.order === 'asc' ? 1 : -1
  return leads
    .filter(
      (lead) =>
        (f.statuses === null || f.statuses.includes(lead.status ?? '')) &&
        (f.priority === null || f.priority === lead.priority) &&
        (f.source === null || f.source === lead.source) &&
        (f.adPlatform === null || f.adPlatform === lead.adPlatform) &&
        (f.assignedTo === null || f.assignedTo === lead.assignee) &&
        within(lead.created, f.createdFrom, f.createdTo) &&
        within(lead.updated, f.updatedFrom, f.updatedTo) &&
        (term === null || matchesTerm(lead, term)),
    )
    .sort((a, b) => sign * (at(a) - at(b) || (a.id < b.id ? -1 : 1)))
}

/** Every page of the walk by cursor, and the total, against the rules. */
function check(
  image: MemoryIndex,
  leads: readonly Known[],
  asked: typeof question extends fc.Arbitrary<infer T> ? T : never,
): number {
  const text = termOf(leads, asked.term)
  const term = text === null ? null : readSearchTerm(text, asked.masked)
  const first: IndexQuery = {
    filter: asked.filter,
    term,
    sort: { by: asked.by, order: asked.order },
    after: null,
    offset: asked.offset,
    limit: asked.limit,
    needsTotal: true,
  }
  const wanted = expected(leads, first)
  const ids = (query: IndexQuery) => queryMemoryIndex(image, query).places.map(({ id }) => id)
  const answer = queryMemoryIndex(image, first)
  assert.equal(answer.total, wanted.length)
  const page = (start: number) => wanted.slice(start, start + asked.limit).map(({ id }) => id)
  assert.deepEqual(ids(first), page(asked.offset))
  assert.deepEqual(ids({ ...first, needsTotal: false }), page(asked.offset))
  let after = null
  for (let start = 0; start <= wanted.length; start += asked.limit) {
    const query: IndexQuery = { ...first, after, offset: 0 }
    const { places, total } = queryMemoryIndex(image, query)
    assert.equal(total, wanted.length)
    assert.deepEqual(ids(query), page(start))
    assert.deepEqual(ids({ ...query, needsTotal: false }), page(start))
    after = places.at(-1) ?? after
  }
  return wanted.length
}

function put(image: MemoryIndex, lead: Known, of = shape): void {
  putLead(image, of, { ...lead, text: leadText(lead) })
}

test('an image finds exactly the leads that the rules find: any text, filter, sort and page, through changes and compaction', () => {
  let hits = 0
  const change = fc.record({ lead: fc.nat(), kind: fc.constantFrom('put', 'put', 'remove', 'compact'), fields: known })
  fc.assert(
    fc.property(
      fc.array(known, { maxLength: 90 }),
      fc.array(change, { maxLength: 60 }),
      fc.array(question, { minLength: 4, maxLength: 8 }),
      (people, changes, questions) => {
        const image = newMemoryIndex(shape)
        const leads = new Map<string, Known>()
        for (const [n, fields] of people.entries()) leads.set(idOf(n), { ...fields, id: idOf(n) })
        for (const lead of leads.values()) put(image, lead)
        const ask = () => {
          for (const asked of questions) if (check(image, [...leads.values()], asked) > 0) hits++
        }
        ask()
        for (const { lead: n, kind, fields } of changes) {
          const id = idOf(n % (people.length + 5))
          const before = leads.get(id)
          if (kind === 'compact') compact(image, shape)
          else if (kind === 'put') {
            const lead = { ...fields, created: before?.created ?? fields.created, id }
            leads.set(id, lead)
            put(image, lead)
          } else if (before !== undefined) {
            removeLead(image, before)
            leads.delete(id)
          }
        }
        ask()
        while (compact(image, shape));
        ask()
      },
    ),
    { numRuns: 100, seed: 20_261_121 },
  )
  assert.ok(hits > 300, `${hits} questions had an answer`)
})

test('the index of a large segment rules out no match', () => {
  const large = { tailSlots: 4096, segmentSlots: 4096 }
  const image = newMemoryIndex(large)
  const leads = fc.sample(known, { numRuns: 4097, seed: 11 }).map((fields, n) => ({ ...fields, id: idOf(n) }))
  for (const lead of leads) put(image, lead, large)
  assert.equal(image.segments[0]?.count, 4096)
  let hits = 0
  for (const asked of fc.sample(question, { numRuns: 30, seed: 12 })) {
    if (check(image, leads, { ...asked, limit: 1000 }) > 0) hits++
  }
  assert.ok(hits > 10, `${hits} questions had an answer`)
})

test('compaction leaves few segments and few dead slots', () => {
  const image = newMemoryIndex(shape)
  const people = fc.sample(known, { numRuns: 1000, seed: 3 })
  for (const [n, fields] of people.entries()) {
    put(image, { ...fields, id: idOf(n % 300), created: 1 })
    while (compact(image, shape));
  }
  const slots = image.segments.reduce((sum, { count }) => sum + count, 0)
  assert.ok(image.segments.length <= 30, `${image.segments.length} segments`)
  assert.ok(slots <= 300 * 1.5, `${slots} slots`)
})
