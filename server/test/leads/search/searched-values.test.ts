import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { matchesTerm, readSearchTerm, type Searchable, type SearchTerm } from '../../../src/leads/lead/search-lines.ts'
import type { Conditions } from '../../../src/leads/search/arranged/conditions.ts'
import { type ReadableLead, testOf } from '../../../src/leads/search/arranged/match.ts'
import { nameOf } from '../../../src/leads/search/arranged/opened.ts'
import { comparePlaces, type Place, placeKeyOf } from '../../../src/leads/search/arranged/order.ts'
import { noFilter } from '../../../src/leads/search/list-filter.ts'
import { type ArrangedQuery, answerArranged } from '../../../src/leads/search/memory-index/arranged-query.ts'
import { leadText } from '../../../src/leads/search/memory-index/indexed-text.ts'
import { valuesText } from '../../../src/leads/search/memory-index/lead-values.ts'
import {
  appendLead,
  compact,
  type IndexShape,
  type MemoryIndex,
  newMemoryIndex,
  putLead,
  removeLead,
} from '../../../src/leads/search/memory-index/memory-index.ts'
import { searchedValues } from '../../../src/leads/search/memory-index/searched-values.ts'
import { idText, newSegment, seal } from '../../../src/leads/search/memory-index/segment.ts'

// A search in any order, of an index of texts and one of values whose segments are never the same: held against the
// rules themselves, on the plain leads.

interface Known extends Searchable {
  id: string
  created: number
  status: string
}

const letter = fc.constantFrom(...'aáAbBc é-1'.split(''))
const word = (minLength: number, maxLength = 5) => fc.string({ unit: letter, minLength, maxLength })
const digits = fc.string({ unit: fc.constantFrom('0', '1', '5'), minLength: 5, maxLength: 8 })
const fields = fc.record({
  status: fc.constantFrom('new', 'won', 'lost'),
  firstName: word(1).map((text) => `${text}a`),
  lastName: fc.option(word(0)),
  email: fc.option(word(1)),
  phone: fc.option(digits),
  uniqueCode: digits,
  externalRef: fc.option(word(1)),
})
const change = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('put' as const), lead: fc.nat(40), fields }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove' as const), lead: fc.nat(40) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('compact' as const), what: fc.constantFrom('texts', 'values') }),
  },
)
const question = fc.record({
  search: fc.oneof(
    word(1, 3),
    digits.map((text) => text.slice(0, 3)),
    fc.constantFrom('a', 'a a', 'zzz'),
  ),
  masked: fc.boolean(),
  by: fc.constantFrom('name' as const, 'phone' as const, 'externalRef' as const, 'status' as const),
  order: fc.constantFrom('asc' as const, 'desc' as const),
  statuses: fc.option(fc.subarray(['new', 'won'], { minLength: 1 })),
  conditions: fc.constantFrom<Conditions>(
    { match: 'all', list: [] },
    { match: 'all', list: [{ column: 'name', operator: 'contains', values: ['b'] }] },
    {
      match: 'any',
      list: [
        { column: 'phone', operator: 'empty', values: [] },
        { column: 'status', operator: 'is', values: ['lost'] },
      ],
    },
  ),
  limit: fc.integer({ min: 1, max: 7 }),
  page: fc.integer({ min: 0, max: 2 }),
})

type Question = Parameters<Parameters<typeof question.map>[0]>[0]

const shapes = {
  texts: { tailSlots: 4, segmentSlots: 32 },
  values: { tailSlots: 6, segmentSlots: 16, holds: 'values' },
} satisfies Record<string, IndexShape>
const idOf = (n: number) => `01900000-0000-7000-8000-${((n * 2_654_435_761) >>> 0).toString(16).padStart(12, '0')}`
const nothing = { updated: 0, priority: null, source: null, adPlatform: null, assignee: null }
const textsOf = (lead: Known) => ({ ...nothing, ...lead, text: leadText(lead) })
const valuesOf = (lead: Known) => ({
  ...nothing,
  ...lead,
  text: valuesText({ ...lead, hasNotes: false, customTexts: [] }),
})

const readable = (lead: Known): ReadableLead => ({
  text: (column) => (column === 'name' ? nameOf(lead.firstName, lead.lastName) : (lead[column] ?? '')),
  choice: (column) => (column === 'status' ? lead.status : null),
  number: () => null,
  hasNotes: () => false,
  labels: () => [],
  field: () => '',
})

interface Searched extends ArrangedQuery {
  term: SearchTerm
}

/** All places of the list, in its order. */
function expected(leads: Iterable<Known>, { filter, conditions, term, arrangement }: Searched): Place[] {
  const [keyOf, fits] = [placeKeyOf(arrangement), testOf(conditions)]
  return [...leads]
    .filter((lead) => filter.statuses?.includes(lead.status) ?? true)
    .filter((lead) => fits(readable(lead)) && matchesTerm(lead, term))
    .map((lead) => ({ key: keyOf(readable(lead)), id: lead.id }))
    .sort(comparePlaces(arrangement.order))
}

test('a search in any order is that of the plain leads, whatever became of them, page by page', async () => {
  let found = 0
  const property = fc.asyncProperty(
    fc.array(change, { minLength: 20, maxLength: 150 }),
    fc.array(question, { minLength: 6, maxLength: 6 }),
    async (changes, questions) => {
      const [texts, values] = [newMemoryIndex(shapes.texts), newMemoryIndex(shapes.values)]
      const leads = new Map<number, Known>()
      for (const one of changes) {
        if (one.kind === 'compact') {
          if (one.what === 'texts') compact(texts, shapes.texts)
          else compact(values, shapes.values)
        } else {
          // Of three leads each has the same time, as those of an import have.
          const name = { id: idOf(one.lead), created: 1 + Math.floor(one.lead / 3) }
          leads.delete(one.lead)
          if (one.kind === 'remove') for (const index of [texts, values]) removeLead(index, name)
          else {
            const lead = { ...name, ...one.fields }
            leads.set(one.lead, lead)
            putLead(texts, shapes.texts, textsOf(lead))
            putLead(values, shapes.values, valuesOf(lead))
          }
        }
      }
      for (const asked of questions) found += await compare({ texts, values, leads: [...leads.values()] }, asked)
    },
  )
  await fc.assert(property, { numRuns: 60 })
  assert.ok(found > 150, `${found} leads were found`)
})

interface Held {
  texts: MemoryIndex
  values: MemoryIndex
  leads: readonly Known[]
}

function searchOf(leads: readonly Known[], wanted: unknown): string {
  if (typeof wanted === 'string') return wanted
  const { lead, start, length } = wanted as { lead: number; start: number; length: number }
  const one = leads[lead % Math.max(leads.length, 1)]
  const text = lead % 3 === 0 ? one?.phone : one?.firstName
  return (text ?? 'aaa').slice(start, start + length)
}

async function compare({ texts, values, leads }: Held, asked: Question) {
  const term = readSearchTerm(searchOf(leads, asked.search), asked.masked)
  if (term === null) return 0
  const query: Searched = {
    filter: { ...noFilter, statuses: asked.statuses },
    conditions: asked.conditions,
    term,
    arrangement: { by: asked.by, order: asked.order, language: 'pt', choices: ['won', 'new'] },
    after: null,
    offset: asked.page * asked.limit,
    limit: asked.limit,
    needsTotal: true,
  }
  const all = expected(leads, query)
  const pageFrom = (start: number) => all.slice(start, start + asked.limit)
  assert.deepEqual(await answerArranged(values, query, texts), { places: pageFrom(query.offset), total: all.length })
  const after = all[query.offset]
  if (after !== undefined) {
    const walk = { ...query, after, offset: 0, needsTotal: false }
    assert.deepEqual(await answerArranged(values, walk, texts), { places: pageFrom(query.offset + 1), total: null })
  }
  return all.length
}

test('what is found in large segments is marked lead by lead, also where one of them has lost some or has another order', () => {
  const leads = Array.from({ length: 3000 }, (_, n): Known => {
    const [firstName, lastName] = [n % 3 === 0 ? 'Maria' : 'José', n % 1000 === 5 ? 'Zanetti' : 'Silva']
    const plain = { email: null, phone: null, externalRef: null, uniqueCode: `c${n}` }
    return { id: idOf(n), created: 1 + Math.floor(n / 100), status: 'new', firstName, lastName, ...plain }
  })
  const inOrder = leads.toSorted((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1))
  const sealed = (of: readonly Known[], shape: IndexShape, entry: (lead: Known) => ReturnType<typeof textsOf>) => {
    const index = newMemoryIndex(shape)
    const segment = newSegment(of.length, shape.holds)
    for (const lead of of) appendLead(index, segment, entry(lead))
    index.segments.push(seal(segment))
    return index
  }
  const shape = { tailSlots: 64, segmentSlots: 65_536 }
  const texts = sealed(inOrder, shape, textsOf)
  const shown = leads.filter((_, n) => n % 50 !== 0)
  const valuesShape = { ...shape, holds: 'values' } as const
  const ways = [
    { values: sealed(inOrder, valuesShape, valuesOf), known: leads },
    {
      values: sealed(
        inOrder.filter((lead) => shown.includes(lead)),
        valuesShape,
        valuesOf,
      ),
      known: shown,
    },
    { values: sealed(leads, valuesShape, valuesOf), known: leads },
  ]
  for (const { values, known } of ways) {
    for (const [n, lead] of known.entries()) {
      if (n % 40 === 0) putLead(values, valuesShape, valuesOf(lead))
      if (n % 97 === 0) removeLead(values, lead)
    }
    const there = known.filter((_, n) => n % 97 !== 0)
    for (const search of ['maria', 'silva', 'zanetti', 'nobody']) {
      const term = readSearchTerm(search)
      assert.ok(term)
      const found = [...searchedValues(values, texts, { filter: noFilter, term })].flatMap(
        ([segment, { marks, count }]) => {
          const ids = [...marks.entries()].flatMap(([slot, mark]) => (mark === 1 ? [idText(segment, slot)] : []))
          assert.equal(ids.length, count)
          return ids
        },
      )
      const wanted = there.filter((lead) => matchesTerm(lead, term)).map(({ id }) => id)
      assert.deepEqual(found.sort(), wanted.sort(), search)
    }
  }
})
